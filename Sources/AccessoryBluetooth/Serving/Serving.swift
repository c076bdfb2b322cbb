// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// A session with a radio in the peripheral role of Bluetooth Low Energy. Its services and its advertisement end with it.
package protocol ServingSession: Sendable {
  /// Performs a command. Commands are performed in order; this returns at once.
  func send(_ command: ServingCommand)

  /// Sends a value of a characteristic to the subscribed devices. If too many values wait, returns false and sends nothing; `ready`
  /// reports when there is room. A value longer than a device's packets is cut off for that device.
  func notify(_ handle: Int, _ value: [UInt8]) -> Bool

  /// Withdraws everything. Returns at once.
  func close()
}

/// A command to a radio in the peripheral role. Services and the advertisement are restored when bluetoothd has restarted or the
/// adapter is on again.
package enum ServingCommand: Sendable, Equatable {
  /// Publishes a service; the answer is `published`.
  case publish(ServedService)
  /// Withdraws a service.
  case withdraw(Int)
  /// Starts or replaces the advertisement; nil ends it. The answer is `offered`.
  case offer(ServedOffer?)
  /// Answers a request: a read with the bytes from the requested offset on, a write with no bytes, or either with an error code of
  /// the Attribute Protocol. BlueZ passes on the codes 2, 3, 6, 7, 8, 13 and 128…159; others become 14 ("unlikely").
  case answer(ServingRequest.ID, Result<[UInt8], RadioFailure>)
  /// Disconnects a device that has used one of our services.
  case disconnect(RadioPeer)
}

/// A device that uses one of our services.
package struct ServedCentral: Sendable, Hashable {
  package var peer: RadioPeer
  /// The size of its largest packet in bytes, 23…517, including a header of three.
  package var packetSize: Int
  package var name: String?

  package init(_ peer: RadioPeer, packetSize: Int = 23, name: String? = nil) {
    (self.peer, self.packetSize, self.name) = (peer, packetSize, name)
  }
}

/// A device's request to read or write one of our characteristics.
package struct ServingRequest: Sendable, Equatable, Identifiable {
  package let id: Int
  package let central: ServedCentral
  package let handle: Int
  package let offset: Int
  /// The bytes to write; nil for a read.
  package let bytes: [UInt8]?
  /// Whether the device waits for an answer.
  package let needsAnswer: Bool

  package init(
    _ id: Int, _ central: ServedCentral, _ handle: Int, offset: Int = 0, bytes: [UInt8]? = nil, needsAnswer: Bool = true
  ) {
    (self.id, self.central, self.handle, self.offset) = (id, central, handle, offset)
    (self.bytes, self.needsAnswer) = (bytes, needsAnswer)
  }
}

/// An event of the peripheral role.
package enum ServingEvent: Sendable, Equatable {
  /// The state of the radio. Before any state but `on`, `left` has been reported for every device.
  case state(RadioState)
  /// A service was published, or couldn't be, with the error. Repeated only if the service can't be restored later.
  case published(Int, AccessoryError?)
  /// Advertising has started, or couldn't, with the error. Repeated only when advertising ends, with the reason.
  case offered(AccessoryError?)
  /// A device has subscribed to a characteristic.
  case subscribed(ServedCentral, handle: Int)
  /// A device has unsubscribed from a characteristic, or has left.
  case unsubscribed(ServedCentral, handle: Int)
  /// A device reads or writes a characteristic.
  case request(ServingRequest)
  /// A device that used one of our services has disconnected.
  case left(RadioPeer)
  /// There is room for values again.
  case ready
}

extension Radio {
  /// A radio that has no peripheral role.
  package func beginServing(_ tell: @escaping @Sendable (ServingEvent) -> Void) -> any ServingSession {
    tell(.state(.unsupported))
    return NoServing()
  }
}

private struct NoServing: ServingSession {
  func send(_ command: ServingCommand) {}
  func notify(_ handle: Int, _ value: [UInt8]) -> Bool { true }
  func close() {}
}
