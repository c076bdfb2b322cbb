// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDescriptions
import AccessoryIO
import AccessoryProtocols

/// Routes whole frames between one accessory and many clients. This is a value without I/O, clock or thread.
///
/// Each client's bytes are decoded into frames. A request waits for its client's turn, gets a new number where the protocol has
/// numbers, and is sent to the accessory as a whole. The reply gets the client's number back and goes to that client only. Frames that
/// the accessory sends unasked go to all clients. A request that a client repeats before the reply is sent once.
///
/// A `SharingHub` uses one value for each time that it opens the accessory.
public struct FrameRouting: Sendable {
  package var rules: any Routing

  package init(_ rules: any Routing) { self.rules = rules }

  /// Routes the frames of a protocol with these rules.
  package init(_ family: some RoutedProtocol) { rules = RoutingCore(family) }

  /// Routes the frames of a described protocol, with one unanswered request at a time. Unless `allowsWrites` is true, a client's
  /// request is refused if the description doesn't have it or marks it as a write. `wire` selects the transport form of Modbus frames.
  ///
  /// Returns nil if a request of the protocol isn't sent as a frame. Throws `misconfigured` if the protocol's framing isn't possible.
  public static func described(
    _ description: ProtocolDescription, label: String, wire: ModbusWire = .serial, allowsWrites: Bool
  ) throws(AccessoryError) -> FrameRouting? {
    guard let family = try DescribedRouting(description, label: label, wire: wire, allowsWrites: allowsWrites) else {
      return nil
    }
    return FrameRouting(RoutingCore(family))
  }
}

/// The inputs of a `FrameRouting`. Each mutating method adds the actions that follow to its `effects`. Clients are identified by
/// numbers.
package protocol Routing: Sendable {
  /// When `timePassed` must be called next; nil while no timeout is set.
  var deadline: MonotonicTime? { get }
  /// Counts since the value was made.
  var statistics: RoutingStatistics { get }
  /// Sets how long bytes take on the line.
  mutating func setTiming(_ timing: LineTiming)
  /// Adds a client. Unless `allowsWrites` is true, its requests that may change something in the accessory are refused.
  mutating func add(_ client: Int, allowsWrites: Bool)
  /// Removes a client. Its queued requests are dropped, and so are the replies to the requests that were sent.
  mutating func remove(_ client: Int, now: MonotonicTime, effects: inout RoutingEffects)
  /// Whether to read more bytes from a client. If false, `RoutingEffects.resumed` contains the client when reading may continue.
  func mayTake(from client: Int) -> Bool
  /// Whether a request of the client is queued or unanswered.
  func hasUnanswered(_ client: Int) -> Bool
  /// Takes bytes received from a client.
  mutating func take(_ bytes: [UInt8], from client: Int, now: MonotonicTime, effects: inout RoutingEffects)
  /// Takes bytes received from the accessory. `messages` are the lengths of the messages in `bytes`, if the transport keeps message
  /// boundaries.
  mutating func receive(_ bytes: [UInt8], messages: [Int]?, now: MonotonicTime, effects: inout RoutingEffects)
  /// Continues when `deadline` is reached, or when the accessory's output queue has room again.
  mutating func timePassed(now: MonotonicTime, effects: inout RoutingEffects)
}

extension Routing {
  /// Adds a client that may send whatever the routing allows.
  package mutating func add(_ client: Int) { add(client, allowsWrites: true) }
}

/// The actions that the caller of a `Routing` must carry out.
package struct RoutingEffects: Sendable {
  /// Messages to send to the accessory, each as a whole.
  package var messages: [[UInt8]] = []
  /// Bytes to send, in this order: to one client, or to all clients if `client` is nil.
  package var deliveries: [(client: Int?, bytes: [UInt8])] = []
  /// Events to report to the user.
  package var news: [RoutingNews] = []
  /// Clients from which more bytes may be read.
  package var resumed: [Int] = []
  /// Whether the accessory's output queue has no room, so that no new request is sent. Messages in `messages` must be sent
  /// nevertheless.
  package var isBlocked: Bool

  /// No actions yet.
  package init(isBlocked: Bool = false) { self.isBlocked = isBlocked }
}

/// An event to report to the user.
package enum RoutingNews: Sendable, Hashable {
  /// A client sent bytes that are in no frame; they are dropped. Reported once until the client sends a frame.
  case noFrame(client: Int)
  /// A client's frame was not passed on, with the reason.
  case refused(client: Int, reason: String)
  /// The accessory didn't answer the protocol's opening request, with the reason.
  case noContact(String)
}

/// Counts of a `Routing`. They never decrease.
package struct RoutingStatistics: Sendable, Hashable {
  /// Requests that were sent to the accessory.
  package var requests: UInt64 = 0
  /// Requests that were answered.
  package var replies: UInt64 = 0
  /// Frames that were sent to all clients.
  package var events: UInt64 = 0
  /// Requests that got no reply.
  package var unanswered: UInt64 = 0
  /// Replies that were dropped because their client had left.
  package var orphans: UInt64 = 0
  /// Requests that a client repeated before the reply, or whose reply was stored.
  package var repeats: UInt64 = 0
  /// Clients' frames that were not passed on.
  package var refused: UInt64 = 0
  /// Bytes from clients that were in no frame.
  package var noise: UInt64 = 0

  /// Nothing counted yet.
  package init() {}
}

/// Limits of the memory that a `Routing` uses.
package enum RoutingLimit {
  /// The most queued requests of one client. At this number no more of its bytes are decoded.
  package static let perClient = 32
  /// The most queued requests of all clients.
  package static let total = 4_096
  /// The most bytes of a client that are decoded at a time, so that one client exceeds its limit by few requests only.
  package static let slice = 512
}
