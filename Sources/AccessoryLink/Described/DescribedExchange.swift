// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDescriptions
import AccessoryIO
import AccessoryProtocols

/// The rules for requests and replies of a described protocol. One request is outstanding at a time. A frame is its
/// reply if it fits the reply message and the elements that the description names. Other frames are events, if the
/// description says that the accessory pushes them.
///
/// A reply may consist of several frames, in any order; they are joined. Unexpected frames are dropped.
///
/// Several units on a line take turns, however many requests wait for one of them. A silent unit delays the others by
/// at most one timeout, because its request is repeated after theirs.
public struct DescribedExchange: Exchange {
  /// A described request.
  public typealias Request = DescribedRequest
  /// The decoded reply; nil for requests without a reply.
  public typealias Reply = DecodedMessage?
  /// A message that the accessory sends unasked.
  public typealias Event = DecodedMessage

  /// The codec that finds frames.
  public var codec: DescribedCodec
  /// The counters so far.
  public internal(set) var counters = LinkCounters()
  /// The number of fields of replies and events that couldn't be read, because they were missing or out of range.
  public var unreadableFields: UInt64 { unreadable.values.reduce(0, &+) }

  let label: String
  let description: ProtocolDescription
  let decoder: MessageDecoder
  /// How many bytes the longest frame of each request's reply has, up to a limit; 0 without a reply.
  let replyLengths: [Int]
  var timing = LineTiming.instant
  var queue: UnitQueue
  var attempt: Attempt?
  /// The last raw numbers that were read of each unit, by field name. Counts in replies refer to earlier values.
  var known: [Int?: [String: Int]] = [:]
  /// The number of fields that couldn't be read, by unit.
  var unreadable: [Int?: UInt64] = [:]
  /// Whether error messages name the unit, because the line has several.
  let namesUnits: Bool
  /// The first events, which may have come before anybody could subscribe.
  package private(set) var firstEvents: [DecodedMessage] = []
  /// The last frame that is none of the messages: its numbers by the names of their elements.
  package var stranger: [(name: String, number: Int)] = []
  private static let firstEventLimit = 4
  /// When the next request may be sent.
  var nextSending = MonotonicTime(nanoseconds: .min)
  /// The opening request, which waits for the accessory to wake up.
  var opening: RequestID?
  var phase = Phase.closed
  /// Whether no request was completed yet.
  var isFirst = true
  /// Late replies that may still come, for protocols whose replies don't identify their request.
  var lateAnswers: LateAnswers
  var scratch = FrameBatch<DescribedHeader>()

  enum Phase: Sendable {
    case closed
    case waking(until: MonotonicTime)
    case ready
    case ended(AccessoryError)
  }

  /// The outstanding request.
  struct Attempt: Sendable {
    /// Nil when the request was cancelled and only its reply is awaited.
    var id: RequestID?
    var request: DescribedRequest
    /// How often it was sent.
    var tries = 1
    /// How often it was refused and sent again.
    var refusals = 0
    /// When it was sent for the first and for the last time.
    var sent: ClosedRange<MonotonicTime>
    var deadline: MonotonicTime
    /// The pieces of the reply that have arrived, by number.
    var pieces: [Int: DecodedMessage] = [:]
    /// How many pieces the reply has; nil if silence ends it.
    var pieceCount: Int?
  }

  /// Rules for a newly opened accessory. `queueLimit` requests to each unit may wait to be sent. `wire` is the form of
  /// Modbus frames. With `namesUnits`, error messages name the unit as well as `label`. Throws `misconfigured` if the
  /// framing is impossible, which can't happen with a description that was read from a file.
  public init(
    _ description: ProtocolDescription, label: String, queueLimit: Int = 64, wire: ModbusWire = .serial,
    namesUnits: Bool = false
  ) throws(AccessoryError) {
    self.label = label
    self.namesUnits = namesUnits
    self.description = description
    lateAnswers = LateAnswers(description, wire: wire)
    do throws(FramingParameterError) {
      codec = try DescribedCodec(description, wire: wire)
    } catch {
      throw AccessoryError(.misconfigured, "the framings of the protocol \(description.name) are invalid: \(error)")
    }
    decoder = MessageDecoder(codec)
    replyLengths = description.requests.map { min($0.reply.map { description.longestFrame(of: $0) } ?? 0, 1_024) }
    queue = UnitQueue(limit: queueLimit)
  }

