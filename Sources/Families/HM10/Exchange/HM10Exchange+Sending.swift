// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryLink
import AccessoryProtocols

extension HM10Exchange {
  /// The timeout for the reply to a command of this size.
  private func replyTimeout(_ byteCount: Int) -> Duration { options.timeout + timing.time(of: byteCount + 128) }

  /// Sends AT in the form at this place of `greetings`.
  mutating func greet(
    _ id: RequestID, _ place: Int, now: MonotonicTime, effects: inout Effects<HM10Answer, HM10Event>
  ) {
    guard let bytes = try? HM10Command.attention.encoded(for: Self.greetings[place]) else { return }
    if place > 0 { counters.retries += 1 } else { counters.requests += 1 }
    codec.disconnect()
    effects.write(bytes)
    phase = .detecting(id, next: place + 1, deadline: now + replyTimeout(bytes.count))
  }

  /// Sends the next queued command, if it may be sent now.
  mutating func sendNext(now: MonotonicTime, effects: inout Effects<HM10Answer, HM10Event>) {
    guard case .ready = phase, work == nil, !effects.isBlocked, nextSending <= now, let next = queue.popFirst() else {
      return
    }
    // Encoding can't fail: the command was encoded when it was submitted.
    guard let bytes = try? next.request.encoded(for: codec.dialect) else { return }
    counters.requests += 1
    work = Work(
      id: next.id, command: next.request, deadline: now + replyTimeout(bytes.count),
      scan: HM10Scan(limit: options.scanLimit))
    codec.isScanning = next.request.isScan
    if next.request == .attention, isConnected {
      work?.endsConnection = true
      codec.disconnect()
    }
    effects.write(bytes)
  }

  /// Sends queued data, unless the transport has no space.
  mutating func sendData(now: MonotonicTime, effects: inout Effects<HM10Answer, HM10Event>) {
    while !effects.isBlocked, let next = unsent.popFirst() {
      effects.write(next.request)
      dataEnd = max(now, dataEnd) + timing.time(of: next.request.count)
      nextSending = max(nextSending, dataEnd + options.pauseBehindData)
      effects.completions.append((next.id, .success(.sent)))
    }
  }

  /// Completes the current command; the next one may be sent after a pause.
  mutating func finish(
    _ result: Result<HM10Answer, AccessoryError>, now: MonotonicTime, effects: inout Effects<HM10Answer, HM10Event>
  ) {
    guard let work else { return }
    self.work = nil
    codec.isScanning = false
    var pause = options.gap
    if work.command.isRestart, case .success = result { pause = options.restart }
    nextSending = now + pause
    if let id = work.id { effects.completions.append((id, result)) }
    sendNext(now: now, effects: &effects)
  }

  // MARK: - Time

  /// Fails a command whose reply is overdue, and sends data and commands that may be sent now.
  public mutating func timePassed(now: MonotonicTime, effects: inout Effects<HM10Answer, HM10Event>) {
    if case .detecting(let id, var next, let deadline) = phase, deadline <= now {
      expire()
      counters.timeouts += 1
      if repeatsGreeting { next -= 1 }
      repeatsGreeting = false
      guard Self.greetings.indices.contains(next), now < contactLimit else {
        phase = .closed
        return effects.completions.append(
          (
            id,
            .failure(
              AccessoryError(
                .timedOut,
                "\(label) does not answer AT: is it an HM-10, and is the baud rate right (9600 by default)?"))
          ))
      }
      return greet(id, next, now: now, effects: &effects)
    }
    if let work {
      if let deadline, deadline <= now {
        expire()
        counters.timeouts += 1
        finish(.failure(silence(work)), now: now, effects: &effects)
      }
    }
    sendData(now: now, effects: &effects)
    sendNext(now: now, effects: &effects)
  }

  private mutating func expire() {
    var nothing = FrameBatch<HM10PieceKind>()
    codec.expire(into: &nothing)
  }

  private func silence(_ work: Work) -> AccessoryError {
    switch work.stage {
    case .asked: AccessoryError(.timedOut, "\(label) does not answer \(work.command.name)")
    case .scanning: AccessoryError(.timedOut, "\(label) did not report the end of its scan in time")
    case .connecting: AccessoryError(.timedOut, "\(label) did not report the result of connecting in time")
    }
  }
}
