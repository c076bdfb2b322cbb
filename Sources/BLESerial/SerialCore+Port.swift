// SPDX-License-Identifier: Apache-2.0

import CoreBluetooth

// The services of a connected device, and its serial port.

extension SerialCore: CBPeripheralDelegate {
  func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
    let services = peripheral.services ?? []
    found(Set(services), peripheral) {
      for service in services { peripheral.discoverCharacteristics(nil, for: service) }
    }
  }

  func peripheral(
    _ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?
  ) {
    let characteristics = service.characteristics ?? []
    found(Set(characteristics), instead: service, peripheral) {
      for characteristic in characteristics { peripheral.discoverDescriptors(for: characteristic) }
    }
  }

  func peripheral(
    _ peripheral: CBPeripheral, didDiscoverDescriptorsFor characteristic: CBCharacteristic, error: (any Error)?
  ) {
    found([], instead: characteristic, peripheral) {}
  }

  /// Discovers the contents of `these`, and marks `known` as done. When everything is known, turns notifications on; then the device
  /// is ready.
  private func found(
    _ attributes: Set<CBAttribute>, instead known: CBAttribute? = nil, _ peripheral: CBPeripheral, look: () -> Void
  ) {
    let id = peripheral.identifier
    contents.withLock { state in
      guard var device = state.devices[id], device.phase == .connected, !device.isReady else { return }
      device.unknown.formUnion(attributes)
      if let known { device.unknown.remove(known) }
      let isLast = device.unknown.isEmpty
      if isLast {
        device.port = (peripheral.services ?? []).lazy.flatMap { $0.characteristics ?? [] }.first {
          $0.uuid == self.port
        }
      }
      state.devices[id] = device
      look()
      guard isLast else { return }
      if let port = device.port, !port.properties.isDisjoint(with: [.notify, .indicate]) {
        peripheral.setNotifyValue(true, for: port)
      } else {
        isReady(id, &state)
      }
    }
  }

  func peripheral(
    _ peripheral: CBPeripheral, didUpdateNotificationStateFor characteristic: CBCharacteristic, error: (any Error)?
  ) {
    contents.withLock { state in
      guard state.devices[peripheral.identifier]?.port === characteristic else { return }
      isReady(peripheral.identifier, &state)
    }
  }

  private func isReady(_ id: UUID, _ state: inout State) {
    guard state.devices[id]?.isReady == false else { return }
    state.devices[id]?.isReady = true
    tell { $1.serialManager($0, deviceIsReady: id) }
  }

  func peripheral(
    _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?
  ) {
    let id = peripheral.identifier
    guard error == nil, characteristic.uuid == port, let data = characteristic.value else { return }
    tell { $1.serialManager($0, didReceive: data, from: id) }
  }

  // MARK: - Sending

  func send(_ bytes: [UInt8], _ id: UUID) -> Bool {
    contents.withLock { state in
      guard var device = state.devices[id], device.isReady, let port = device.port,
        !port.properties.isDisjoint(with: [.write, .writeWithoutResponse]),
        bytes.count <= Self.limits.bytes - device.waitingBytes
      else { return false }
      let size = device.peripheral.maximumWriteValueLength(for: Self.way(port))
      for start in stride(from: 0, to: bytes.count, by: size) {
        device.waiting.append(Array(bytes[start..<min(bytes.count, start + size)]))
      }
      device.waitingBytes += bytes.count
      state.devices[id] = device
      pump(id, &state)
      return true
    }
  }

  func peripheralIsReady(toSendWriteWithoutResponse peripheral: CBPeripheral) {
    contents.withLock { pump(peripheral.identifier, &$0) }
  }

  func peripheral(_ peripheral: CBPeripheral, didWriteValueFor characteristic: CBCharacteristic, error: (any Error)?) {
    contents.withLock { state in
      state.devices[peripheral.identifier]?.isWriting = false
      pump(peripheral.identifier, &state)
    }
  }

  /// The maker's own modules accept writes without a response, some copies only writes with one.
  private static func way(_ port: CBCharacteristic) -> CBCharacteristicWriteType {
    port.properties.contains(.writeWithoutResponse) ? .withoutResponse : .withResponse
  }

  private func pump(_ id: UUID, _ state: inout State) {
    guard var device = state.devices[id], let port = device.port else { return }
    let way = Self.way(port)
    var sent = 0
    for packet in device.waiting {
      guard way == .withResponse ? !device.isWriting : device.peripheral.canSendWriteWithoutResponse else { break }
      device.isWriting = way == .withResponse
      device.peripheral.writeValue(Data(packet), for: port, type: way)
      device.waitingBytes -= packet.count
      sent += 1
    }
    device.waiting.removeFirst(sent)
    state.devices[id] = device
  }
}