  /// The number of fields in replies and events of a unit that couldn't be read.
  public func unreadableFields(of unit: Int?) -> UInt64 { unreadable[unit] ?? 0 }

  /// The name of a unit in error messages.
  func label(of unit: Int?) -> String { namesUnits ? unit.map { "\(label)@\($0)" } ?? label : label }

  /// Sets how long bytes take on the line.
  public mutating func setTiming(_ timing: LineTiming) { self.timing = timing }

  /// When the accessory has woken up, a request must be repeated or fail, or the next one may be sent.
  public var deadline: MonotonicTime? {
    if case .waking(let time) = phase { return time }
    if let attempt { return attempt.deadline }
    return isSpaceAwaited ? nil : queue.nextTime { sendingTime(of: $0) }
  }

  /// Tells the subscribers of an event.
  mutating func tell(_ event: DecodedMessage, _ effects: inout Effects<Reply, Event>) {
    counters.events += 1
    if firstEvents.count < Self.firstEventLimit { firstEvents.append(event) }
    effects.events.append(event)
  }

  /// Whether the next request waits only for space in the transport.
  var isSpaceAwaited = false

  /// Wakes the accessory if its description says how, and then makes contact; nothing else is sent.
  public mutating func begin(_ id: RequestID, now: MonotonicTime, effects: inout Effects<Reply, Event>) {
    if case .ended(let error) = phase { return effects.completions.append((id, .failure(error))) }
    guard let wake = description.plan.wake else {
      phase = .ready
      return effects.completions.append((id, .success(nil)))
    }
    effects.write(wake.bytes)
    phase = .waking(until: now + .nanoseconds(wake.pause) + timing.time(of: wake.bytes.count))
    opening = id
  }

  /// Queues a request. It fails with `busy` when too many wait.
  public mutating func submit(
    _ id: RequestID, _ request: Request, now: MonotonicTime, effects: inout Effects<Reply, Event>
  ) {
    switch phase {
    case .ended(let error): return effects.completions.append((id, .failure(error)))
    case .closed:
      let error = AccessoryError(.ioFailure, "\(label) can't accept requests before its link is opened")
      return effects.completions.append((id, .failure(error)))
    case .waking, .ready: break
    }
    if let error = queue.admit(id, request, label: label(of: request.unit)) {
      effects.completions.append((id, .failure(error)))
    }
    sendNext(now: now, effects: &effects)
  }

  /// Cancels a request. If it was sent, its reply is awaited and dropped, because it could be taken for the reply to
  /// the next request.
  public mutating func cancel(_ id: RequestID, now: MonotonicTime, effects: inout Effects<Reply, Event>) {
    if attempt?.id == id {
      attempt?.id = nil
    } else if opening == id {
      opening = nil
    } else if let waiting = queue.remove(id) {
      // It may have been sent before it was put back into the queue.
      if waiting.tries > 0 {
        lateAnswers.note(
          waiting.request, sent: waiting.tries, until: now + replyTimeout(for: waiting.request), now: now)
      }
    } else {
      return
    }
    effects.completions.append((id, .failure(AccessoryError(.cancelled, "a request to \(label) was cancelled"))))
  }

  /// Fails all waiting requests, and every later one, with `error`.
  public mutating func end(_ error: AccessoryError, effects: inout Effects<Reply, Event>) {
    if case .ended = phase { return }
    phase = .ended(error)
    for id in [opening, attempt?.id].compactMap({ $0 }) + queue.removeAll() {
      effects.completions.append((id, .failure(error)))
    }
    (opening, attempt) = (nil, nil)
    (effects.output, effects.messages) = ([], [])
  }
}
