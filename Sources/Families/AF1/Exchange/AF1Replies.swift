// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryLink
import AccessoryProtocols

extension AF1Exchange {
  /// Handles a frame: a reply, a refusal, an event, or an unexpected frame.
  public mutating func receive(
    _ batch: FrameBatch<AF1Header>, at index: Int, now: MonotonicTime,
    effects: inout Effects<AF1Message, AF1Message>
  ) {
    let header = batch.header(at: index)
    switch batch.outcome(at: index) {
    case .whole: break
    case .payloadDamaged: return damaged(header, now: now, effects: &effects)
    case .otherVersion: return otherVersion(header, now: now, effects: &effects)
    case .tooLong, .malformed: return  // impossible: the codec never reports these
    }
    // The payload is copied only when it is used.
    func message() -> AF1Message {
      AF1Message(command: header.command, number: header.number, payload: batch.payloadBytes(at: index))
    }
    if header.flags.contains(.event) {
      event(header.number, message(), effects: &effects)
    } else if !header.flags.contains(.reply) {
      counters.unexpected += 1
    } else if let attempt = takeAnswered(by: header) {
      counters.replies += 1
      if attempt.request.mayOverlap { giveOthersTime(now: now) }
      if header.flags.contains(.refused) {
        refused(attempt, message(), now: now, effects: &effects)
      } else {
        answered(attempt, message(), now: now, effects: &effects)
      }
    } else {
      stray(header)
    }
  }

  private func isAnswer(_ header: AF1Header, to attempt: Attempt) -> Bool {
    header.number == attempt.header.number && header.command == attempt.header.command
      && header.flags.contains(.reply)
  }

  /// Removes and returns the outstanding attempt that `header` answers.
  private mutating func takeAnswered(by header: AF1Header) -> Attempt? {
    outstanding.contains { isAnswer(header, to: $0) } ? take(header.number) : nil
  }

  private mutating func stray(_ header: AF1Header) {
    switch history.fate(of: header.number) {
    case .answered?: counters.duplicates += 1
    case .givenUp?: counters.lateReplies += 1
    case nil:
      // A reply to a request that waits for a probe is dropped as late; the request will be repeated.
      if suspended.contains(where: { isAnswer(header, to: $0) }) {
        counters.lateReplies += 1
      } else {
        counters.unexpected += 1
      }
    }
  }

  private mutating func event(
    _ number: UInt16, _ message: @autoclosure () -> AF1Message, effects: inout Effects<AF1Message, AF1Message>
  ) {
    switch eventNumbers.place(number) {
    case .double:
      counters.duplicates += 1
      return
    case .new(let missing): counters.gaps += UInt64(missing)
    case .restarted: break
    }
    counters.events += 1
    effects.addEvent(message())
  }

  // MARK: - Answers

  private mutating func answered(
    _ attempt: Attempt, _ message: AF1Message, now: MonotonicTime,
    effects: inout Effects<AF1Message, AF1Message>
  ) {
    if attempt.purpose.isHello {
      greeted(attempt, message, now: now, effects: &effects)
    } else {
      finish(attempt, .success(message), fate: .answered, now: now, effects: &effects)
    }
  }

  private mutating func greeted(
    _ attempt: Attempt, _ message: AF1Message, now: MonotonicTime,
    effects: inout Effects<AF1Message, AF1Message>
  ) {
    let reply: AF1HelloReply
    do throws(AF1PayloadError) {
      reply = try AF1HelloReply(decoding: message.payload)
    } catch {
      let error = AccessoryError(.badData, "\(label) sent an invalid reply to HELLO: \(error)")
      return finish(attempt, .failure(error), fate: .answered, now: now, effects: &effects)
    }
    let before = hello
    hello = reply
    if case .opening = attempt.purpose { phase = .ready }
    if attempt.purpose.isProbe, before?.bootID != reply.bootID {
      return restarted(attempt, now: now, effects: &effects)
    }
    let again = suspended
    suspended = []
    for request in again {
      if isRemembered(request, now: now) {
        send(request, now: now, effects: &effects)
      } else {
        finish(request, .failure(mayHaveRun), fate: .givenUp, now: now, effects: &effects)
      }
    }
    finish(attempt, .success(message), fate: .answered, now: now, effects: &effects)
  }

  /// Handles a restart. The accessory has forgotten which requests it ran, so requests that must not run twice aren't
  /// repeated.
  private mutating func restarted(
    _ probe: Attempt, now: MonotonicTime, effects: inout Effects<AF1Message, AF1Message>
  ) {
    counters.restarts += 1
    eventNumbers.forget()
    suspended += outstanding.filter { !$0.request.isIdempotent }
    outstanding.removeAll { !$0.request.isIdempotent }
    let error = AccessoryError(
      .disconnected, "\(label) restarted during the request, which ran once or not at all: check the accessory's state")
    finish(probe, .failure(error), fate: .answered, now: now, effects: &effects)
  }

  private mutating func refused(
    _ attempt: Attempt, _ message: AF1Message, now: MonotonicTime,
    effects: inout Effects<AF1Message, AF1Message>
  ) {
    counters.refusals += 1
    let reason = AF1RefusalReason(rawValue: message.payload.first ?? 0)
    if case .opening = attempt.purpose, reason == .unknownCommand {
      // Firmware from before HELLO existed refuses it, and is used all the same: see
      // `AF1HelloReply.assumedWithoutHello`.
      phase = .ready
      return finish(attempt, .success(message), fate: .answered, now: now, effects: &effects)
    }
    if attempt.tries < options.tries {
      // The accessory didn't run the request, so the same number is safe.
      if reason == .payloadDamaged { return send(attempt, now: now, effects: &effects) }
      if reason == .busy {
        var pausing = attempt
        pausing.isPausing = true
        pausing.deadline = now + options.busyPause
        return outstanding.append(pausing)
      }
    }
    let error = AccessoryError(
      .refused, code: .refusal(reason.rawValue), "\(label) refuses \(message.command.name): \(reason)")
    finish(attempt, .failure(error), fate: .answered, now: now, effects: &effects)
  }

  // MARK: - Damaged frames

  /// Handles a frame with an intact header and a damaged payload. If it is the reply to a request, the request is
  /// repeated at once.
  private mutating func damaged(
    _ header: AF1Header, now: MonotonicTime, effects: inout Effects<AF1Message, AF1Message>
  ) {
    guard let attempt = takeAnswered(by: header) else { return }
    if attempt.request.isIdempotent, !attempt.isPausing, attempt.tries < options.tries {
      send(attempt, now: now, effects: &effects)
    } else {
      outstanding.append(attempt)
    }
  }

  private mutating func otherVersion(
    _ header: AF1Header, now: MonotonicTime, effects: inout Effects<AF1Message, AF1Message>
  ) {
    guard let attempt = takeAnswered(by: header) else { return }
    let error = AccessoryError(
      .unsupported,
      "\(label) speaks AF1 version \(header.version), this program version \(AF1Header.currentVersion): update one")
    finish(attempt, .failure(error), fate: .answered, now: now, effects: &effects)
  }
}
