// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols

extension FrameExchange {
  /// A request that is over and may still be answered.
  struct Past: Sendable {
    /// Its frame with its number.
    var frame: Message
    var wasAnswered: Bool
    /// Replies that can still come; nil: the number tells them from anything else, however many come.
    var replies: Int?
    /// When it is forgotten.
    var end: MonotonicTime
  }

  /// Sorts a frame: a reply, a refusal, a reply that comes too late, or an event.
  public mutating func receive(
    _ batch: FrameBatch<Codec.Header>, at index: Int, now: MonotonicTime, effects: inout Effects<Reply, Event>
  ) {
    guard batch.outcome(at: index) == .whole else { return }  // counted by the codec
    // Looked at in storage that is used again, and copied for who gets it.
    let header = batch.header(at: index)
    func kept() -> Message { Message(header, payload: batch.payloadBytes(at: index)) }
    batch.copyPayload(at: index, into: &looked)
    let message = Message(header, payload: looked)
    for place in outstanding.indices {
      let answer = matcher(message, outstanding[place].frame)
      guard answer != .unrelated else { continue }
      finish(outstanding.remove(at: place), answer, kept(), now: now, effects: &effects)
      return sendNext(now: now, effects: &effects)
    }
    if isLate(message, now: now) { return }
    counters.events += 1
    effects.tell(kept())
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

  // MARK: - What is over

  /// Requests that are remembered when they are over.
  private static var memory: Int { 16 }
  /// And for how long.
  private static var memoryTime: Duration { .seconds(10) }

  /// Remembers a request whose replies may still come: one for each time it was sent, minus those that came.
  mutating func remember(_ attempt: Attempt, wasAnswered: Bool, now: MonotonicTime) {
    let replies = attempt.sendings - (wasAnswered ? 1 : 0)
    guard numberer != nil || replies > 0 else { return }
    if past.count == Self.memory { past.removeFirst() }
    past.append(
      Past(
        frame: attempt.frame, wasAnswered: wasAnswered, replies: numberer == nil ? replies : nil,
        end: now + Self.memoryTime))
  }

  /// Whether a frame is a reply to a request that is over; counts it then.
  private mutating func isLate(_ message: Message, now: MonotonicTime) -> Bool {
    while let first = past.first, first.end <= now { past.removeFirst() }
    guard let place = past.firstIndex(where: { matcher(message, $0.frame) != .unrelated }) else { return false }
    if past[place].wasAnswered { counters.duplicates += 1 } else { counters.lateReplies += 1 }
    if let replies = past[place].replies {
      past[place].replies = replies - 1
      if replies == 1 { past.remove(at: place) }
    }
    return true
  }
}
