// SPDX-License-Identifier: Apache-2.0

import CoreBluetooth

// Events of the search and of the connections.

extension SerialCore: CBCentralManagerDelegate {
  func centralManagerDidUpdateState(_ central: CBCentralManager) {
    let bluetooth = central.state
    contents.withLock { state in
      tell { $1.serialManager($0, didChangeState: bluetooth) }
      guard bluetooth == .poweredOn else { return end(&state) }
      if let wish = state.wish { begin(wish, &state) }
      for (id, device) in state.devices where device.phase == .withoutBluetooth { goOn(0, again: true, id, &state) }
    }
  }

  /// Drops all connections, because Bluetooth can't be used. CoreBluetooth doesn't report each of them.
  private func end(_ state: inout State) {
    if state.isSearching {
      state.isSearching = false
      tell { $1.serialManagerSearchTimerExpired($0) }
    }
    for (id, device) in state.devices where device.phase != .idle {
      state.devices[id]?.forgetConnection()
      let isWanted = device.phase != .leaving && state.reconnects.count > 0
      enter(isWanted ? .withoutBluetooth : .idle, id, &state)
    }
  }

  func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
    rssi RSSI: NSNumber
  ) {
    // 127 means that the strength is unknown.
    let strength = RSSI.intValue == 127 ? nil : RSSI.intValue
    let advertisement = Advertisement(value: advertisementData)
    contents.withLock { state in
      guard state.isSearching else { return }
      let id = peripheral.identifier
      if state.devices[id] != nil {
        state.devices[id]?.strength = strength
        state.devices[id]?.advertisement = advertisement
      } else if state.devices.count < Self.limits.devices {
        state.devices[id] = SerialDevice(peripheral: peripheral, advertisement: advertisement, strength: strength)
      }
    }
  }

  func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
    let id = peripheral.identifier
    contents.withLock { state in
      guard case .trying = state.devices[id]?.phase else { return }
      state.devices[id]?.forgetConnection()
      enter(.connected, id, &state)
      tell { $1.serialManager($0, connectedToDevice: id) }
      peripheral.delegate = self
      peripheral.discoverServices(nil)
    }
  }

  func centralManager(_ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?) {
    hasEnded(peripheral.identifier, isLost: true)
  }

  func centralManager(
    _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?
  ) {
    hasEnded(peripheral.identifier, isLost: error != nil)
  }

  private func hasEnded(_ id: UUID, isLost: Bool) {
    contents.withLock { state in
      guard let phase = state.devices[id]?.phase else { return }
      state.devices[id]?.forgetConnection()
      switch phase {
      case .trying(let number, let again), .givingUp(let number, let again): goOn(number, again: again, id, &state)
      case .connected:
        if isLost { goOn(0, again: true, id, &state) } else { enter(.idle, id, &state) }
      case .leaving: enter(.idle, id, &state)
      case .idle, .pausing, .withoutBluetooth: break
      }
    }
  }
}
