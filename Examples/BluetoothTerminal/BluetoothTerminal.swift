// SPDX-License-Identifier: Apache-2.0

import CoreBluetooth

/// A terminal for HM-10 modules, as it is written for iOS: lines that are typed are sent, what comes is printed.
final class Terminal: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate {
  private let uuids = (service: CBUUID(string: "FFE0"), port: CBUUID(string: "FFE1"))
  private var module: CBPeripheral?

  func centralManagerDidUpdateState(_ central: CBCentralManager) {
    guard central.state == .poweredOn else { return print("Bluetooth: \(central.state)") }
    central.scanForPeripherals(withServices: [uuids.service])
  }
  func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any], rssi: NSNumber
  ) {
    central.stopScan()
    (module, peripheral.delegate) = (peripheral, self)
    central.connect(peripheral)
  }
  func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
    print("connected to \(peripheral.name ?? "a module")")
    peripheral.discoverServices([uuids.service])
  }
  func centralManager(_ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: Error?) {
    central.connect(peripheral)  // waits until it is back
  }
  func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: Error?) {
    peripheral.services?.forEach { peripheral.discoverCharacteristics([uuids.port], for: $0) }
  }
  func peripheral(_ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: Error?) {
    service.characteristics?.forEach { peripheral.setNotifyValue(true, for: $0) }
  }
  func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: Error?) {
    print(String(decoding: characteristic.value ?? Data(), as: UTF8.self), terminator: "")
  }
  func send(_ line: String) {
    guard let port = module?.services?.first?.characteristics?.first else { return print("not connected") }
    module?.writeValue(Data((line + "\r\n").utf8), for: port, type: .withoutResponse)
  }
}

@main enum Program {
  @MainActor static func main() {
    let terminal = Terminal()
    let manager = CBCentralManager(delegate: terminal, queue: nil)
    let input = DispatchSource.makeReadSource(fileDescriptor: FileHandle.standardInput.fileDescriptor, queue: .main)
    input.setEventHandler {
      guard let line = readLine() else { exit(0) }
      terminal.send(line)
    }
    input.resume()
    withExtendedLifetime((manager, input)) { dispatchMain() }
  }
}
