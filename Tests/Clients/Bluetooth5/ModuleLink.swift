// SPDX-License-Identifier: Apache-2.0

import CoreBluetooth

// A client as it is written for iOS, in Swift 5 mode: one object for the whole app that is the delegate of everything, optionals
// that are unwrapped, devices as keys.

/// The app's link to a serial module.
package var moduleLink: ModuleLink!

package protocol ModuleLinkDelegate: AnyObject {
  func moduleLinkDidChangeState(_ state: CBManagerState)
  func moduleLinkDidDiscover(_ peripheral: CBPeripheral, RSSI: NSNumber?)
  func moduleLinkIsReady(_ peripheral: CBPeripheral)
  func moduleLinkDidReceive(_ text: String)
  func moduleLinkDidDisconnect(_ peripheral: CBPeripheral, error: NSError?)
}

package class ModuleLink: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate {
  package weak var delegate: ModuleLinkDelegate?
  var centralManager: CBCentralManager!
  package var pendingPeripheral: CBPeripheral?
  package var connectedPeripheral: CBPeripheral?
  weak var writeCharacteristic: CBCharacteristic?
  package var strengths = [CBPeripheral: NSNumber]()
  private var names: [UUID: String] = [:]
  private var writeType: CBCharacteristicWriteType = .withoutResponse
  let serviceUUID = CBUUID(string: "FFE0")
  let characteristicUUID = CBUUID(string: "FFE1")

  package var isReady: Bool {
    centralManager.state == .poweredOn && connectedPeripheral != nil && writeCharacteristic != nil
  }

  package init(delegate: ModuleLinkDelegate, queue: DispatchQueue?) {
    super.init()
    self.delegate = delegate
    centralManager = CBCentralManager(delegate: self, queue: queue)
  }

  deinit {
    if let connectedPeripheral { centralManager.cancelPeripheralConnection(connectedPeripheral) }
  }

  package func startScan() {
    guard centralManager.state == .poweredOn else { return }
    centralManager.scanForPeripherals(withServices: [serviceUUID], options: nil)
    for peripheral in centralManager.retrieveConnectedPeripherals(withServices: [serviceUUID]) {
      delegate?.moduleLinkDidDiscover(peripheral, RSSI: nil)
    }
  }

  package func connect(to peripheral: CBPeripheral) {
    centralManager.stopScan()
    pendingPeripheral = peripheral
    centralManager.connect(peripheral, options: nil)
  }

  package func disconnect() {
    if let peripheral = connectedPeripheral {
      centralManager.cancelPeripheralConnection(peripheral)
    } else if let peripheral = pendingPeripheral {
      centralManager.cancelPeripheralConnection(peripheral)
    }
  }

  package func readRSSI() { connectedPeripheral?.readRSSI() }

  package func send(_ message: String) {
    guard isReady, let data = message.data(using: .utf8) else { return }
    connectedPeripheral!.writeValue(data, for: writeCharacteristic!, type: writeType)
  }

  // MARK: CBCentralManagerDelegate

  package func centralManagerDidUpdateState(_ central: CBCentralManager) {
    pendingPeripheral = nil
    connectedPeripheral = nil
    delegate?.moduleLinkDidChangeState(central.state)
  }

  package func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
    rssi RSSI: NSNumber
  ) {
    strengths[peripheral] = RSSI
    names[peripheral.identifier] = advertisementData[CBAdvertisementDataLocalNameKey] as? String ?? peripheral.name
    delegate?.moduleLinkDidDiscover(peripheral, RSSI: RSSI)
  }

  package func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
    peripheral.delegate = self
    pendingPeripheral = nil
    connectedPeripheral = peripheral
    peripheral.discoverServices([serviceUUID])
  }

  package func centralManager(
    _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: Error?
  ) {
    connectedPeripheral = nil
    delegate?.moduleLinkDidDisconnect(peripheral, error: error as NSError?)
  }

  package func centralManager(
    _ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: Error?
  ) {
    pendingPeripheral = nil
    delegate?.moduleLinkDidDisconnect(peripheral, error: error as NSError?)
  }

  // MARK: CBPeripheralDelegate

  package func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: Error?) {
    guard peripheral.services!.first!.uuid == serviceUUID else { return }
    for service in peripheral.services! { peripheral.discoverCharacteristics([characteristicUUID], for: service) }
  }

  package func peripheral(
    _ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: Error?
  ) {
    for characteristic in service.characteristics! where characteristic.uuid.uuidString == "FFE1" {
      peripheral.setNotifyValue(true, for: characteristic)
      writeCharacteristic = characteristic
      writeType = characteristic.properties.contains(.write) ? .withResponse : .withoutResponse
    }
  }

  package func peripheral(
    _ peripheral: CBPeripheral, didUpdateNotificationStateFor characteristic: CBCharacteristic, error: Error?
  ) {
    if characteristic.isNotifying { delegate?.moduleLinkIsReady(peripheral) }
  }

  package func peripheral(
    _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: Error?
  ) {
    guard let data = characteristic.value, let text = String(data: data, encoding: .utf8) else { return }
    delegate?.moduleLinkDidReceive(text)
  }

  package func peripheral(_ peripheral: CBPeripheral, didReadRSSI RSSI: NSNumber, error: Error?) {
    strengths[peripheral] = RSSI
  }
}
