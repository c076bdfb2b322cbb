// SPDX-License-Identifier: Apache-2.0

import CoreBluetooth

/// A client as it is written for iOS, in Swift 6 mode: a model of the main actor, and callers that wait.
@MainActor package final class MeterModel: NSObject {
  private var central: CBCentralManager?
  private var peripherals: [UUID: CBPeripheral] = [:]
  private var waiting: CheckedContinuation<Int, any Error>?
  private static let battery = CBUUID(string: "180F")
  private static let level = CBUUID(string: CBUUID(string: "2A19").uuidString)

  package override init() { super.init() }

  /// The battery of the first meter that is found, in percent.
  package func percent() async throws -> Int {
    try await withCheckedThrowingContinuation { continuation in
      waiting = continuation
      central = CBCentralManager(delegate: self, queue: .main)
    }
  }

  private func finish(_ result: Result<Int, any Error>) {
    waiting?.resume(with: result)
    waiting = nil
  }
}

extension MeterModel: @preconcurrency CBCentralManagerDelegate {
  package func centralManagerDidUpdateState(_ central: CBCentralManager) {
    switch central.state {
    case .poweredOn: central.scanForPeripherals(withServices: [Self.battery])
    case .unknown, .resetting: break
    case .unsupported, .unauthorized, .poweredOff: finish(.failure(CBError(.operationNotSupported)))
    @unknown default: break
    }
  }

  package func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
    rssi RSSI: NSNumber
  ) {
    peripherals[peripheral.identifier] = peripheral
    peripheral.delegate = self
    central.connect(peripheral)
  }

  package func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
    central.stopScan()
    peripheral.discoverServices([Self.battery])
  }

  package func centralManager(
    _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?
  ) {
    finish(.failure(error ?? CBError(.operationCancelled)))
    if error != nil { central.connect(peripheral) }
  }
}

extension MeterModel: @preconcurrency CBPeripheralDelegate {
  package func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
    peripheral.services?.forEach { peripheral.discoverCharacteristics([Self.level], for: $0) }
  }

  package func peripheral(
    _ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?
  ) {
    service.characteristics?.forEach(peripheral.readValue)
  }

  package func peripheral(
    _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?
  ) {
    if let error { return finish(.failure(error)) }
    finish(.success(Int(characteristic.value?.first ?? 0)))
  }
}
