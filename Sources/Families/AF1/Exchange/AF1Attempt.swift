// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryLink
import AccessoryProtocols

extension AF1Exchange {
  /// A request that was sent, or that waits to be repeated.
  struct Attempt: Sendable {
    enum Purpose: Sendable {
      /// A caller's request.
      case request(RequestID)
      /// The first HELLO, which makes contact.
      case opening(RequestID)
      /// A HELLO that finds out whether the accessory has restarted.
      case probe

      var isProbe: Bool {
        if case .probe = self { true } else { false }
      }

      var isHello: Bool {
        if case .request = self { false } else { true }
      }

      var id: RequestID? {
        switch self {
        case .request(let id), .opening(let id): id
        case .probe: nil
        }
      }
    }

    var purpose: Purpose
    var request: AF1Request
    var header: AF1Header
    /// The size of the frame in bytes, the same for every try.
    var frameCount: Int { request.payload.count + AF1Exchange.overhead }
    /// How long to wait for the reply, counted from passing the frame to the transport.
    var replyTimeout: Duration
    var tries = 0
    /// When it was sent for the first time.
    var firstSent = MonotonicTime(nanoseconds: 0)
    var deadline = MonotonicTime(nanoseconds: 0)
    /// The accessory answered that it is busy; the request is repeated at the deadline.
    var isPausing = false
  }

  func helloRequest() -> AF1Request {
    var payload: [UInt8] = []
    AF1HelloRequest(nonce: nonce).encode(into: &payload)
    return AF1Request(.hello, payload: payload, isIdempotent: true, largestReply: 16)
  }

  mutating func helloAttempt(_ purpose: Attempt.Purpose) -> Attempt { attempt(helloRequest(), purpose) }

  private mutating func attempt(_ request: AF1Request, _ purpose: Attempt.Purpose) -> Attempt {
    let header = AF1Header.request(request.command, number: nextNumber)
    nextNumber &+= 1
    let count = request.payload.count + (request.largestReply ?? largestPayload) + 2 * Self.overhead
    return Attempt(
      purpose: purpose, request: request, header: header, replyTimeout: options.timeout + timing.time(of: count))
  }

  /// The size of a frame without its payload, in bytes.
  fileprivate static var overhead: Int { 14 }

  /// Whether the next request may be sent while others are unanswered.
  var hasRoom: Bool {
    outstanding.count < window(overlapping: queue.first?.request.mayOverlap ?? false)
      && !outstanding.contains { $0.purpose.isHello }
  }

  /// The time that the line needs for all unanswered requests, if all of them are still on their way.
  private var timeOnLine: Duration {
    if timing == .instant || outstanding.isEmpty { return .zero }
    return timing.time(
      of: outstanding.reduce(0) { $0 + $1.frameCount + ($1.request.largestReply ?? 0) + Self.overhead })
  }

  /// Restarts the timeouts of overlapping requests after a reply, because the accessory carries them out one after
  /// another.
  mutating func giveOthersTime(now: MonotonicTime) {
    for index in outstanding.indices where outstanding[index].request.mayOverlap && !outstanding[index].isPausing {
      outstanding[index].deadline = max(outstanding[index].deadline, now + outstanding[index].replyTimeout)
    }
  }

  /// Sends the queued requests that may be sent now.
  mutating func sendNext(now: MonotonicTime, effects: inout Effects<AF1Message, AF1Message>) {
    while hasRoom, nextSending <= now, let next = queue.popFirst() {
      counters.requests += 1
      nextSending = now + options.pacing.gap
      send(attempt(next.request, .request(next.id)), now: now, effects: &effects)
    }
  }

