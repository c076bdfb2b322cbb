// SPDX-License-Identifier: Apache-2.0

import CoreBluetooth

/// What a delegate is told.
enum Call: Sendable, Equatable {
  case state(CBManagerState)
  case found(String?)
  case connected
  case failed
  /// With the number of the error.
  case disconnected(Int?)
  case services(Int?)
  case characteristics(Int?)
  case notifying(Bool, Int?)
  case value(Data, Int?)
  case strength(Int, Int?)
  case ready
}

/// A client as it is written for iOS, whose delegate calls can be awaited one after another.
final class Central: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate, @unchecked Sendable {
  // `@unchecked`: the peripheral is set before it is used elsewhere, on the queue.
  private(set) var manager: CBCentralManager!
  private(set) var module: CBPeripheral?
  let calls: AsyncStream<Call>
  private let continuation: AsyncStream<Call>.Continuation
  private let wanted: String

  init(looksFor name: String) {
    (calls, continuation) = AsyncStream.makeStream()
    wanted = name
    super.init()
    manager = CBCentralManager(delegate: self, queue: DispatchQueue(label: "central"))
  }

  /// The serial port, which both writes and sends.
  var port: CBCharacteristic? {
    module?.services?.first { $0.uuid == CBUUID(string: "FFE0") }?.characteristics?.first {
      $0.uuid.uuidString == "FFE1"
    }
  }

  func letGo() { (manager, module) = (nil, nil) }

  func centralManagerDidUpdateState(_ central: CBCentralManager) { continuation.yield(.state(central.state)) }

  func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
    rssi RSSI: NSNumber
  ) {
    guard peripheral.name == wanted else { return }
    if module == nil { (module, peripheral.delegate) = (peripheral, self) }
    continuation.yield(.found(peripheral.name))
  }

  func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
    continuation.yield(.connected)
  }

  func centralManager(_ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: Error?) {
    continuation.yield(.failed)
  }

  func centralManager(_ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: Error?) {
    continuation.yield(.disconnected(number(error)))
  }

  func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: Error?) {
    continuation.yield(.services(number(error)))
  }

  func peripheral(_ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: Error?) {
    continuation.yield(.characteristics(number(error)))
  }

  func peripheral(
    _ peripheral: CBPeripheral, didUpdateNotificationStateFor characteristic: CBCharacteristic, error: Error?
  ) {
    continuation.yield(.notifying(characteristic.isNotifying, number(error)))
  }

  func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: Error?) {
    continuation.yield(.value(characteristic.value ?? Data(), number(error)))
  }

  func peripheral(_ peripheral: CBPeripheral, didReadRSSI RSSI: NSNumber, error: Error?) {
    continuation.yield(.strength(RSSI.intValue, number(error)))
  }

  func peripheralIsReady(toSendWriteWithoutResponse peripheral: CBPeripheral) { continuation.yield(.ready) }

  private func number(_ error: Error?) -> Int? { (error as NSError?)?.code }
}
