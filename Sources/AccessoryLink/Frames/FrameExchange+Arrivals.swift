// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols

extension FrameExchange {
  /// A request that is over and that the accessory may still answer.
  struct Finished: Sendable {
    /// The frame that was sent, with its number.
    var frame: Message
    var wasAnswered: Bool
    /// How many replies may still come. Nil when requests have numbers: the number identifies any number of late
    /// replies.
    var replies: Int?
    /// When the request is forgotten.
    var end: MonotonicTime
  }

  /// Handles a frame: a reply, a refusal, a late reply, or an event.
  public mutating func receive(
    _ batch: FrameBatch<Codec.Header>, at index: Int, now: MonotonicTime, effects: inout Effects<Reply, Event>
  ) {
    guard batch.outcome(at: index) == .whole else { return }  // counted by the codec
    // The payload is matched in a reused buffer, and copied only for its receiver.
    let header = batch.header(at: index)
    func kept() -> Message { Message(header, payload: batch.payloadBytes(at: index)) }
    batch.copyPayload(at: index, into: &reusedPayload)
    let message = Message(header, payload: reusedPayload)
    for place in outstanding.indices {
      let answer = matcher(message, outstanding[place].frame)
      guard answer != .unrelated else { continue }
      finish(outstanding.remove(at: place), answer, kept(), now: now, effects: &effects)
      return sendNext(now: now, effects: &effects)
    }
    if isLate(message, now: now) { return }
    counters.events += 1
    effects.addEvent(kept())
  }

  private mutating func finish(
    _ attempt: Attempt, _ answer: FrameAnswer, _ message: Message, now: MonotonicTime,
    effects: inout Effects<Reply, Event>
  ) {
    remember(attempt, wasAnswered: true, now: now)
    giveTime(behind: attempt, now: now)
    guard let id = attempt.id else {
      counters.lateReplies += 1
      return
    }
    counters.replies += 1
    if case .refusal(let reason, let meaning) = answer {
      counters.refusals += 1
      let error = AccessoryError(
        .refused, code: reason.map { .refusal($0) }, "\(label) refuses \(attempt.request.name): \(meaning)")
      return effects.completions.append((id, .failure(error)))
    }
    if attempt.isOpening { phase = .ready }
    effects.completions.append((id, .success(message)))
  }

  // MARK: - Finished requests

  /// The number of finished requests that are remembered.
  private static var memory: Int { 16 }
  /// How long a finished request is remembered.
  private static var memoryTime: Duration { .seconds(10) }

  /// Remembers a request whose replies may still come: one for each time it was sent, minus those that came.
  mutating func remember(_ attempt: Attempt, wasAnswered: Bool, now: MonotonicTime) {
    let replies = attempt.sendings - (wasAnswered ? 1 : 0)
    guard numberWriter != nil || replies > 0 else { return }
    if finished.count == Self.memory { finished.removeFirst() }
    finished.append(
      Finished(
        frame: attempt.frame, wasAnswered: wasAnswered, replies: numberWriter == nil ? replies : nil,
        end: now + Self.memoryTime))
  }

  /// Whether a frame is a reply to a finished request. Counts it if it is.
  private mutating func isLate(_ message: Message, now: MonotonicTime) -> Bool {
    while let first = finished.first, first.end <= now { finished.removeFirst() }
    guard let place = finished.firstIndex(where: { matcher(message, $0.frame) != .unrelated }) else { return false }
    if finished[place].wasAnswered { counters.duplicates += 1 } else { counters.lateReplies += 1 }
    if let replies = finished[place].replies {
      finished[place].replies = replies - 1
      if replies == 1 { finished.remove(at: place) }
    }
    return true
  }
}
