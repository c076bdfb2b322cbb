// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryLink
import AccessoryProtocols

/// The rules for getting messages from an autopilot: the exchange listens, and asks only for messages that the
/// autopilot doesn't send unasked.
///
/// The first heartbeat of an autopilot, which is component 1 of its system, makes contact. From then on, only messages
/// of that autopilot are used; those of cameras, gimbals, ground stations and other vehicles on the line are ignored.
/// The exchange sends the following messages as component 191 of the autopilot's system, an onboard computer, in the
/// version of MAVLink that the autopilot uses:
///
/// - REQUEST_MESSAGE for a message that hasn't come unasked, and SET_MESSAGE_INTERVAL if the autopilot supports only
///   that;
/// - a heartbeat once a second, but only after no autopilot was heard for a while after opening, or after a request had
///   no reply, because some autopilots send nothing before they have received something.
///
/// These are not heartbeats of a ground station, so when they end, no autopilot concludes that it has lost its ground
/// station.
public struct MAVLinkExchange: Exchange {
  /// A request for a message.
  public typealias Request = MAVLinkRequest
  /// The requested message.
  public typealias Reply = MAVLinkMessage
  /// A message from the autopilot, whether or not it was requested.
  public typealias Event = MAVLinkMessage

  /// The component id of an autopilot.
  public static let autopilotComponent: UInt8 = 1
  /// The component id of this program: an onboard computer.
  public static let ownComponent: UInt8 = 191

  /// The settings of the exchange.
  public struct Options: Sendable, Hashable {
    /// How long after opening a message may come unasked before it is requested. The default is 1,200 ms.
    public var listening = Duration.milliseconds(1_200)
    /// How long after opening an autopilot may be silent before heartbeats are sent to it. The time allows for one lost
    /// heartbeat. The default is 2,500 ms.
    public var silence = Duration.milliseconds(2_500)
    /// How long after opening an autopilot may be silent before opening fails. The default is 8 s.
    public var contact = Duration.seconds(8)
    /// Interval between two heartbeats that are sent. The default is 1 s.
    public var heartbeat = Duration.seconds(1)
    /// Timeout for a reply, not counting the time on the wire. The default is 700 ms.
    public var timeout = Duration.milliseconds(700)
    /// How often a request is sent before it fails as `timedOut`. The default is 3.
    public var tries = 3
    /// Interval at which the autopilot is asked to send a message repeatedly. The default is 1 s.
    public var interval = Duration.seconds(1)
    /// The most requests that may wait to be sent. The default is 64.
    public var queueLimit = 64

    /// The defaults.
    public init() {}
  }

  /// The autopilot that made contact.
  public struct Autopilot: Sendable, Hashable {
    /// Its system id.
    public var system: UInt8
    /// The version of MAVLink in its last frame.
    public var version: MAVLinkVersion
    /// Its first heartbeat.
    public var heartbeat: MAVLinkHeartbeat
    /// The sequence number of its last frame.
    var sequence: UInt8
  }

  /// The codec that finds frames.
  public var codec = MAVLinkCodec()
  /// The counters so far. `unexpected` counts frames of other components on the line.
  public internal(set) var counters = LinkCounters()
  /// The autopilot that made contact; nil until one was heard.
  public internal(set) var autopilot: Autopilot?
  /// Whether heartbeats are sent.
  public internal(set) var isKeptAlive = false

  let label: String
  let options: Options
  var timing = LineTiming.instant
  var queue: RequestQueue<MAVLinkRequest>
  var attempt: Attempt?
  var phase = Phase.closed
  /// The opening request, which waits for the first heartbeat.
  var opening: RequestID?
  /// When messages that haven't come unasked may be requested.
  var listeningEnd = MonotonicTime(nanoseconds: .min)
  var nextHeartbeat = MonotonicTime(nanoseconds: .max)
  var heartbeatCount = 0
  /// The sequence number of the next frame that is sent.
  var sequence: UInt8 = 0
  var scratch = FrameBatch<MAVLinkHeader>()

  enum Phase: Sendable {
    case closed
    /// Waiting for an autopilot's heartbeat. At `silence`, heartbeats are sent; at `end`, opening fails.
    case listening(silence: MonotonicTime, end: MonotonicTime)
    case ready
    case ended(AccessoryError)
  }

  /// A message that is waited for.
  struct Attempt: Sendable {
    enum Step: Sendable, Hashable {
      /// The message may come unasked.
      case listening
      /// The message was requested once; the command was sent this many times.
      case request(tries: Int)
      /// The message was requested at an interval; the command was sent this many times.
      case interval(tries: Int)
    }

    var id: RequestID
    var request: MAVLinkRequest
    var step: Step
    var deadline: MonotonicTime
    /// Whether the autopilot has accepted the command.
    var isAccepted = false
  }

  /// Rules for a newly opened accessory; `label` is its name in error messages.
  public init(label: String, options: Options = Options()) {
    self.label = label
    self.options = options
    queue = RequestQueue(limit: options.queueLimit)
  }

  /// Sets how long bytes take on the line.
  public mutating func setTiming(_ timing: LineTiming) { self.timing = timing }

  /// When the autopilot must have been heard, a heartbeat must be sent, or a request must be repeated or fail; nil if
  /// there is nothing to do but listen.
  public var deadline: MonotonicTime? {
    var earliest = isKeptAlive ? nextHeartbeat : nil
    if case .listening(let silence, let end) = phase {
      let next = isKeptAlive ? end : min(silence, end)
      earliest = min(earliest ?? next, next)
    }
    if let attempt { earliest = min(earliest ?? attempt.deadline, attempt.deadline) }
    return earliest
  }

  /// Starts to listen. Nothing is sent yet.
  public mutating func begin(_ id: RequestID, now: MonotonicTime, effects: inout Effects<Reply, Event>) {
    if case .ended(let error) = phase { return effects.completions.append((id, .failure(error))) }
    opening = id
    listeningEnd = now + options.listening
    phase = .listening(silence: now + options.silence, end: now + options.contact)
  }

  /// Queues a request. It fails with `busy` when too many wait.
  public mutating func submit(
    _ id: RequestID, _ request: Request, now: MonotonicTime, effects: inout Effects<Reply, Event>
  ) {
    switch phase {
    case .ended(let error): return effects.completions.append((id, .failure(error)))
    case .closed, .listening:
      let error = AccessoryError(.ioFailure, "\(label) has not sent a heartbeat yet")
      return effects.completions.append((id, .failure(error)))
    case .ready: break
    }
    queue.admit(id, request, for: label, counters: &counters, effects: &effects)
    startNext(now: now, effects: &effects)
  }

  /// Cancels a request. The message may still come, as an event.
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

  /// Fails all waiting requests, and every later one, with `error`.
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
