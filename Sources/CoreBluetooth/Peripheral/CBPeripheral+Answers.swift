// SPDX-License-Identifier: Apache-2.0

import AccessoryBluetooth
import AccessoryCore
import Foundation

// Results, on the client's queue. The state changes first; then the delegate is called, without the lock.

/// The result of a connection, or of an attempt to connect.
enum LinkEnd: Equatable {
  /// The attempt has failed.
  case failed
  /// The connection is over; without an error if the client has ended it.
  case disconnected(RadioFailure?)
  /// The connection is over, and is being restored.
  case reconnects(RadioFailure?)
}

/// A delegate, for the time of a call.
///
/// `@unchecked Sendable`: passed from the lock to the thread that held it, or back.
struct PeripheralClient: @unchecked Sendable {
  let delegate: (any CBPeripheralDelegate)?
}

extension CBPeripheral {
  func tell(_ body: (any CBPeripheralDelegate, CBPeripheral) -> Void) {
    let client = contents.withLock { PeripheralClient(delegate: $0.delegate) }
    if let delegate = client.delegate { body(delegate, self) }
  }

  /// Forgets the data of a connection.
  static func forget(_ state: inout State) {
    (state.table, state.services, state.attributes, state.searches) = ([], nil, [:], [])
    (state.waiting, state.wantsReady) = ((0, 0), false)
    state.packetSize = GATTPacket.smallest
  }

  /// Bluetooth can't be used any more: nothing is connected.
  func reset() {
    let notifying = contents.withLock { state in
      defer { Self.forget(&state) }
      (state.state, state.reconnects) = (.disconnected, false)
      return state.attributes
    }
    Self.stopNotifying(notifying)
  }

  private static func stopNotifying(_ attributes: [Int: CBAttribute]) {
    for case let characteristic as CBCharacteristic in attributes.values { characteristic.set(isNotifying: false) }
  }

  /// Sets the name. Returns whether it was another one.
  func rename(_ name: String?) -> Bool {
    contents.withLock { state in
      defer { state.name = name }
      return state.name != name
    }
  }

  func isNamed(_ name: String?) {
    if rename(name) { tell { $0.peripheralDidUpdateName($1) } }
  }

  // MARK: - Connections

  /// Returns whether this connection is still wanted.
  func isConnected(_ link: RadioLink, _ size: Int) -> Bool {
    contents.withLock { state in
      guard state.link == link, state.state == .connecting else { return false }
      (state.state, state.packetSize) = (.connected, size)
      return true
    }
  }

  /// Returns what to report; nil for an attempt that is over already.
  func hasEnded(_ link: RadioLink, _ failure: RadioFailure?) -> LinkEnd? {
    let (end, attributes) = contents.withLock { state -> (LinkEnd?, [Int: CBAttribute]) in
      guard state.link == link else {
        // An earlier connection: the client has begun to connect again since it has cancelled that one.
        return (link.number < state.link.number ? .disconnected(failure) : nil, [:])
      }
      let attributes = state.attributes
      defer { if state.state != .connecting { Self.forget(&state) } }
      switch state.state {
      case .disconnected: return (nil, [:])
      case .disconnecting:
        state.state = .disconnected
        return (.disconnected(nil), attributes)
      case .connecting:
        state.state = .disconnected
        return (failure == nil ? .disconnected(nil) : .failed, attributes)
      case .connected:
        state.state = .disconnected
        guard failure != nil, state.reconnects else { return (.disconnected(failure), attributes) }
        begin(&state)
        return (.reconnects(failure), attributes)
      }
    }
    Self.stopNotifying(attributes)
    return end
  }

  func setPacketSize(_ link: RadioLink, _ size: Int) {
    contents.withLock { if $0.link == link { $0.packetSize = size } }
  }

  // MARK: - Services

  func discovered(_ link: RadioLink, _ result: Result<[RadioService], RadioFailure>) {
    guard answered(link) else { return }
    let failure = contents.withLock { state -> RadioFailure? in
      guard !state.searches.isEmpty else { return nil }
      let wanted = state.searches.removeFirst()
      switch result {
      case .success(let table):
        state.table = table
        let found = table.filter { $0.isPrimary && Self.isWanted($0.uuid, wanted) }
        state.services = found.map { service($0, &state) }
        return nil
      case .failure(let failure): return failure
      }
    }
    tell { $0.peripheral($1, didDiscoverServices: failure?.error) }
  }

