// SPDX-License-Identifier: Apache-2.0

// What the page shows, to the letter.

import BLESerial

@MainActor final class Terminal: @MainActor BLESerialDelegate {
  private var manager: BLESerialManager?

  func start() {
    // Begins to search as soon as Bluetooth is on.
    manager = BLESerialManager(delegate: self, services: [CBUUID(string: "FFE0")], searchingFor: .seconds(5))
  }

  func serialManagerSearchTimerExpired(_ manager: BLESerialManager) {
    if let nearest = manager.devicesByStrength.first { manager.connect(to: nearest) }
  }

  func serialManager(_ manager: BLESerialManager, deviceIsReady device: UUID) {
    manager.send(Data("hello".utf8), to: device)
  }

  func serialManager(_ manager: BLESerialManager, didReceive data: Data, from device: UUID) {
    print(String(decoding: data, as: UTF8.self))
  }
}
