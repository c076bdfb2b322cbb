// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryTesting
import CoreBluetooth
import TestSupport
import Testing

/// A client that writes down each call of a delegate, on a queue of its own.
final class Diary: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate, Sendable {
  let lines = Watched<[String]>([])
  let queue = DispatchQueue(label: "diary")
  /// Devices in the order in which they were found, as a client must keep them.
  let found = Locked<[CBPeripheral]>([])
  /// The managers, which end everything when they are let go.
  let managers = Locked<[CBCentralManager]>([])
  /// Called with each line on the queue.
  private let onLine: @Sendable (Diary, String) -> Void

  init(_ onLine: @escaping @Sendable (Diary, String) -> Void = { _, _ in }) { self.onLine = onLine }

  /// A manager that uses `radio`, after its state was told.
  func manager(_ radio: ScriptedRadio, queue: DispatchQueue? = nil) async throws -> CBCentralManager {
    let manager = radio.use { CBCentralManager(delegate: self, queue: queue ?? self.queue) }
    managers.withLock { $0.append(manager) }
    try await lines.wait { !$0.isEmpty }
    return manager
  }

  /// A manager that has found and connected the first device.
  func connected(_ radio: ScriptedRadio) async throws -> (CBCentralManager, CBPeripheral) {
    let manager = try await manager(radio)
    manager.scanForPeripherals(withServices: nil)
    try await lines.wait { $0.contains { $0.hasPrefix("found") } }
    manager.stopScan()
    let peripheral = found.withLock { $0[0] }
    peripheral.delegate = self
    manager.connect(peripheral)
    try await wait("connected")
    return (manager, peripheral)
  }

  /// The same, with all services, characteristics and descriptors.
  func discovered(_ radio: ScriptedRadio) async throws -> (CBCentralManager, CBPeripheral) {
    let (manager, peripheral) = try await connected(radio)
    peripheral.discoverServices(nil)
    try await wait("services")
    for service in peripheral.services ?? [] { peripheral.discoverCharacteristics(nil, for: service) }
    let count = peripheral.services?.count ?? 0
    try await lines.wait { $0.count { $0.hasPrefix("characteristics") } == count }
    return (manager, peripheral)
  }

  /// The same, with its battery level (2A19), whose changes are told.
  func subscribed(_ radio: ScriptedRadio) async throws -> (CBCentralManager, CBPeripheral, CBCharacteristic) {
    let (manager, peripheral) = try await discovered(radio)
    let level = try #require(peripheral.characteristic("2A19"))
    peripheral.setNotifyValue(true, for: level)
    try await wait("notifies 2A19 true")
    return (manager, peripheral, level)
  }

  /// Waits until this line is there.
  func wait(_ line: String) async throws { try await lines.wait { $0.contains(line) } }

  /// Waits until everything that was asked before is done and told.
  func settle(_ radio: ScriptedRadio) async {
    await radio.settle()
    await withCheckedContinuation { done in queue.async { done.resume() } }
    await radio.settle()
    await withCheckedContinuation { done in queue.async { done.resume() } }
  }

  private func write(_ line: String, _ error: (any Error)? = nil) {
    var line = line
    if let error = error as NSError? { line += " \(error.domain) \(error.code)" }
    lines.update { [line] in $0.append(line) }
    onLine(self, line)
  }

  private func hex(_ data: Data?) -> String { data.map { Hexadecimal.string(Array($0)) } ?? "nil" }

  func centralManagerDidUpdateState(_ central: CBCentralManager) { write("state \(central.state)") }

  func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
    rssi RSSI: NSNumber
  ) {
    found.withLock { found in if !found.contains(where: { $0 === peripheral }) { found.append(peripheral) } }
    write("found \(peripheral.name ?? "nil") \(RSSI)")
  }

  func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) { write("connected") }

  func centralManager(_ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?) {
    write("failed", error)
  }

  func centralManager(
    _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?
  ) {
    write("disconnected \(peripheral.state) \(peripheral.services?.count.description ?? "nil")", error)
  }

  func peripheralDidUpdateName(_ peripheral: CBPeripheral) { write("name \(peripheral.name ?? "nil")") }

  func peripheral(_ peripheral: CBPeripheral, didModifyServices invalidatedServices: [CBService]) {
    write("modified \(invalidatedServices.map(\.uuid.uuidString))")
  }

  func peripheral(_ peripheral: CBPeripheral, didReadRSSI RSSI: NSNumber, error: (any Error)?) {
    write("strength \(RSSI)", error)
  }

  func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) { write("services", error) }

  func peripheral(_ peripheral: CBPeripheral, didDiscoverIncludedServicesFor service: CBService, error: (any Error)?) {
    write("included \(service.uuid.uuidString)", error)
  }

  func peripheral(_ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?) {
    write("characteristics \(service.uuid.uuidString)", error)
  }

  func peripheral(
    _ peripheral: CBPeripheral, didDiscoverDescriptorsFor characteristic: CBCharacteristic, error: (any Error)?
  ) {
    write("descriptors \(characteristic.uuid.uuidString)", error)
  }

  func peripheral(
    _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?
  ) {
    write("value \(characteristic.uuid.uuidString) \(hex(characteristic.value))", error)
  }

  func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor descriptor: CBDescriptor, error: (any Error)?) {
    write("value \(descriptor.uuid.uuidString) \(descriptor.value ?? "nil")", error)
  }

  func peripheral(_ peripheral: CBPeripheral, didWriteValueFor characteristic: CBCharacteristic, error: (any Error)?) {
    write("wrote \(characteristic.uuid.uuidString)", error)
  }

  func peripheral(_ peripheral: CBPeripheral, didWriteValueFor descriptor: CBDescriptor, error: (any Error)?) {
    write("wrote \(descriptor.uuid.uuidString)", error)
  }

  func peripheral(
    _ peripheral: CBPeripheral, didUpdateNotificationStateFor characteristic: CBCharacteristic, error: (any Error)?
  ) {
    write("notifies \(characteristic.uuid.uuidString) \(characteristic.isNotifying)", error)
  }

  func peripheralIsReady(toSendWriteWithoutResponse peripheral: CBPeripheral) { write("ready") }

  func peripheral(_ peripheral: CBPeripheral, didOpen channel: CBL2CAPChannel?, error: (any Error)?) {
    write("channel", error)
  }
}

extension CBPeripheral {
  /// A characteristic that was discovered.
  func characteristic(_ uuid: String) -> CBCharacteristic? {
    (services ?? []).flatMap { $0.characteristics ?? [] }.first { $0.uuid == CBUUID(string: uuid) }
  }
}
