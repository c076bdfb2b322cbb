// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryProtocols

/// The rules for getting messages from an autopilot: it is listened to, and asked only for messages that it doesn't
/// send unasked.
///
/// Contact is made by the first heartbeat of an autopilot, which is component 1 of its system. From then on only what that
/// one sends is taken; cameras, gimbals, ground stations and other vehicles on the line are passed over. What is sent is in
/// the version in which the autopilot speaks, from component 191 of its system, an onboard computer:
///
/// - REQUEST_MESSAGE for a message that has not come by itself, and SET_MESSAGE_INTERVAL where it knows only that;
/// - a heartbeat once a second, but only when no autopilot was heard for a while after opening, or one left a request
///   without an answer: some say nothing to nobody.
///
/// It is no ground station's heartbeat, so no autopilot takes its end for the loss of its ground station.
public struct MAVLinkExchange: Exchange {
  /// A message that is wanted.
  public typealias Request = MAVLinkRequest
  /// The message.
  public typealias Reply = MAVLinkMessage
  /// A message of the autopilot's, whether or not it was asked for.
  public typealias Event = MAVLinkMessage

  /// The component of a system that is its autopilot.
  public static let autopilotComponent: UInt8 = 1
  /// The component that sends what is sent here: an onboard computer.
  public static let ownComponent: UInt8 = 191

  /// Times that are kept.
  public struct Options: Sendable, Hashable {
    /// How long after opening a message may come by itself before it is asked for. The default is 1,200 ms.
    public var listening = Duration.milliseconds(1_200)
    /// How long after opening an autopilot may be silent before it is sent heartbeats. One of its own may be lost. The
    /// default is 2,500 ms.
    public var silence = Duration.milliseconds(2_500)
    /// How long after opening it may be silent before opening fails. The default is 8 s.
    public var contact = Duration.seconds(8)
    /// Time between two heartbeats. The default is 1 s.
    public var heartbeat = Duration.seconds(1)
    /// Time for an answer, not counting the time on the wire. The default is 700 ms.
    public var timeout = Duration.milliseconds(700)
    /// How often a request is sent. The default is 3.
    public var tries = 3
    /// Time between two messages that are asked for again and again. The default is 1 s.
    public var interval = Duration.seconds(1)
    /// Requests that may wait for their turn. The default is 64.
    public var queueLimit = 64

    /// As it is said at each.
    public init() {}
  }

  /// The autopilot that is listened to.
  public struct Autopilot: Sendable, Hashable {
    /// The number of its system.
    public var system: UInt8
    /// The version in which it spoke last.
    public var version: MAVLinkVersion
    /// Its first heartbeat.
    public var heartbeat: MAVLinkHeartbeat
    /// The number of its last frame.
    var sequence: UInt8
  }

  /// How frames are cut.
  public var codec = MAVLinkCodec()
  /// The counters so far. `unexpected` are frames of others on the line.
  public internal(set) var counters = LinkCounters()
  /// The autopilot that is listened to; nil until one was heard.
  public internal(set) var autopilot: Autopilot?
  /// Whether it is sent heartbeats.
  public internal(set) var isKeptAlive = false

  let label: String
  let options: Options
  var timing = LineTiming.instant
  var queue: RequestQueue<MAVLinkRequest>
  var attempt: Attempt?
  var phase = Phase.closed
  /// Who waits for the first heartbeat.
  var opening: RequestID?
  /// When messages that don't come by themselves may be asked for.
  var listeningEnd = MonotonicTime(nanoseconds: .min)
  var nextHeartbeat = MonotonicTime(nanoseconds: .max)
  var heartbeatCount = 0
  /// The number of the next frame that is sent.
  var sequence: UInt8 = 0
  var scratch = FrameBatch<MAVLinkHeader>()

  enum Phase: Sendable {
    case closed
    /// Until an autopilot is heard, or these times.
    case listening(silence: MonotonicTime, end: MonotonicTime)
    case ready
    case ended(AccessoryError)
  }

  /// A message that is waited for.
  struct Attempt: Sendable {
    enum Step: Sendable, Hashable {
      /// It may come by itself.
      case listening
      /// It was asked for once, so many times.
      case request(tries: Int)
      /// It was asked for again and again, so many times.
      case interval(tries: Int)
    }

    var id: RequestID
    var request: MAVLinkRequest
    var step: Step
    var deadline: MonotonicTime
    /// Whether the autopilot has said that it will send it.
    var isAccepted = false
  }

  /// Rules for a new opening; `label` is the accessory's name in errors.
  public init(label: String, options: Options = Options()) {
    self.label = label
    self.options = options
    queue = RequestQueue(limit: options.queueLimit)
  }

  /// Learns how long bytes take.
  public mutating func setTiming(_ timing: LineTiming) { self.timing = timing }

  /// When the autopilot must have been heard, or must be sent a heartbeat or a request; nil if there is nothing to do
  /// but listen.
  public var deadline: MonotonicTime? {
    var earliest = isKeptAlive ? nextHeartbeat : nil
    if case .listening(let silence, let end) = phase {
      let next = isKeptAlive ? end : min(silence, end)
      earliest = min(earliest ?? next, next)
    }
    if let attempt { earliest = min(earliest ?? attempt.deadline, attempt.deadline) }
    return earliest
  }

  /// Begins to listen. Nothing is sent yet.
  public mutating func begin(_ id: RequestID, now: MonotonicTime, effects: inout Effects<Reply, Event>) {
    if case .ended(let error) = phase { return effects.completions.append((id, .failure(error))) }
    opening = id
    listeningEnd = now + options.listening
    phase = .listening(silence: now + options.silence, end: now + options.contact)
  }

  /// Queues a request. It is completed with `busy` when too many wait.
  public mutating func submit(
    _ id: RequestID, _ request: Request, now: MonotonicTime, effects: inout Effects<Reply, Event>
  ) {
    switch phase {
    case .ended(let error): return effects.completions.append((id, .failure(error)))
    case .closed, .listening:
      let error = AccessoryError(.ioFailure, "\(label) was not heard yet")
      return effects.completions.append((id, .failure(error)))
    case .ready: break
    }
    queue.admit(id, request, for: label, counters: &counters, effects: &effects)
    startNext(now: now, effects: &effects)
  }

  /// Gives up a request. The message may still come, as an event.
  public mutating func cancel(_ id: RequestID, now: MonotonicTime, effects: inout Effects<Reply, Event>) {
    if attempt?.id == id {
      attempt = nil
    } else if opening == id {
      (opening, phase, isKeptAlive) = (nil, .closed, false)
    } else if !queue.remove(id) {
      return
    }
    effects.completions.append((id, .failure(AccessoryError(.cancelled, "a request to \(label) was cancelled"))))
    startNext(now: now, effects: &effects)
  }

  /// Fails everything that waits, and all that comes.
  public mutating func end(_ error: AccessoryError, effects: inout Effects<Reply, Event>) {
    if case .ended = phase { return }
    phase = .ended(error)
    for id in [opening, attempt?.id].compactMap({ $0 }) + queue.removeAll() {
      effects.completions.append((id, .failure(error)))
    }
    (opening, attempt, isKeptAlive) = (nil, nil, false)
    (effects.output, effects.messages) = ([], [])
  }
}
