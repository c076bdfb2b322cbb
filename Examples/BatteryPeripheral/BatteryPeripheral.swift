// SPDX-License-Identifier: Apache-2.0

import CoreBluetooth

/// A battery that phones read, as it is written for iOS: the level falls by one percent each ten seconds.
final class Battery: NSObject, CBPeripheralManagerDelegate {
  private let level = CBMutableCharacteristic(
    type: CBUUID(string: "2A19"), properties: [.read, .notify], value: nil, permissions: .readable)
  private var percent: UInt8 = 100

  func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
    guard peripheral.state == .poweredOn else { return print("Bluetooth: \(peripheral.state)") }
    let service = CBMutableService(type: CBUUID(string: "180F"), primary: true)
    service.characteristics = [level]
    peripheral.add(service)
    peripheral.startAdvertising([
      CBAdvertisementDataLocalNameKey: "Battery", CBAdvertisementDataServiceUUIDsKey: [service.uuid],
    ])
  }
  func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: Error?) {
    print(error?.localizedDescription ?? "phones can find it now")
  }
  func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
    request.value = Data([percent])
    peripheral.respond(to: request, withResult: .success)
  }
  func drain(_ peripheral: CBPeripheralManager) {
    percent = percent > 0 ? percent - 1 : 100
    _ = peripheral.updateValue(Data([percent]), for: level, onSubscribedCentrals: nil)
  }
}

@main enum Program {
  @MainActor static func main() {
    let battery = Battery()
    let manager = CBPeripheralManager(delegate: battery, queue: nil)
    let timer = DispatchSource.makeTimerSource(queue: .main)
    timer.setEventHandler { battery.drain(manager) }
    timer.schedule(deadline: .now() + 10, repeating: 10)
    timer.resume()
    withExtendedLifetime(timer) { dispatchMain() }
  }
}
