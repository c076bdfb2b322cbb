// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryTesting
import CoreBluetooth
import TestSupport
import Testing

/// A client in the peripheral role that writes down each call of its delegate, on a queue of its own.
final class PeripheralDiary: NSObject, CBPeripheralManagerDelegate, Sendable {
  let lines = Watched<[String]>([])
  let queue = DispatchQueue(label: "peripheral diary")
  let requests = Locked<[CBATTRequest]>([])
  let centrals = Locked<[CBCentral]>([])
  private let managers = Locked<[CBPeripheralManager]>([])
  /// Called with each read or write; it answers.
  private let onRequest: @Sendable (CBPeripheralManager, CBATTRequest) -> Void

  init(
    _ onRequest: @escaping @Sendable (CBPeripheralManager, CBATTRequest) -> Void = {
      $0.respond(to: $1, withResult: .success)
    }
  ) {
    self.onRequest = onRequest
  }

  /// A manager that uses `radio`, after its state was told.
  func manager(_ radio: ScriptedRadio) async throws -> CBPeripheralManager {
    let manager = radio.use { CBPeripheralManager(delegate: self, queue: queue) }
    managers.withLock { $0.append(manager) }
    try await lines.wait { !$0.isEmpty }
    return manager
  }

  /// The same with a service, which is there.
  func serving(
    _ radio: ScriptedRadio, _ characteristics: [CBMutableCharacteristic]
  ) async throws -> (CBPeripheralManager, CBMutableService) {
    let manager = try await manager(radio)
    let service = CBMutableService(type: CBUUID(string: "FFE0"), primary: true)
    service.characteristics = characteristics
    manager.add(service)
    try await wait("added FFE0")
    return (manager, service)
  }

  func wait(_ line: String) async throws { try await lines.wait { $0.contains(line) } }

  /// Lets the managers go.
  func drop() { managers.withLock { $0 = [] } }

  /// Waits until everything that was asked before is done and told.
  func settle(_ radio: ScriptedRadio) async {
    for _ in 0..<2 {
      await radio.settle()
      await withCheckedContinuation { done in queue.async { done.resume() } }
    }
  }

  private func write(_ line: String, _ error: (any Error)? = nil) {
    var line = line
    if let error = error as NSError? { line += " \(error.domain) \(error.code)" }
    lines.update { [line] in $0.append(line) }
  }

  func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) { write("state \(peripheral.state)") }

  func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?) {
    write("advertising \(peripheral.isAdvertising)", error)
  }

  func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: (any Error)?) {
    write("added \(service.uuid.uuidString)", error)
  }

  func peripheralManager(
    _ peripheral: CBPeripheralManager, central: CBCentral, didSubscribeTo characteristic: CBCharacteristic
  ) {
    centrals.withLock { $0.append(central) }
    let count = (characteristic as? CBMutableCharacteristic)?.subscribedCentrals?.count ?? -1
    write("subscribed \(characteristic.uuid.uuidString) \(central.maximumUpdateValueLength) \(count)")
  }

  func peripheralManager(
    _ peripheral: CBPeripheralManager, central: CBCentral, didUnsubscribeFrom characteristic: CBCharacteristic
  ) {
    let count = (characteristic as? CBMutableCharacteristic)?.subscribedCentrals?.count ?? -1
    write("unsubscribed \(characteristic.uuid.uuidString) \(count)")
  }

  func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
    requests.withLock { $0.append(request) }
    write("read \(request.characteristic.uuid.uuidString) \(request.offset)")
    onRequest(peripheral, request)
  }

  func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {
    for request in requests {
      self.requests.withLock { $0.append(request) }
      write("write \(request.characteristic.uuid.uuidString) \(Hexadecimal.string(Array(request.value ?? Data())))")
      onRequest(peripheral, request)
    }
  }

  func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager) { write("ready") }

  func peripheralManager(
    _ peripheral: CBPeripheralManager, didPublishL2CAPChannel PSM: CBL2CAPPSM, error: (any Error)?
  ) {
    write("channel \(PSM)", error)
  }
}
