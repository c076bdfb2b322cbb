// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import AccessoryProtocols
import DequeModule

/// How requests and replies of the AF1 protocol are exchanged: HELLO first, one request at a time, three tries with
/// the same number, and nothing run twice that must not be.
///
/// The accessory keeps its last replies and sends a kept one again when a request comes again. That makes a repeat
/// safe for as long as the accessory remembers; it forgets when it restarts, and when another host says HELLO. So
/// before a request that isn't idempotent is repeated, HELLO is said once more, with this opening's own nonce (which
/// tells the accessory that it is still us, and to keep what it remembers). If the boot id has changed meanwhile, the
/// request fails as `disconnected`: it ran once or not at all.
public struct AF1Exchange: Exchange {
  /// What can be set.
  public struct Options: Sendable, Hashable {
    /// Times that a request is sent before it fails as `timedOut`.
    public var tries = 3
    /// Time for an answer, without the time on the wire.
    public var timeout = Duration.milliseconds(500)
    /// Pause after the accessory said that it is busy.
    public var busyPause = Duration.milliseconds(100)
    /// Requests that may wait for their turn; one more fails as `busy`.
    public var queueLimit = 64

    /// The protocol's defaults.
    public init() {}
  }

  /// Frames of the AF1 format.
  public var codec = AF1Codec(maximumPayload: Int(UInt16.max))
  /// What has been counted so far.
  public internal(set) var counters = LinkCounters()
  /// What the accessory said to HELLO; nil before, and when it doesn't know HELLO.
  public internal(set) var hello: AF1HelloReply?

  let options: Options
  let nonce: UInt32
  var label = "the accessory"
  var timing = LineTiming.instant
  var nextNumber: UInt16
  var history = NumberHistory()
  var eventNumbers = EventNumbers()
  var queue: Deque<(id: RequestID, request: AF1Request)> = []
  /// The one request that is outstanding.
  var current: Attempt?
  /// The request that waits until `current`, a HELLO, has shown that the accessory is still the same.
  var suspended: Attempt?
  var phase = Phase.closed
  var scratch = FrameBatch<AF1Header>()

  enum Phase: Sendable {
    case closed
    case ready
    case ended(AccessoryError)
  }

  /// Rules for a new opening. `firstNumber` and `nonce` are random unless given, so that no answer to an earlier
  /// process is taken for one to this.
  public init(
    label: String, options: Options = Options(), firstNumber: UInt16 = .random(in: 0 ... .max),
    nonce: UInt32 = .random(in: 0 ... .max)
  ) {
    self.label = label
    self.options = options
    self.nonce = nonce
    nextNumber = firstNumber
  }

  /// Bytes of the largest payload that the accessory takes.
  public var largestPayload: Int { Int((hello ?? .assumedWithoutHello).largestPayload) }

  /// Learns how long bytes take.
  public mutating func setTiming(_ timing: LineTiming) { self.timing = timing }

  /// When the outstanding request is to be sent again or given up.
  public var deadline: MonotonicTime? { current?.deadline }

  /// Says HELLO.
  public mutating func begin(
    _ id: RequestID, now: MonotonicTime, effects: inout Effects<AF1Message, AF1Message>
  ) {
    send(helloAttempt(.opening(id)), now: now, effects: &effects)
  }

  /// Takes a request, behind those that wait.
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
    if queue.count >= options.queueLimit {
      return refuse(AccessoryError(.busy, "\(queue.count) requests wait for \(label) already: try again later"))
    }
    queue.append((id, request))
    sendNext(now: now, effects: &effects)
  }

  /// Gives a request up. If it was sent, the accessory may have run it; its reply will be dropped.
  public mutating func cancel(
    _ id: RequestID, now: MonotonicTime, effects: inout Effects<AF1Message, AF1Message>
  ) {
    let error = AccessoryError(.cancelled, "a request to \(label) was cancelled")
    if let index = queue.firstIndex(where: { $0.id == id }) {
      queue.remove(at: index)
    } else if let attempt = [current, suspended].compactMap({ $0 }).first(where: { $0.purpose.id == id }) {
      history.record(attempt.header.number, .givenUp)
      // A HELLO said for a request that is given up goes with it.
      if let current { history.record(current.header.number, .givenUp) }
      (current, suspended) = (nil, nil)
      sendNext(now: now, effects: &effects)
    } else {
      return
    }
    effects.completions.append((id, .failure(error)))
  }

  /// Fails everything that waits, and all that comes.
  public mutating func end(_ error: AccessoryError, effects: inout Effects<AF1Message, AF1Message>) {
    if case .ended = phase { return }
    phase = .ended(error)
    for id in [current, suspended].compactMap({ $0?.purpose.id }) + queue.map(\.id) {
      effects.completions.append((id, .failure(error)))
    }
    (current, suspended) = (nil, nil)
    queue = []
    effects.output = []
  }
}
