// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryProtocols

/// The rules for requests and replies of a described protocol. There is one request at a time. A frame is its reply if
/// the message and the elements that the description names fit. Other frames are events, if the description says that
/// they are pushed.
///
/// A reply may come in several frames, in any order; they are joined. Unexpected frames are dropped.
///
/// Several units on a line take turns, however many requests wait for one of them. A silent unit costs the others at
/// most one timeout: its request is repeated after theirs.
public struct DescribedExchange: Exchange {
  /// A described request.
  public typealias Request = DescribedRequest
  /// The decoded reply; nil for requests without a reply.
  public typealias Reply = DecodedMessage?
  /// What the accessory says by itself.
  public typealias Event = DecodedMessage

  /// How frames are cut.
  public var codec: DescribedCodec
  /// The counters so far.
  public internal(set) var counters = LinkCounters()
  /// Counts fields of replies and events that couldn't be read, because they were missing or out of range.
  public var unreadableFields: UInt64 { unreadable.values.reduce(0, &+) }

  let label: String
  let description: ProtocolDescription
  let decoder: MessageDecoder
  var timing = LineTiming.instant
  var queue: UnitQueue
  var attempt: Attempt?
  /// Raw numbers that were read of each unit, by their fields: counts in replies refer to earlier ones.
  var known: [Int?: [String: Int]] = [:]
  /// Fields that could not be read, by units.
  var unreadable: [Int?: UInt64] = [:]
  /// Whether errors name the unit, because there are several on the line.
  let namesUnits: Bool
  /// When the next request may be sent.
  var nextSending = MonotonicTime(nanoseconds: .min)
  /// Who waits for the accessory to wake up.
  var opening: RequestID?
  var phase = Phase.closed
  /// Whether nothing was answered yet.
  var isFirst = true
  /// Late answers that may still come, for protocols whose answers don't identify their request.
  var lateAnswers: LateAnswers
  var scratch = FrameBatch<DescribedHeader>()

  enum Phase: Sendable {
    case closed
    case waking(until: MonotonicTime)
    case ready
    case ended(AccessoryError)
  }

  /// A request on its way.
  struct Attempt: Sendable {
    /// Nil when the request was cancelled and only its reply is awaited.
    var id: RequestID?
    var request: DescribedRequest
    /// How often it was sent.
    var tries = 1
    /// How often it was refused and sent again.
    var refusals = 0
    /// When it was sent first, and last.
    var sent: ClosedRange<MonotonicTime>
    var deadline: MonotonicTime
    /// The frames of a reply that have arrived, by their numbers.
    var pieces: [Int: DecodedMessage] = [:]
    /// How many frames the reply has; nil if it ends when the line is silent.
    var pieceCount: Int?
  }

  /// Rules for a new opening. `queueLimit` requests to each unit may wait for their turn; `wire` is how frames travel where they
  /// are Modbus; with `namesUnits` errors say which unit of `label` they are about. Throws `misconfigured` if there can be no
  /// such frames, which a description that was read from a file never has.
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
      throw AccessoryError(.misconfigured, "the protocol \(description.name) can't have such frames: \(error)")
    }
    decoder = MessageDecoder(codec)
    queue = UnitQueue(limit: queueLimit)
  }

  /// Fields of what a unit has sent that could not be read.
  public func unreadableFields(of unit: Int?) -> UInt64 { unreadable[unit] ?? 0 }

  /// What errors about requests to a unit call it.
  func label(of unit: Int?) -> String { namesUnits ? unit.map { "\(label)@\($0)" } ?? label : label }

  /// Learns how long bytes take.
  public mutating func setTiming(_ timing: LineTiming) { self.timing = timing }

  /// When the accessory is awake, a request must be repeated or given up, or the next one may be sent.
  public var deadline: MonotonicTime? {
    if case .waking(let time) = phase { return time }
    if let attempt { return attempt.deadline }
    return isSpaceAwaited ? nil : queue.nextTime { sendingTime(of: $0) }
  }

  /// Whether the next request only waits for space in the transport.
  var isSpaceAwaited = false

  /// Wakes the accessory if its description says how; contact is made then. Nothing else is sent.
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

  /// Queues a request. It is completed with `busy` when too many wait.
  public mutating func submit(
    _ id: RequestID, _ request: Request, now: MonotonicTime, effects: inout Effects<Reply, Event>
  ) {
    switch phase {
    case .ended(let error): return effects.completions.append((id, .failure(error)))
    case .closed:
      let error = AccessoryError(.ioFailure, "\(label) has not been asked for contact")
      return effects.completions.append((id, .failure(error)))
    case .waking, .ready: break
    }
    if let error = queue.admit(id, request, label: label(of: request.unit)) {
      effects.completions.append((id, .failure(error)))
    }
    sendNext(now: now, effects: &effects)
  }

  /// Gives up a request. If it was sent, its reply is awaited and dropped, as it could be taken for that of the next
  /// one.
  public mutating func cancel(_ id: RequestID, now: MonotonicTime, effects: inout Effects<Reply, Event>) {
    if attempt?.id == id {
      attempt?.id = nil
    } else if opening == id {
      opening = nil
    } else if let waiting = queue.remove(id) {
      // It may have been sent before it had to wait again.
      if waiting.tries > 0 {
        lateAnswers.note(waiting.request, sent: waiting.tries, until: now + patience(for: waiting.request), now: now)
      }
    } else {
      return
    }
    effects.completions.append((id, .failure(AccessoryError(.cancelled, "a request to \(label) was cancelled"))))
  }

  /// Fails everything that waits, and all that comes.
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
