// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryLink
import AccessoryProtocols

extension EV3Exchange {
  /// Decodes a report. A message starts at the beginning of a report and may continue in the next ones; bytes after its
  /// end are padding. After an impossible length, the next report starts a new message.
  public mutating func decode(message: RawSpan, into batch: inout FrameBatch<LengthPrefix>) {
    let before = batch.count
    var start = 0
    while start < message.byteCount, batch.count == before {
      // The length at its start tells how much of the report belongs to the message, so that is decoded first.
      let end = min(start + (codec.missingByteCount ?? 1), message.byteCount)
      codec.decode(message.extracting(start..<end), into: &batch)
      start = end
    }
    if batch.count > before, batch.outcome(at: before) != .whole { codec.reset() }
  }

  /// Matches a reply to its command.
  public mutating func receive(
    _ batch: FrameBatch<LengthPrefix>, at index: Int, now: MonotonicTime,
    effects: inout Effects<EV3Message?, EV3Message>
  ) {
    guard batch.outcome(at: index) == .whole,
      let head = batch.withPayload(at: index, { EV3Message.head(of: $0) })
    else { return }  // counted by the codec
    let place = outstanding.firstIndex { $0.number == head.number }
    guard let place, head.type.isReply, head.type.isDirect == outstanding[place].request.type.isDirect else {
      stray(head.number, head.type)
      return
    }
    // The body is copied only now, when it is certainly used.
    guard let message = batch.withPayload(at: index, { try? EV3Message(decoding: $0) }) else { return }
    let attempt = outstanding.remove(at: place)
    counters.replies += 1
    history.record(attempt.number, .answered)
    // The brick reads in order, so it has read everything that was sent before this command.
    if attempt.sent.commands > confirmed.commands { confirmed = attempt.sent }
    switch attempt.purpose {
    case .opening(let id):
      phase = .ready
      effects.completions.append((id, .success(message)))
    case .request(let id): effects.completions.append((id, result(message, of: attempt)))
    case .marker: break
    }
    sendNext(now: now, effects: &effects)
  }

  private mutating func stray(_ number: UInt16, _ type: EV3MessageType) {
    switch history.fate(of: number) {
    case .answered? where type.isReply: counters.duplicates += 1
    case .givenUp? where type.isReply: counters.lateReplies += 1
    default: counters.unexpected += 1
    }
  }

  private mutating func result(_ message: EV3Message, of attempt: Attempt) -> Result<EV3Message?, AccessoryError> {
    switch message.type {
    case .directReply: return .success(message)
    case .directError:
      counters.refusals += 1
      return .failure(
        AccessoryError(.refused, "\(label) refuses a direct command: an instruction or an argument is wrong for it"))
    default: return systemResult(message, of: attempt)
    }
  }

  private mutating func systemResult(
    _ message: EV3Message, of attempt: Attempt
  ) -> Result<EV3Message?, AccessoryError> {
    guard let reply = try? EV3SystemReply(decoding: message.body), reply.code == attempt.request.body.first else {
      return .failure(
        AccessoryError(.badData, "\(label) sent an invalid reply to \(attempt.request.name)"))
    }
    if message.type == .systemReply, reply.status.isSuccess { return .success(message) }
    counters.refusals += 1
    return .failure(.refused(reply, by: label))
  }
}

extension AccessoryError {
  static func refused(_ reply: EV3SystemReply, by label: String) -> AccessoryError {
    AccessoryError(.refused, code: .refusal(reply.status.rawValue), "\(label) refuses: \(reply.status)")
  }

  /// The status with which an EV3 refused a system command; nil for other errors.
  public var ev3Status: EV3Status? {
    guard kind == .refused, case .refusal(let status)? = code else { return nil }
    return EV3Status(rawValue: status)
  }
}
