// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols

/// The meaning of a client's frame.
package enum ClientFrame<Request: Sendable>: Sendable {
  /// A request to which the client expects a reply, with the client's number for it.
  case ask(Request, number: UInt16)
  /// A message to the accessory without a reply.
  case report(Request)
  /// A request that begins a conversation with the accessory, such as a greeting that must come first.
  case open(Request, number: UInt16)
  /// A frame that isn't passed on, with the reason, and with the answer to the client if there is one.
  case refuse(String, answer: [UInt8]?)
}

/// A client's request, from its decoding until its reply.
package struct RoutedRequest<Request: Sendable>: Sendable {
  package enum Kind: Sendable {
    case ask, tell, open
  }

  /// How the request is carried out.
  package var kind: Kind
  /// The request in the form of the protocol's rules.
  package var request: Request
  /// The number that the client gave to the request.
  package var number: UInt16
  /// The client that made the request; nil when it has left.
  package var client: Int?
  /// Whether the client has repeated the request before the reply.
  package var isRepeated = false
  /// When it was the request's turn.
  package var turn: MonotonicTime?
  /// When the request was sent to the accessory. The rules may wait, for example because a late reply could be taken for its reply.
  package var sent: MonotonicTime?
}

/// What a protocol adds to its `Exchange` so that a `RoutingCore` can route its frames.
package protocol RoutedProtocol: Sendable {
  associatedtype Rules: Exchange
  /// What is stored for each client.
  associatedtype Memory: Sendable

  /// The rules for requests to the accessory and replies from it.
  var rules: Rules { get set }
  /// Whether the rules must make contact with the accessory before the first request.
  var needsContact: Bool { get }
  /// How long after a client's last byte an unfinished frame is dropped; nil if it is kept.
  var halfFramePatience: Duration? { get }
  /// Whether a request that gets no reply is sent again if its client has repeated it meanwhile.
  var asksAgain: Bool { get }
  /// The initial memory of a client.
  var newMemory: Memory { get }

  /// Makes the codec that decodes a client's frames.
  func makeCodec() -> Rules.Codec
  /// The most requests that may be unanswered at once, including this one.
  func window(for request: Rules.Request) -> Int
  /// Finds out the meaning of a client's whole frame. Without `allowsWrites` the client may not send requests that may change
  /// something in the accessory.
  func read(
    _ batch: FrameBatch<Rules.Codec.Header>, at index: Int, allowsWrites: Bool
  ) -> ClientFrame<Rules.Request>
  /// The answer to a client whose frame is damaged, too long or of another version; nil for none.
  func answer(toBroken header: Rules.Codec.Header, _ outcome: FrameOutcome) -> [UInt8]?
  /// Whether `one` is `other`, sent again by the client.
  func isRepeat(_ one: RoutedRequest<Rules.Request>, of other: RoutedRequest<Rules.Request>) -> Bool
  /// The stored reply to a request; empty if the request got no reply before; nil if nothing is stored.
  func known(_ request: RoutedRequest<Rules.Request>, _ memory: Memory, now: MonotonicTime) -> [UInt8]?
  /// Encodes a message that has no reply.
  mutating func message(_ request: Rules.Request) -> [UInt8]
  /// Returns the answer to a client that begins a conversation, and whether the conversation is new, not a repeated opening.
  func opening(_ request: RoutedRequest<Rules.Request>, _ memory: inout Memory) -> (answer: [UInt8], isNew: Bool)
  /// Returns the reply to the client when its request has ended; nil for none. `frame` is the accessory's frame that ended the request;
  /// nil if a timeout or an error did.
  func reply(
    to request: RoutedRequest<Rules.Request>, _ result: Result<Rules.Reply, AccessoryError>,
    frame: (batch: FrameBatch<Rules.Codec.Header>, index: Int)?
  ) -> [UInt8]?
  /// Stores the reply, or nil if there was none, in case the client repeats the request.
  func remember(
    _ reply: [UInt8]?, to request: RoutedRequest<Rules.Request>, _ memory: inout Memory, now: MonotonicTime)
  /// Encodes a frame of the accessory that is part of a reply, for the client that made the request. More parts may follow. Returns nil
  /// in protocols whose replies `reply` makes.
  func part(
    _ batch: FrameBatch<Rules.Codec.Header>, at index: Int, of request: RoutedRequest<Rules.Request>,
    since before: LinkCounters
  ) -> [UInt8]?
  /// Called before timeouts are handled: if a request is about to time out, finds frames that follow an unfinished frame.
  mutating func expire(now: MonotonicTime, into batch: inout FrameBatch<Rules.Codec.Header>)
}

extension RoutedProtocol {
  package var asksAgain: Bool { false }
  package func known(_ request: RoutedRequest<Rules.Request>, _ memory: Memory, now: MonotonicTime) -> [UInt8]? { nil }
  package func answer(toBroken header: Rules.Codec.Header, _ outcome: FrameOutcome) -> [UInt8]? { nil }
  package func opening(_ request: RoutedRequest<Rules.Request>, _ memory: inout Memory) -> (
    answer: [UInt8], isNew: Bool
  ) {
    ([], false)
  }
  package func remember(
    _ reply: [UInt8]?, to request: RoutedRequest<Rules.Request>, _ memory: inout Memory, now: MonotonicTime
  ) {}
  package func part(
    _ batch: FrameBatch<Rules.Codec.Header>, at index: Int, of request: RoutedRequest<Rules.Request>,
    since before: LinkCounters
  ) -> [UInt8]? { nil }
  package mutating func expire(now: MonotonicTime, into batch: inout FrameBatch<Rules.Codec.Header>) {}
}
