// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// A conversation with a radio in the peripheral role of Bluetooth Low Energy. What it offers ends with it.
package protocol ServingSession: Sendable {
  /// Has something done. Commands are done in order, and this returns at once.
  func send(_ command: ServingCommand)

  /// Sends a value of a characteristic to the devices that have asked for it. Returns false, and sends nothing, when too many
  /// values wait; `ready` tells when there is room again. A value that is longer than a device's packets is cut for it.
  func notify(_ handle: Int, _ value: [UInt8]) -> Bool

  /// Withdraws everything. Returns at once.
  func close()
}

/// What is asked of a radio in the peripheral role. What it has published and offered is there again after bluetoothd was started
/// anew, or the adapter was off.
package enum ServingCommand: Sendable, Equatable {
  /// Offers a service to those who connect; the answer is `published`.
  case publish(ServedService)
  /// Offers it no longer.
  case withdraw(Int)
  /// Tells this to all devices from now on; the answer is `offered`. Nil ends it.
  case offer(ServedOffer?)
  /// Answers a request: what is read from its offset on, or nothing for a write; or the number of an error of the Attribute
  /// Protocol. Of these BlueZ passes on 2, 3, 6, 7, 8, 13 and 128…159; others become 14 ("unlikely").
  case answer(ServingRequest.ID, Result<[UInt8], RadioFailure>)
  /// Ends the connection of a device that has used a service of ours.
  case disconnect(RadioPeer)
}

/// A device that uses services of ours.
package struct ServedCentral: Sendable, Hashable {
  package var peer: RadioPeer
  /// How many bytes its largest packet has, 23…517, with a head of three.
  package var packetSize: Int
  package var name: String?

  package init(_ peer: RadioPeer, packetSize: Int = 23, name: String? = nil) {
    (self.peer, self.packetSize, self.name) = (peer, packetSize, name)
  }
}

/// What a device asks of a characteristic of ours.
package struct ServingRequest: Sendable, Equatable, Identifiable {
  package let id: Int
  package let central: ServedCentral
  package let handle: Int
  package let offset: Int
  /// What is written; nil for a read.
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

/// What has happened in the peripheral role.
package enum ServingEvent: Sendable, Equatable {
  /// Whether the radio can be used. With every state but `on` all devices have left, which was told.
  case state(RadioState)
  /// A service is there; or why it isn't, in words. Told again only when it can't be offered again later.
  case published(Int, AccessoryError?)
  /// This computer tells its offer now; or why it doesn't, in words. Told again only when that ends, with the reason.
  case offered(AccessoryError?)
  /// A device wants a characteristic's values.
  case subscribed(ServedCentral, handle: Int)
  /// It wants them no longer, or has left.
  case unsubscribed(ServedCentral, handle: Int)
  /// A device reads or writes.
  case request(ServingRequest)
  /// A device that has used a service is not connected any more.
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
