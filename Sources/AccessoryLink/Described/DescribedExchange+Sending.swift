// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDescriptions
import AccessoryProtocols

extension DescribedExchange {
  private func described(_ request: DescribedRequest) -> ProtocolDescription.Request {
    description.requests[request.index]
  }

  /// Sends the queued requests that may be sent now.
  mutating func sendNext(now: MonotonicTime, effects: inout Effects<Reply, Event>) {
    guard case .ready = phase else { return }
    isSpaceAwaited = false
    while attempt == nil, let turn = queue.turn(where: { sendingTime(of: $0) <= now }) {
      if effects.isBlocked {
        isSpaceAwaited = true
        return
      }
      guard let next = queue.take(turn) else { return }
      let (id, request) = (next.id, next.request)
      if next.tries == 0 { counters.requests += 1 } else { counters.retries += 1 }
      // After a repeated request had to wait, other units may have been asked, so the codec treats it as a new request.
      effects.write(codec.begin(request.bytes))
      let onWire = timing.time(of: request.bytes.count)
      guard described(request).reply != nil else {
        nextSending = now + onWire + gap
        effects.completions.append((id, .success(nil)))
        continue
      }
      attempt = Attempt(
        id: id, request: request, tries: next.tries + 1, sent: min(now, next.firstSent ?? now)...now,
        deadline: now + replyTimeout(for: request))
    }
  }

  /// When a queued request may be sent.
  func sendingTime(of waiting: UnitQueue.Entry) -> MonotonicTime {
    waiting.earliest.map { max($0, sendingTime(of: waiting.request)) } ?? sendingTime(of: waiting.request)
  }

  /// The earliest time at which a request may be sent: after the pause since the last traffic, and not while a late
  /// reply to another request could be taken for its reply.
  func sendingTime(of request: DescribedRequest) -> MonotonicTime {
    lateAnswers.end(before: request).map { max($0, nextSending) } ?? nextSending
  }

  /// Repeats a refused request, if the description says so and the request writes nothing.
  mutating func retriesRefused(
    _ waiting: Attempt, now: MonotonicTime, effects: inout Effects<Reply, Event>
  ) -> Bool {
    guard description.plan.retriesRefused, isFirst, waiting.id != nil, !described(waiting.request).isWrite,
      waiting.tries < max(2, description.plan.tries)
    else { return false }
    var waiting = waiting
    isFirst = false
    waiting.refusals += 1
    sendAgain(waiting, now: now, effects: &effects)
    return true
  }

  /// Repeats the current request and waits at least `pause` for its reply. Pieces of an earlier reply are dropped.
  private mutating func sendAgain(
    _ waiting: Attempt, atLeast pause: Duration = .zero, now: MonotonicTime, effects: inout Effects<Reply, Event>
  ) {
    var waiting = waiting
    waiting.tries += 1
    waiting.sent = waiting.sent.lowerBound...max(now, waiting.sent.lowerBound)
    waiting.pieces = [:]
    if !effects.isBlocked {
      counters.retries += 1
      effects.write(codec.begin(waiting.request.bytes, isRepeated: true))
    }
    waiting.deadline = now + max(replyTimeout(for: waiting.request), pause)
    attempt = waiting
  }

  /// The pause before the next request.
  var gap: Duration {
    guard description.modbus != nil else { return .nanoseconds(description.plan.gap) }
    let silence = Modbus.silence(nanosecondsPerByte: timing.perByte.inNanoseconds)
    return .nanoseconds(max(description.plan.gap, silence))
  }

  /// The timeout for a reply: the description's, plus the time on the wire.
  func replyTimeout(for request: DescribedRequest) -> Duration {
    .nanoseconds(description.requests[request.index].timeout ?? description.plan.timeout)
      + timing.time(of: request.bytes.count + replyLengths[request.index])
  }

  /// Completes the current request; the next one may be sent after the gap.
  mutating func finish(
    _ result: Result<Reply, AccessoryError>, now: MonotonicTime, effects: inout Effects<Reply, Event>
  ) {
    guard let done = attempt else { return }
    (attempt, isFirst) = (nil, false)
    nextSending = now + gap
    lateAnswers.note(done, result, now: now, replyTimeout: replyTimeout(for: done.request))
    if let id = done.id {
      effects.completions.append((id, result))
    } else {
      counters.lateReplies += 1
    }
    sendNext(now: now, effects: &effects)
  }

  // MARK: - Time

  /// Makes contact when the accessory has had time to wake up, repeats or fails requests whose reply is overdue, and
  /// sends the requests that may be sent now.
  public mutating func timePassed(now: MonotonicTime, effects: inout Effects<Reply, Event>) {
    if case .waking(let time) = phase, time <= now {
      phase = .ready
      if let id = opening { effects.completions.append((id, .success(nil))) }
      opening = nil
    }
    if let waiting = attempt, waiting.deadline <= now {
      if !waiting.pieces.isEmpty, waiting.pieceCount == nil {
        // This reply has no count of pieces; silence ends it.
        return complete(now: now, effects: &effects)
      }
      // The reply may be buffered behind the start of a frame that was never completed.
      codec.expire(into: &scratch)
      let found = scratch
      scratch.removeAll()
      for index in 0..<found.count { receive(found, at: index, now: now, effects: &effects) }
      tryAgain(now: now, effects: &effects)
    }
    sendNext(now: now, effects: &effects)
  }

  private mutating func tryAgain(now: MonotonicTime, effects: inout Effects<Reply, Event>) {
    guard let waiting = attempt, waiting.deadline <= now else { return }
    counters.timeouts += 1
    // The accessory may have carried out a write already, so writes aren't repeated.
    let tries = waiting.request.tries ?? description.plan.tries
    if let id = waiting.id, !described(waiting.request).isWrite, waiting.tries < tries {
      if queue.hasOthers(than: waiting.request.unit) {
        // Requests to other units are sent first.
        attempt = nil
        nextSending = now + gap
        queue.putBack(
          UnitQueue.Entry(
            id: id, request: waiting.request, tries: waiting.tries, firstSent: waiting.sent.lowerBound,
            earliest: now + .nanoseconds(description.plan.retryGap)))
        return
      }
      return sendAgain(waiting, atLeast: .nanoseconds(description.plan.retryGap), now: now, effects: &effects)
    }
    let times = Amount.times(waiting.tries)
    let error = AccessoryError(
      .timedOut,
      "\(label(of: waiting.request.unit)) does not answer \(waiting.request.name), which was sent \(times)"
        + (codec.mismatch.map { "; in the last frame from it \($0)" } ?? ""))
    finish(.failure(error), now: now, effects: &effects)
  }
}
