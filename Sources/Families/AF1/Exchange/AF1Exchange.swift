// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryLink
import AccessoryProtocols

/// The rules for requests and replies of the AF1 protocol. HELLO makes contact. Requests are sent at the pace that
/// `Options.pacing` sets, and are tried up to `Options.tries` times with the same number. A request that must not run
/// twice never does.
///
/// The accessory keeps its last replies, and sends one again when its request comes again. That makes a repeat safe
/// until the accessory restarts, or until another host sends HELLO, which makes it forget its replies. So before a
/// request that isn't idempotent is repeated, this host sends another HELLO with the nonce of the first one. The nonce
/// shows the accessory that the host is the same, so it keeps its replies. If the boot id in the answer has changed,
/// the accessory has restarted: the request fails as `disconnected`, and ran once or not at all.
public struct AF1Exchange: Exchange {
  /// The settings of the exchange.
  public struct Options: Sendable, Hashable {
    /// How often a request is sent before it fails as `timedOut`. The default is 3.
    public var tries = 3
    /// Timeout for a reply, not counting the time on the wire. The default is 500 ms.
    public var timeout = Duration.milliseconds(500)
    /// Pause after the accessory has answered that it is busy. The default is 100 ms.
    public var busyPause = Duration.milliseconds(100)
    /// When the next request may be sent. The default is `reply`.
    public var pacing = Pacing.reply
    /// The most requests that may wait to be sent. The default is 64.
    public var queueLimit = 64
    /// Which request fails with `busy` when the queue is full; the new one by default.
    public var overflow = Overflow.refuse

    /// The protocol's defaults.
    public init() {}
  }

  /// The codec of AF1 frames.
  public var codec = AF1Codec(maximumPayload: Int(UInt16.max))
  /// The counters so far.
  public internal(set) var counters = LinkCounters()
  /// The accessory's reply to HELLO; nil before it, and for accessories that don't know HELLO.
  public internal(set) var hello: AF1HelloReply?

  let options: Options
  let nonce: UInt32
  var label = "the accessory"
  var timing = LineTiming.instant
  var nextNumber: UInt16
  var history = NumberHistory()
  var eventNumbers = EventNumbers()
  var queue: RequestQueue<AF1Request>
  /// Requests that were sent and aren't answered yet, oldest first.
  var outstanding: [Attempt] = []
  /// Requests that wait for the reply to an outstanding HELLO, which shows whether the accessory has restarted.
  var suspended: [Attempt] = []
  /// When the next request may be sent, by the pacing's gap.
  var nextSending = MonotonicTime(nanoseconds: .min)
  var phase = Phase.closed
  var scratch = FrameBatch<AF1Header>()

  enum Phase: Sendable {
    case closed
    case ready
    case ended(AccessoryError)
  }

  /// Rules for a newly opened accessory. `firstNumber` and `nonce` are random by default, so that a late reply to an
  /// earlier process isn't taken for a reply to this process.
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

  /// The size of the largest payload that the accessory accepts, in bytes.
  public var largestPayload: Int { Int((hello ?? .assumedWithoutHello).largestPayload) }

  /// How many requests may be unanswered at a time: the smaller of the pacing's window and the accessory's window.
  /// Requests that may overlap use the accessory's window, unless the pacing has a gap.
  public func window(overlapping: Bool = false) -> Int {
    let allowed = Int((hello ?? .assumedWithoutHello).window)
    return overlapping && options.pacing == .reply ? allowed : min(options.pacing.window, allowed)
  }

  /// Sets how long bytes take on the line.
  public mutating func setTiming(_ timing: LineTiming) { self.timing = timing }

  /// When an outstanding request must be repeated or fail, or the next request may be sent.
  public var deadline: MonotonicTime? {
    var earliest = !queue.isEmpty && hasRoom ? nextSending : nil
    for attempt in outstanding { earliest = min(earliest ?? attempt.deadline, attempt.deadline) }
    return earliest
  }

  /// Sends HELLO.
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
    case .closed: return refuse(AccessoryError(.ioFailure, "\(label) can't accept requests before its link is opened"))
    case .ready: break
    }
    if request.payload.count > largestPayload {
      return refuse(
        AccessoryError(
          .misconfigured,
          "a payload of \(request.payload.count) bytes is too long for \(label), which takes at most \(largestPayload)")
      )
    }
    queue.admit(id, request, for: label, counters: &counters, effects: &effects)
    sendNext(now: now, effects: &effects)
  }

  /// Cancels a request. If it was sent, the accessory may have run it; its reply is dropped.
  public mutating func cancel(
    _ id: RequestID, now: MonotonicTime, effects: inout Effects<AF1Message, AF1Message>
  ) {
    let error = AccessoryError(.cancelled, "a request to \(label) was cancelled")
    if let index = outstanding.firstIndex(where: { $0.purpose.id == id }) {
      history.record(outstanding.remove(at: index).header.number, .givenUp)
    } else if let index = suspended.firstIndex(where: { $0.purpose.id == id }) {
      history.record(suspended.remove(at: index).header.number, .givenUp)
      // The HELLO is cancelled as well when all requests that it was sent for are cancelled.
      if suspended.isEmpty, let probe = outstanding.firstIndex(where: { $0.purpose.isProbe }) {
        history.record(outstanding.remove(at: probe).header.number, .givenUp)
      }
    } else if !queue.remove(id) {
      return
    }
    effects.completions.append((id, .failure(error)))
    sendNext(now: now, effects: &effects)
  }

  /// Fails all waiting requests, and every later one, with `error`.
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