  func changed(_ link: RadioLink, _ table: [RadioService]) {
    let gone = contents.withLock { state -> [CBService]? in
      guard state.link == link, state.state == .connected else { return nil }
      let same = Set(table.filter(state.table.contains).map(\.handle))
      let gone = (state.services ?? []).filter { service in service.place.map { !same.contains($0.handle) } ?? true }
      state.services = state.services?.filter { service in !gone.contains { $0 === service } }
      // The attributes of unchanged services stay.
      let kept = Set(
        table.filter { same.contains($0.handle) }.flatMap { service in
          [service.handle] + service.characteristics.flatMap { [$0.handle] + $0.descriptors.map(\.handle) }
        })
      state.attributes = state.attributes.filter { kept.contains($0.key) }
      state.table = table
      return gone
    }
    if let gone { tell { $0.peripheral($1, didModifyServices: gone) } }
  }

  // MARK: - Values

  /// A request was answered. Returns whether it is one of the current connection.
  @discardableResult
  func answered(_ link: RadioLink) -> Bool {
    contents.withLock { state in
      guard state.link == link, state.state == .connected || state.state == .disconnecting else { return false }
      state.waiting.requests = max(0, state.waiting.requests - 1)
      return true
    }
  }

  private func attribute(_ link: RadioLink, _ handle: Int) -> CBAttribute? {
    contents.withLock { state in
      state.link == link && state.state != .disconnected ? state.attributes[handle] : nil
    }
  }

  func received(_ link: RadioLink, _ handle: Int, _ result: Result<[UInt8], RadioFailure>) {
    let failure: RadioFailure? = if case .failure(let failure) = result { failure } else { nil }
    switch attribute(link, handle) {
    case let characteristic as CBCharacteristic:
      if case .success(let bytes) = result { characteristic.set(Data(bytes)) }
      tell { $0.peripheral($1, didUpdateValueFor: characteristic, error: failure?.error) }
    case let descriptor as CBDescriptor:
      if case .success(let bytes) = result { descriptor.set(DescriptorValue(bytes, of: descriptor.uuid)) }
      tell { $0.peripheral($1, didUpdateValueFor: descriptor, error: failure?.error) }
    default: break
    }
  }

  func wrote(_ link: RadioLink, _ handle: Int, _ failure: RadioFailure?) {
    guard answered(link) else { return }
    switch attribute(link, handle) {
    case let characteristic as CBCharacteristic:
      tell { $0.peripheral($1, didWriteValueFor: characteristic, error: failure?.error) }
    case let descriptor as CBDescriptor:
      tell { $0.peripheral($1, didWriteValueFor: descriptor, error: failure?.error) }
    default: break
    }
  }

  func sent(_ link: RadioLink) {
    let isReady = contents.withLock { state in
      guard state.link == link, state.waiting.commands > 0 else { return false }
      state.waiting.commands -= 1
      guard state.state == .connected, state.wantsReady, state.waiting.commands <= Self.commands.ready else {
        return false
      }
      state.wantsReady = false
      return true
    }
    if isReady { tell { $0.peripheralIsReady(toSendWriteWithoutResponse: $1) } }
  }

  func notifies(_ link: RadioLink, _ handle: Int, _ result: Result<Bool, RadioFailure>) {
    guard answered(link), let characteristic = attribute(link, handle) as? CBCharacteristic else { return }
    var failure: RadioFailure?
    switch result {
    case .success(let isNotifying): characteristic.set(isNotifying: isNotifying)
    case .failure(let error): failure = error
    }
    tell { $0.peripheral($1, didUpdateNotificationStateFor: characteristic, error: failure?.error) }
  }

  func measured(_ link: RadioLink, _ result: Result<Int, RadioFailure>) {
    guard answered(link) else { return }
    let (strength, failure): (Int?, RadioFailure?) =
      switch result {
      case .success(let strength): (strength, nil)
      case .failure(let failure): (nil, failure)
      }
    if let strength { contents.withLock { $0.rssi = strength } }
    tell { $0.peripheral($1, didReadRSSI: NSNumber(value: strength ?? Self.unknownStrength), error: failure?.error) }
  }
}
