// SPDX-License-Identifier: Apache-2.0

import AccessoryBluetooth
import AccessoryCore
import Foundation

// Requests of a client to a device, on any thread. Commands are sent while the lock is held, so that their order is
// that of the state's changes.

extension CBPeripheral {
  func connect(_ options: [String: Any]?) {
    let reconnects = options.isTrue(CBConnectPeripheralOptionEnableAutoReconnect)
    let wasConnected = contents.withLock { state in
      state.reconnects = reconnects
      switch state.state {
      case .connecting: return false
      case .connected: return true
      case .disconnected, .disconnecting: begin(&state)
      }
      return false
    }
    if wasConnected { core.tellConnected(self) }
  }

  /// Begins an attempt.
  func begin(_ state: inout State) {
    Self.forget(&state)
    (state.state, state.link) = (.connecting, core.nextLink(to: peer))
    core.send(.connect(state.link))
  }

  func cancelConnection() {
    contents.withLock { state in
      state.reconnects = false
      guard state.state == .connecting || state.state == .connected else { return }
      state.state = .disconnecting
      core.send(.disconnect(state.link))
    }
  }

  /// Tells the delegate that a request has failed.
  typealias Refusal = @Sendable (any CBPeripheralDelegate, CBPeripheral, any Error) -> Void

  /// Sends a request with a reply of the device; where too many wait for theirs, its reply is the error `outOfSpace`.
  func ask(_ call: String, _ command: (inout State) -> RadioCommand, refused: @escaping Refusal) {
    let (isConnected, hasRoom) = contents.withLock { state in
      let (isConnected, hasRoom) = (state.state == .connected, state.waiting.requests < Self.requestLimit)
      if isConnected, hasRoom {
        state.waiting.requests += 1
        core.send(command(&state))
      }
      return (isConnected, hasRoom)
    }
    guard isConnected else { return Misuse.log("\(call) of a device that isn't connected") }
    if !hasRoom { tellLater { refused($0, $1, CBError(.outOfSpace)) } }
  }

  /// Sends a request about an attribute.
  func ask(
    _ call: String, of attribute: CBAttribute, _ command: (RadioLink, Int) -> RadioCommand, refused: @escaping Refusal
  ) {
    guard let place = place(of: attribute, call) else { return }
    ask(call, { _ in command(place.link, place.handle) }, refused: refused)
  }

  /// The place of an attribute of the current connection.
  private func place(of attribute: CBAttribute, _ call: String) -> AttributePlace? {
    let (link, isConnected) = contents.withLock { ($0.link, $0.state == .connected) }
    guard isConnected else {
      Misuse.log("\(call) of a device that isn't connected")
      return nil
    }
    guard let place = attribute.place, place.link == link else {
      Misuse.log("\(call): the attribute is another device's, or of an earlier connection: discover again")
      return nil
    }
    return place
  }

  func sendCommand(_ bytes: [UInt8], _ characteristic: CBCharacteristic) {
    let call = "writeValue(_:for:type:)"
    guard let place = place(of: characteristic, call) else { return }
    let misuse = contents.withLock { state -> String? in
      guard state.state == .connected, state.link == place.link else { return nil }
      let most = GATTPacket.room(in: state.packetSize)
      guard bytes.count <= most else {
        return "\(call) without a response: \(Amount.of(bytes.count, "byte", is: ("is", "are"))) dropped, "
          + "because a packet has \(most) at most"
      }
      state.waiting.commands += 1
      if state.waiting.commands >= Self.commands.full { state.wantsReady = true }
      guard state.waiting.commands <= Self.commands.most else {
        state.waiting.commands -= 1
        return "\(call) without a response: writes are dropped, because \(Self.commands.most) others are on the way: "
          + "wait while canSendWriteWithoutResponse is false"
      }
      core.send(.writeCommand(state.link, handle: place.handle, bytes))
      return nil
    }
    if let misuse { Misuse.log(misuse) }
  }

  /// Reports an error to the delegate without asking the device.
  func refuse(
    _ call: String, _ attribute: CBAttribute,
    _ tell: @escaping @Sendable (any CBPeripheralDelegate, CBPeripheral) -> Void
  ) {
    if place(of: attribute, call) != nil { tellLater(tell) }
  }

  /// Calls the delegate on the client's queue, behind what it is told already.
  func tellLater(_ tell: @escaping @Sendable (any CBPeripheralDelegate, CBPeripheral) -> Void) {
    core.deliver { [weak self] in self?.tell(tell) }
  }

  /// Reads the table of a device, on the client's queue.
  func look(
    _ call: String, in attribute: CBAttribute, _ find: @escaping @Sendable (inout State, AttributePlace) -> Void,
    tell: @escaping @Sendable (RadioFailure?) -> Void
  ) {
    guard let place = place(of: attribute, call) else { return }
    core.deliver { [weak self] in
      guard let self else { return }
      let (isConnected, isThere) = contents.withLock { state -> (Bool, Bool) in
        guard state.state == .connected, state.link == place.link else { return (false, false) }
        // Another attribute may have come to this place.
        guard state.attributes[place.handle] === attribute else { return (true, false) }
        find(&state, place)
        return (true, true)
      }
      if isConnected { tell(isThere ? nil : .noAttribute) }
    }
  }

  static func isWanted(_ uuid: BluetoothUUID, _ wanted: [CBUUID]?) -> Bool {
    guard let wanted, !wanted.isEmpty else { return true }
    return wanted.contains { $0.bluetooth == uuid }
  }

  // MARK: - Objects, each made once in a connection

  func service(_ found: RadioService, _ state: inout State) -> CBService {
    if let known = state.attributes[found.handle] as? CBService, known.uuid.bluetooth == found.uuid { return known }
    let service = CBService(
      CBUUID(found.uuid), AttributePlace(link: state.link, handle: found.handle), isPrimary: found.isPrimary, of: self)
    state.attributes[found.handle] = service
    return service
  }

  func characteristic(
    _ found: RadioCharacteristic, of service: CBService, _ state: inout State
  ) -> CBCharacteristic {
    if let known = state.attributes[found.handle] as? CBCharacteristic, known.uuid.bluetooth == found.uuid {
      return known
    }
    let characteristic = CBCharacteristic(
      CBUUID(found.uuid), AttributePlace(link: state.link, handle: found.handle),
      CBCharacteristicProperties(rawValue: UInt(found.properties)), of: service)
    state.attributes[found.handle] = characteristic
    return characteristic
  }

  func descriptor(
    _ found: RadioDescriptor, of characteristic: CBCharacteristic, _ state: inout State
  ) -> CBDescriptor {
    if let known = state.attributes[found.handle] as? CBDescriptor, known.uuid.bluetooth == found.uuid { return known }
    let descriptor = CBDescriptor(
      CBUUID(found.uuid), AttributePlace(link: state.link, handle: found.handle), of: characteristic)
    state.attributes[found.handle] = descriptor
    return descriptor
  }
}
