// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryProtocols

/// Names one request of a link.
public struct RequestID: Hashable, Sendable {
  /// A number that no other request of the link has.
  public let rawValue: UInt64

  /// The id with this number, for a test that is in the link's place. Links make their own.
  public init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// The actions that an exchange returns after an event.
public struct Effects<Reply: Sendable, Event: Sendable>: Sendable {
  /// Bytes to write, after those of earlier calls.
  public var output: [UInt8] = []
  /// The messages in `output` by their counts of bytes, for transports that keep them apart; empty when that doesn't
  /// matter, and then all of it is one.
  public internal(set) var messages: [Int] = []
  /// Whether the transport has no space. Bytes that are written anyway wait in `output`. `timePassed` is called when
  /// there is space.
  public internal(set) var isBlocked = false
  /// Whether anybody gets the events: where nobody does, none needs to be made, and no payload kept for it.
  public internal(set) var wantsEvents = true
  /// Requests that are over.
  public var completions: [(id: RequestID, result: Result<Reply, AccessoryError>)] = []
  /// Messages nobody asked for.
  public var events: [Event] = []

  /// Nothing to do yet. `isBlocked`: the transport takes nothing; `wantsEvents`: somebody gets the events. For a test that
  /// is in the link's place.
  public init(isBlocked: Bool = false, wantsEvents: Bool = true) {
    self.isBlocked = isBlocked
    self.wantsEvents = wantsEvents
  }

  /// Tells of a message that nobody asked for. `event` is made only where somebody gets it.
  public mutating func tell(_ event: @autoclosure () -> Event) { if wantsEvents { events.append(event()) } }

  /// Writes one message.
  public mutating func write(_ message: [UInt8]) {
    output += message
    messages.append(message.count)
  }

  /// Takes out what is to be written, message by message; bytes that were appended to `output` alone are the last one.
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

/// The rules by which one protocol's requests and replies are exchanged, as a value: no I/O, no clock, no thread.
///
/// A `Link` tells it what happens, and when, and does what the effects say. It owns the protocol's codec, since some
/// rules (giving up an unfinished frame when a request times out) concern both.
public protocol Exchange: Sendable {
  /// How messages are framed.
  associatedtype Codec: FrameCodec
  /// What can be asked.
  associatedtype Request: Sendable
  /// What comes back.
  associatedtype Reply: Sendable
  /// What comes unasked.
  associatedtype Event: Sendable

  /// How messages are framed.
  var codec: Codec { get set }
  /// The counters, without those of the codec.
  var counters: LinkCounters { get }
  /// When `timePassed` must be called next; nil while nothing waits for time.
  var deadline: MonotonicTime? { get }

  /// Learns how long bytes take: called first of all, and again when the line's speed was changed. Time limits that run
  /// already may stay as they are.
  mutating func setTiming(_ timing: LineTiming)
  /// Makes contact. `id` is completed when requests can be made, or when that failed.
  mutating func begin(_ id: RequestID, now: MonotonicTime, effects: inout Effects<Reply, Event>)
  /// Takes a request, which is completed once, now or later.
  mutating func submit(
    _ id: RequestID, _ request: Request, now: MonotonicTime, effects: inout Effects<Reply, Event>)
  /// Gives a request up and completes it, unless that has happened.
  mutating func cancel(_ id: RequestID, now: MonotonicTime, effects: inout Effects<Reply, Event>)
  /// A message has arrived by a transport that keeps them apart: one report of a HID interface, which may be filled up
  /// behind its end. Its frames are appended to `batch`.
  mutating func decode(message: RawSpan, into batch: inout FrameBatch<Codec.Header>)
  /// A frame has arrived: number `index` of `batch`.
  mutating func receive(
    _ batch: FrameBatch<Codec.Header>, at index: Int, now: MonotonicTime, effects: inout Effects<Reply, Event>)
  /// Time has passed, perhaps `deadline`.
  mutating func timePassed(now: MonotonicTime, effects: inout Effects<Reply, Event>)
  /// The accessory is gone or the link closed: completes all requests, and every later one, with `error`.
  mutating func end(_ error: AccessoryError, effects: inout Effects<Reply, Event>)
}

extension Exchange {
  /// By default messages are treated as pieces of a stream.
  public mutating func decode(message: RawSpan, into batch: inout FrameBatch<Codec.Header>) {
    codec.decode(message, into: &batch)
  }
}
