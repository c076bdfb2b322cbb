// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryProtocols

/// The rules for requests and replies of the AF1 protocol: HELLO first, requests at the agreed pace, three tries with
/// the same number. A request that must not run twice never does.
///
/// The accessory keeps its last replies and sends a kept one again when a request comes again. That makes a repeat safe
/// for as long as the accessory remembers; it forgets when it restarts, and when another host says HELLO. So before a
/// request that isn't idempotent is repeated, HELLO is said once more, with this opening's own nonce (which tells the
/// accessory that the host is the same, so it keeps its replies). If the boot id has changed meanwhile, the request
/// fails as `disconnected`: it ran once or not at all.
public struct AF1Exchange: Exchange {
  /// What can be set.
  public struct Options: Sendable, Hashable {
    /// Times that a request is sent before it fails as `timedOut`. The default is 3.
    public var tries = 3
    /// Time for an answer, not counting the time on the wire. The default is 500 ms.
    public var timeout = Duration.milliseconds(500)
    /// Pause after the accessory said that it is busy. The default is 100 ms.
    public var busyPause = Duration.milliseconds(100)
    /// When the next request may be sent. The default is `reply`.
    public var pacing = Pacing.reply
    /// Requests that may wait for their turn. The default is 64.
    public var queueLimit = 64
    /// Which request fails with `busy` when too many wait; the new one by default.
    public var overflow = Overflow.refuse

    /// The protocol's defaults.
    public init() {}
  }

  /// Frames of the AF1 format.
  public var codec = AF1Codec(maximumPayload: Int(UInt16.max))
  /// The counters so far.
  public internal(set) var counters = LinkCounters()
  /// The accessory's answer to HELLO; nil before it, and for accessories that don't know HELLO.
  public internal(set) var hello: AF1HelloReply?

  let options: Options
  let nonce: UInt32
  var label = "the accessory"
  var timing = LineTiming.instant
  var nextNumber: UInt16
  var history = NumberHistory()
  var eventNumbers = EventNumbers()
  var queue: RequestQueue<AF1Request>
  /// Requests that were sent and not answered yet, oldest first.
  var outstanding: [Attempt] = []
  /// Requests that wait for the answer to an outstanding HELLO, which shows whether the accessory has restarted.
  var suspended: [Attempt] = []
  /// When the next new request may be sent, by the pacing's gap.
  var nextSending = MonotonicTime(nanoseconds: .min)
  var phase = Phase.closed
  var scratch = FrameBatch<AF1Header>()

  enum Phase: Sendable {
    case closed
    case ready
    case ended(AccessoryError)
  }

  /// Rules for a new opening. `firstNumber` and `nonce` are random by default, so that no late answer to an earlier
  /// process is taken for one to this process.
  public init(
    label: String, options: Options = Options(), firstNumber: UInt16 = .random(in: 0 ... .max),
    nonce: UInt32 = .random(in: 0 ... .max)
  ) {
    self.label = label
    self.options = options
    self.nonce = nonce
    nextNumber = firstNumber
    queue = RequestQueue(limit: options.queueLimit, overflow: options.overflow)
  }

  /// Bytes of the largest payload that the accessory takes.
  public var largestPayload: Int { Int((hello ?? .assumedWithoutHello).largestPayload) }

  /// How many requests may be unanswered at a time: the smaller one of the pacing's window and the accessory's.
  /// Requests that may overlap use the accessory's window, unless the pacing has a gap.
  public func window(overlapping: Bool = false) -> Int {
    let allowed = Int((hello ?? .assumedWithoutHello).window)
    return overlapping && options.pacing == .reply ? allowed : min(options.pacing.window, allowed)
  }

  /// Learns how long bytes take.
  public mutating func setTiming(_ timing: LineTiming) { self.timing = timing }

  /// When an outstanding request must be repeated or given up, or the next request may be sent.
  public var deadline: MonotonicTime? {
    var earliest = !queue.isEmpty && hasRoom ? nextSending : nil
    for attempt in outstanding { earliest = min(earliest ?? attempt.deadline, attempt.deadline) }
    return earliest
  }

  /// Says HELLO.
  public mutating func begin(
    _ id: RequestID, now: MonotonicTime, effects: inout Effects<AF1Message, AF1Message>
  ) {
    send(helloAttempt(.opening(id)), now: now, effects: &effects)
  }

  /// Queues a request.
  public mutating func submit(
    _ id: RequestID, _ request: AF1Request, now: MonotonicTime, effects: inout Effects<AF1Message, AF1Message>
  ) {
    func refuse(_ error: AccessoryError) { effects.completions.append((id, .failure(error))) }
    switch phase {
    case .ended(let error): return refuse(error)
    case .closed: return refuse(AccessoryError(.ioFailure, "\(label) has not been asked for contact"))
    case .ready: break
    }
    if request.payload.count > largestPayload {
      return refuse(
        AccessoryError(
          .misconfigured,
          "\(request.payload.count) bytes are too many for \(label): it takes at most \(largestPayload) at a time"))
    }
    queue.admit(id, request, for: label, counters: &counters, effects: &effects)
    sendNext(now: now, effects: &effects)
  }

  /// Gives up a request. If it was sent, the accessory may have run it; its reply will be dropped.
  public mutating func cancel(
    _ id: RequestID, now: MonotonicTime, effects: inout Effects<AF1Message, AF1Message>
  ) {
    let error = AccessoryError(.cancelled, "a request to \(label) was cancelled")
    if let index = outstanding.firstIndex(where: { $0.purpose.id == id }) {
      history.record(outstanding.remove(at: index).header.number, .givenUp)
    } else if let index = suspended.firstIndex(where: { $0.purpose.id == id }) {
      history.record(suspended.remove(at: index).header.number, .givenUp)
      // A HELLO is given up as well, when all requests that it was sent for are given up.
      if suspended.isEmpty, let probe = outstanding.firstIndex(where: { $0.purpose.isProbe }) {
        history.record(outstanding.remove(at: probe).header.number, .givenUp)
      }
    } else if !queue.remove(id) {
      return
    }
    effects.completions.append((id, .failure(error)))
    sendNext(now: now, effects: &effects)
  }

  /// Fails everything that waits, and all that comes.
  public mutating func end(_ error: AccessoryError, effects: inout Effects<AF1Message, AF1Message>) {
    if case .ended = phase { return }
    phase = .ended(error)
    for id in (outstanding + suspended).compactMap(\.purpose.id) + queue.removeAll() {
      effects.completions.append((id, .failure(error)))
    }
    (outstanding, suspended) = ([], [])
    effects.output = []
  }
}
