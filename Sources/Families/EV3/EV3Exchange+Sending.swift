// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryLink
import AccessoryProtocols

extension EV3Exchange {
  /// Whether a command may be sent, given the number of unanswered ones.
  var hasRoom: Bool { outstanding.count < options.pacing.window }

  private var usesMarkers: Bool {
    if case .gap = options.pacing { false } else { true }
  }

  /// Whether one more command without a reply, of this size, may be sent.
  private func fits(_ byteCount: Int) -> Bool {
    let commands = sent.commands - confirmed.commands
    if commands == 0 || !usesMarkers { return true }
    return commands < max(1, options.unansweredCommands)
      && sent.bytes - confirmed.bytes + byteCount <= options.unansweredBytes
  }

  /// Sends the queued commands that may be sent now.
  mutating func sendNext(now: MonotonicTime, effects: inout Effects<EV3Message?, EV3Message>) {
    guard case .ready = phase else { return }
    while !effects.isBlocked, hasRoom, nextSending <= now, let next = queue.first {
      if next.request.type.wantsReply {
        send(next.request, for: .request(next.id), now: now, effects: &effects)
      } else if fits(next.request.body.count + 5) {
        sendUnanswered(next.request, effects: &effects)
        effects.completions.append((next.id, .success(nil)))
      } else {
        // At most one marker is outstanding, and while it is, nothing else is sent.
        if !outstanding.contains(where: \.isMarker) { send(.marker, for: .marker, now: now, effects: &effects) }
        return
      }
      _ = queue.popFirst()
      nextSending = now + options.pacing.gap
    }
  }

  private mutating func sendUnanswered(
    _ request: EV3Request, effects: inout Effects<EV3Message?, EV3Message>
  ) {
    _ = write(request, effects: &effects)
    sent.commands += 1
    sent.bytes += request.body.count + 5
  }

  /// Sends a command that has a reply.
  mutating func send(
    _ request: EV3Request, for purpose: Attempt.Purpose, tries: Int = 1, now: MonotonicTime,
    effects: inout Effects<EV3Message?, EV3Message>
  ) {
    let number = write(request, effects: &effects)
    let replyTimeout =
      (request.timeout ?? options.timeout) + timing.time(of: request.body.count + 5 + EV3Limits.message)
    outstanding.append(
      Attempt(
        purpose: purpose, number: number, request: request, tries: tries, deadline: now + replyTimeout, sent: sent))
  }

  private mutating func write(_ request: EV3Request, effects: inout Effects<EV3Message?, EV3Message>) -> UInt16 {
    let number = nextNumber
    repeat { nextNumber &+= 1 } while outstanding.contains { $0.number == nextNumber }
    counters.requests += 1
    // Encoding can't fail: the length was checked when the command was submitted.
    let message = EV3Message(number: number, type: request.type, body: request.body)
    if let bytes = try? message.encoded() { effects.write(bytes) }
    return number
  }

  // MARK: - Time

  /// Fails commands whose reply is overdue, and sends those that may be sent now.
  public mutating func timePassed(now: MonotonicTime, effects: inout Effects<EV3Message?, EV3Message>) {
    let due = outstanding.filter { $0.deadline <= now }
    if !due.isEmpty {
      // The decoder may be waiting for bytes because of a damaged length. After this, the next byte starts a new
      // message.
      var nothing = FrameBatch<LengthPrefix>()
      codec.expire(into: &nothing)
    }
    for attempt in due {
      outstanding.removeAll { $0.number == attempt.number }
      counters.timeouts += 1
      history.record(attempt.number, .givenUp)
      let error = AccessoryError(.timedOut, "\(label) does not answer \(attempt.request.name)")
      switch attempt.purpose {
      case .opening(let id) where attempt.tries < options.tries:
        counters.retries += 1
        send(.marker, for: .opening(id), tries: attempt.tries + 1, now: now, effects: &effects)
      case .opening(let id):
        let error = AccessoryError(
          .timedOut, "\(label) does not answer: is it an EV3, with its firmware started and, on Bluetooth, paired?")
        effects.completions.append((id, .failure(error)))
      case .request(let id): effects.completions.append((id, .failure(error)))
      case .marker:
        // The brick doesn't answer. The queued commands fail as well, because otherwise each would wait for a timeout
        // of its own.
        for id in queue.removeAll() { effects.completions.append((id, .failure(error))) }
      }
    }
    sendNext(now: now, effects: &effects)
  }
}

extension EV3Exchange.Attempt {
  var isMarker: Bool {
    if case .marker = purpose { true } else { false }
  }
}
