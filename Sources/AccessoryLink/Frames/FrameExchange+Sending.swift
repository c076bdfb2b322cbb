// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols

extension FrameExchange {
  /// An outstanding request.
  struct Attempt: Sendable {
    /// Nil when the request was cancelled and only its reply is awaited.
    var id: RequestID?
    var request: Request
    /// The frame with its number, and its encoded bytes, the same at every try.
    var frame: Message
    var bytes: [UInt8]
    /// Zero when the protocol has no numbers.
    var number: UInt32
    var isOpening: Bool
    /// Increases with every try.
    var serial: UInt64 = 0
    var tries = 0
    /// The number of tries that were written; at the others, the transport had no space.
    var sendings = 0
    var deadline = MonotonicTime(nanoseconds: 0)
  }

  /// How many requests may be unanswered at a time. Without numbers only one, because replies couldn't be matched to
  /// their requests.
  private var window: Int { numberWriter == nil ? 1 : min(options.pacing.window, numbers.count) }

  /// Whether one more request may be outstanding.
  var hasRoom: Bool { outstanding.count < window && !outstanding.contains(where: \.isOpening) }

  private func replyTimeout(for request: Request) -> Duration { request.timeout ?? options.timeout }

  /// Sends the queued requests that may be sent now.
  mutating func sendNext(now: MonotonicTime, effects: inout Effects<Reply, Event>) {
    guard case .ready = phase else { return }
    waitsForSpace = false
    while hasRoom, nextSending <= now, !queue.isEmpty {
      if effects.isBlocked {
        waitsForSpace = true
        return
      }
      guard let next = queue.popFirst() else { return }
      start(next.request, next.id, isOpening: false, now: now, effects: &effects)
    }
  }

  /// Sends a request for the first time.
  mutating func start(
    _ request: Request, _ id: RequestID, isOpening: Bool, now: MonotonicTime, effects: inout Effects<Reply, Event>
  ) {
    var frame = request.frame
    let number = numberWriter == nil ? 0 : freeNumber()
    numberWriter?(&frame, number)
    var bytes: [UInt8] = []
    do throws(FrameEncodingError) {
      try codec.encode(frame.header, payload: frame.payload, into: &bytes)
    } catch {
      let failure = AccessoryError(.misconfigured, "\(request.name) can't be sent to \(label): \(error)")
      return effects.completions.append((id, .failure(failure)))
    }
    nextNumber = follower(of: number)
    counters.requests += 1
    guard request.isAnswered else {
      nextSending = now + options.pacing.gap
      if isOpening { phase = .ready }
      effects.write(bytes)
      return effects.completions.append((id, .success(nil)))
    }
    let attempt = Attempt(id: id, request: request, frame: frame, bytes: bytes, number: number, isOpening: isOpening)
    send(attempt, now: now, effects: &effects)
  }

  private func follower(of number: UInt32) -> UInt32 {
    number >= numbers.upperBound ? numbers.lowerBound : number + 1
  }

  /// The next number that no outstanding request has. There is one, because there are fewer outstanding requests than
  /// numbers.
  private func freeNumber() -> UInt32 {
    var number = nextNumber
    while outstanding.contains(where: { $0.number == number }) { number = follower(of: number) }
    return number
  }

  /// Sends an attempt that isn't outstanding, for the first time or again. A repeat isn't written while the transport
  /// has no space, because it would only wait behind the first try.
  private mutating func send(_ attempt: Attempt, now: MonotonicTime, effects: inout Effects<Reply, Event>) {
    var attempt = attempt
    attempt.tries += 1
    if attempt.tries == 1 || !effects.isBlocked {
      if attempt.tries > 1 { counters.retries += 1 }
      attempt.sendings += 1
      effects.write(attempt.bytes)
    }
    lastSerial += 1
    attempt.serial = lastSerial
    nextSending = now + options.pacing.gap
    // Earlier requests that aren't answered yet take time on the line as well.
    let reply = min(max(0, options.largestReply), Self.largestReply)
    let onLine = outstanding.reduce(attempt.bytes.count + reply) { $0 + $1.bytes.count + reply }
    // A repeat keeps the gap as well.
    let replyTimeout = max(replyTimeout(for: attempt.request), options.pacing.gap)
    attempt.deadline = now + replyTimeout + timing.time(of: onLine)
    outstanding.append(attempt)
  }

  /// The largest value of `Options.largestReply` that is used.
  private static var largestReply: Int { 1 << 24 }

  /// Restarts the timeouts of requests that were sent after the answered one, because the accessory may carry out
  /// requests one after another. Timeouts of earlier requests go on, because a lost request must time out however many
  /// follow.
  mutating func giveTime(behind answered: Attempt, now: MonotonicTime) {
    for index in outstanding.indices where outstanding[index].serial > answered.serial {
      let later = now + replyTimeout(for: outstanding[index].request)
      outstanding[index].deadline = max(outstanding[index].deadline, later)
    }
  }

  // MARK: - Time

  /// Repeats or fails requests whose reply is overdue, then sends the requests that may be sent now.
  public mutating func timePassed(now: MonotonicTime, effects: inout Effects<Reply, Event>) {
    if outstanding.contains(where: { $0.deadline <= now }) {
      // The reply may be buffered behind the start of a frame that was never completed.
      codec.expire(into: &scratch)
      let found = scratch
      scratch.removeAll()
      for index in 0..<found.count { receive(found, at: index, now: now, effects: &effects) }
    }
    for serial in outstanding.filter({ $0.deadline <= now }).map(\.serial) {
      guard let place = outstanding.firstIndex(where: { $0.serial == serial }) else { continue }
      let attempt = outstanding.remove(at: place)
      counters.timeouts += 1
      if attempt.id != nil, attempt.request.isIdempotent, attempt.tries < options.tries {
        send(attempt, now: now, effects: &effects)
      } else {
        giveUp(attempt, now: now, effects: &effects)
      }
    }
    sendNext(now: now, effects: &effects)
  }

  private mutating func giveUp(_ attempt: Attempt, now: MonotonicTime, effects: inout Effects<Reply, Event>) {
    remember(attempt, wasAnswered: false, now: now)
    guard let id = attempt.id else { return }
    let times = Amount.times(attempt.sendings)
    let error = AccessoryError(.timedOut, "\(label) does not answer \(attempt.request.name), which was sent \(times)")
    effects.completions.append((id, .failure(error)))
  }
}
