// SPDX-License-Identifier: Apache-2.0

// What the pages show, to the letter.

import AccessoryTesting
import CoreBluetooth

final class Finder: NSObject, CBCentralManagerDelegate {
  func centralManagerDidUpdateState(_ central: CBCentralManager) {
    if central.state == .poweredOn { central.scanForPeripherals(withServices: [CBUUID(string: "FFE0")]) }
  }

  func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
    rssi RSSI: NSNumber
  ) {
    print(peripheral.name ?? "?", RSSI)
  }
}

func aManagerOfATest(_ delegate: any CBCentralManagerDelegate) -> CBCentralManager {
  let radio = ScriptedRadio(.on, [.serialPort("HMSoft") { bytes in bytes.reversed() }])
  return radio.use { CBCentralManager(delegate: delegate, queue: DispatchQueue(label: "test")) }
}

@MainActor final class Meters: NSObject, @preconcurrency CBCentralManagerDelegate {
  private var central: CBCentralManager?
  private var found: [UUID: CBPeripheral] = [:]

  func start() { central = CBCentralManager(delegate: self, queue: nil) }

  func centralManagerDidUpdateState(_ central: CBCentralManager) {
    if central.state == .poweredOn { central.scanForPeripherals(withServices: nil) }
  }

  func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
    rssi RSSI: NSNumber
  ) {
    found[peripheral.identifier] = peripheral
  }
}
