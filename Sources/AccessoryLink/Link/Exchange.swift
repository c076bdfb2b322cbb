// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryProtocols

/// Identifies a request of a link.
public struct RequestID: Hashable, Sendable {
  /// A number that no other request of the link has.
  public let rawValue: UInt64

  /// The id with this number, for tests that use an exchange without a link. Links create their own ids.
  public init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// The actions that an exchange returns after an event.
public struct Effects<Reply: Sendable, Event: Sendable>: Sendable {
  /// Bytes to write, after those of earlier calls.
  public var output: [UInt8] = []
  /// The sizes in bytes of the messages in `output`, for transports that keep messages apart. When it is empty, all of
  /// `output` is one message.
  public package(set) var messages: [Int] = []
  /// Whether the transport has no space. Bytes that are written anyway wait in `output`. `timePassed` is called when
  /// there is space again.
  public internal(set) var isBlocked = false
  /// Whether there are subscribers to events. Without them, an exchange needn't create events or copy payloads for
  /// them.
  public internal(set) var wantsEvents = true
  /// Completed requests and their results.
  public var completions: [(id: RequestID, result: Result<Reply, AccessoryError>)] = []
  /// Unsolicited messages.
  public var events: [Event] = []

  /// Effects without any action. `isBlocked`: the transport has no space. `wantsEvents`: there are subscribers. Public
  /// for tests that use an exchange without a link.
  public init(isBlocked: Bool = false, wantsEvents: Bool = true) {
    self.isBlocked = isBlocked
    self.wantsEvents = wantsEvents
  }

  /// Adds an event. `event` is evaluated only if there are subscribers.
  public mutating func addEvent(_ event: @autoclosure () -> Event) { if wantsEvents { events.append(event()) } }

  /// Writes one message.
  public mutating func write(_ message: [UInt8]) {
    output += message
    messages.append(message.count)
  }

  /// Removes and returns the messages to write. Bytes that were appended to `output` alone are the last message.
  public mutating func takeMessages() -> [[UInt8]] {
    var taken: [[UInt8]] = []
    var rest = output[...]
    for count in messages {
      taken.append(Array(rest.prefix(count)))
      rest = rest.dropFirst(count)
    }
    if !rest.isEmpty { taken.append(Array(rest)) }
    (output, messages) = ([], [])
    return taken
  }
}

/// The rules by which requests and replies of one protocol are exchanged. A value type without I/O, clock or thread.
///
/// A `Link` reports each event to it with the time, and carries out the returned effects. The exchange owns the
/// protocol's codec, because some rules concern both: a timeout, for example, discards an unfinished frame.
public protocol Exchange: Sendable {
  /// The codec that finds frames.
  associatedtype Codec: FrameCodec
  /// A request.
  associatedtype Request: Sendable
  /// The result of a request.
  associatedtype Reply: Sendable
  /// An unsolicited message.
  associatedtype Event: Sendable

  /// The codec that finds frames.
  var codec: Codec { get set }
  /// The counters, without those of the codec.
  var counters: LinkCounters { get }
  /// When `timePassed` must be called next; nil while there is nothing to wait for.
  var deadline: MonotonicTime? { get }

  /// Sets how long bytes take on the line. Called before everything else, and again when the line's speed has changed.
  /// Timeouts that are running may stay as they are.
  mutating func setTiming(_ timing: LineTiming)
  /// Makes contact. `id` is completed when requests can be made, or when that has failed.
  mutating func begin(_ id: RequestID, now: MonotonicTime, effects: inout Effects<Reply, Event>)
  /// Accepts a request, which is completed once, now or later.
  mutating func submit(
    _ id: RequestID, _ request: Request, now: MonotonicTime, effects: inout Effects<Reply, Event>)
  /// Cancels a request and completes it, unless it is complete already.
  mutating func cancel(_ id: RequestID, now: MonotonicTime, effects: inout Effects<Reply, Event>)
  /// Decodes a message of a transport that keeps messages apart: one report of a HID interface, which may be padded at
  /// its end. Its frames are appended to `batch`.
  mutating func decode(message: RawSpan, into batch: inout FrameBatch<Codec.Header>)
  /// Handles frame number `index` of `batch`.
  mutating func receive(
    _ batch: FrameBatch<Codec.Header>, at index: Int, now: MonotonicTime, effects: inout Effects<Reply, Event>)
  /// Called when time has passed, usually at `deadline`.
  mutating func timePassed(now: MonotonicTime, effects: inout Effects<Reply, Event>)
  /// Called when the accessory is gone or the link is closed. Completes all requests, and every later one, with
  /// `error`.
  mutating func end(_ error: AccessoryError, effects: inout Effects<Reply, Event>)
}

extension Exchange {
  /// By default, a message is decoded as a piece of a byte stream.
  public mutating func decode(message: RawSpan, into batch: inout FrameBatch<Codec.Header>) {
    codec.decode(message, into: &batch)
  }
}