  /// Sends or repeats `attempt`, which must not be outstanding.
  mutating func send(
    _ attempt: Attempt, now: MonotonicTime, effects: inout Effects<AF1Message, AF1Message>
  ) {
    var attempt = attempt
    if attempt.tries > 0 { counters.retries += 1 } else { attempt.firstSent = now }
    attempt.tries += 1
    attempt.isPausing = false
    attempt.deadline = now + attempt.replyTimeout + timeOnLine
    // Encoding can't fail: the payload's length was checked against the accessory's limit, a 16-bit number like the
    // codec's.
    try? codec.encode(attempt.header, payload: attempt.request.payload, into: &effects.output)
    outstanding.append(attempt)
  }

  /// Removes and returns the outstanding attempt with this number.
  mutating func take(_ number: UInt16) -> Attempt? {
    outstanding.firstIndex { $0.header.number == number }.map { outstanding.remove(at: $0) }
  }

  /// Completes an attempt, which must not be outstanding any more, and sends the requests that may be sent now. If a
  /// probe failed, the requests that waited for it fail as well.
  mutating func finish(
    _ attempt: Attempt, _ result: Result<AF1Message, AccessoryError>, fate: NumberHistory.Fate, now: MonotonicTime,
    effects: inout Effects<AF1Message, AF1Message>
  ) {
    history.record(attempt.header.number, fate)
    if let id = attempt.purpose.id { effects.completions.append((id, result)) }
    if attempt.purpose.isProbe {
      for request in suspended {
        history.record(request.header.number, .givenUp)
        if let id = request.purpose.id { effects.completions.append((id, result)) }
      }
      suspended = []
    }
    sendNext(now: now, effects: &effects)
  }

  // MARK: - Time

  /// Repeats or fails requests whose reply is overdue.
  public mutating func timePassed(now: MonotonicTime, effects: inout Effects<AF1Message, AF1Message>) {
    let due = outstanding.filter { $0.deadline <= now }
    if due.contains(where: { !$0.isPausing }) {
      // The reply may be buffered behind the start of a frame that was never completed.
      codec.expire(into: &scratch)
      let found = scratch
      scratch.removeAll()
      for index in 0..<found.count { receive(found, at: index, now: now, effects: &effects) }
    }
    for number in due.map(\.header.number) {
      guard let attempt = take(number) else { continue }  // answered just now
      if attempt.deadline > now {
        outstanding.append(attempt)
      } else if attempt.isPausing {
        send(attempt, now: now, effects: &effects)
      } else {
        counters.timeouts += 1
        retry(attempt, now: now, effects: &effects)
      }
    }
    sendNext(now: now, effects: &effects)
  }

  /// Repeats, suspends or fails an attempt, which must not be outstanding any more.
  private mutating func retry(
    _ attempt: Attempt, now: MonotonicTime, effects: inout Effects<AF1Message, AF1Message>
  ) {
    if attempt.tries >= options.tries {
      let times = Amount.times(attempt.tries)
      let what = attempt.request.command.name
      let error = AccessoryError(
        .timedOut,
        "\(label) does not answer (\(what) was sent \(times)): is it an AF1 accessory, and is the baud rate right?")
      finish(attempt, .failure(error), fate: .givenUp, now: now, effects: &effects)
    } else if attempt.request.isIdempotent {
      send(attempt, now: now, effects: &effects)
    } else if hello == nil || !isRemembered(attempt, now: now) {
      finish(attempt, .failure(mayHaveRun), fate: .givenUp, now: now, effects: &effects)
    } else {
      suspended.append(attempt)
      if !outstanding.contains(where: { $0.purpose.isProbe }) {
        send(helloAttempt(.probe), now: now, effects: &effects)
      }
    }
  }

  /// Whether the accessory would still recognize a repeat: by the specification, it keeps its replies for 10 s.
  func isRemembered(_ attempt: Attempt, now: MonotonicTime) -> Bool {
    now - attempt.firstSent + attempt.replyTimeout < .seconds(10)
  }

  /// The error of a request that must not run twice, when it is unknown whether it ran.
  var mayHaveRun: AccessoryError {
    AccessoryError(
      .timedOut,
      "\(label) does not answer; the request may have run, and was not repeated because it must not run twice")
  }
}
