// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryLink
import AccessoryProtocols

extension MAVLinkExchange {
  /// Handles a frame: the autopilot's first heartbeat, a requested message, the result of a command, or an event.
  public mutating func receive(
    _ batch: FrameBatch<MAVLinkHeader>, at index: Int, now: MonotonicTime, effects: inout Effects<Reply, Event>
  ) {
    guard batch.outcome(at: index) == .whole else { return }  // counted by the codec
    let header = batch.header(at: index)
    func message() -> MAVLinkMessage? {
      batch.withPayload(at: index) { MAVLinkMessage(header.message, payload: $0) }
    }
    if autopilot == nil, !learn(header, message(), effects: &effects) {
      counters.unexpected += 1
      return
    }
    guard let known = autopilot, header.system == known.system, header.component == Self.autopilotComponent else {
      counters.unexpected += 1
      return
    }
    follow(header, known)
    let isAwaited = attempt.map { $0.request.message == header.message } ?? false
    // An autopilot sends hundreds of messages a second, so messages without a receiver aren't decoded.
    guard isAwaited || effects.wantsEvents || header.message == MAVLinkAcknowledgement.number else {
      if MAVLinkMessage.isKnown(header.message) { counters.events += 1 }
      return
    }
    guard let message = message() else { return }
    if case .acknowledgement(let acknowledgement) = message {
      take(acknowledgement, now: now, effects: &effects)
      return
    }
    counters.events += 1
    effects.addEvent(message)
    guard isAwaited, let waiting = attempt else { return }
    counters.replies += 1
    finish(waiting, .success(message), now: now, effects: &effects)
  }

  /// Learns from its first heartbeat which autopilot it is. Returns false when the message isn't an autopilot's
  /// heartbeat.
  private mutating func learn(
    _ header: MAVLinkHeader, _ message: MAVLinkMessage?, effects: inout Effects<Reply, Event>
  ) -> Bool {
    guard case .listening = phase, case .heartbeat(let heartbeat)? = message,
      header.component == Self.autopilotComponent, header.system != 0,
      heartbeat.autopilot != MAVLinkHeartbeat.noAutopilot, heartbeat.type != MAVLinkHeartbeat.groundStation
    else { return false }
    autopilot = Autopilot(
      system: header.system, version: header.version, heartbeat: heartbeat, sequence: header.sequence &- 1)
    phase = .ready
    if let id = opening { effects.completions.append((id, .success(.heartbeat(heartbeat)))) }
    opening = nil
    return true
  }

  /// Records the version of MAVLink that the autopilot uses, and counts the frames that were lost since its last one.
  private mutating func follow(_ header: MAVLinkHeader, _ known: Autopilot) {
    let lost = header.sequence &- known.sequence &- 1
    // A number that jumps back comes from an autopilot that has restarted.
    if lost < 128 { counters.gaps += UInt64(lost) }
    autopilot?.sequence = header.sequence
    autopilot?.version = header.version
  }

  private mutating func take(
    _ acknowledgement: MAVLinkAcknowledgement, now: MonotonicTime, effects: inout Effects<Reply, Event>
  ) {
    let isOurs =
      acknowledgement.system == 0
      || acknowledgement.system == autopilot?.system && acknowledgement.component == Self.ownComponent
    guard isOurs else { return }
    guard var waiting = attempt, let command = waiting.step.command, command == acknowledgement.command else {
      counters.lateReplies += 1
      return
    }
    switch MAVLinkAcknowledgement.Result(rawValue: acknowledgement.result) {
    case .accepted:
      waiting.isAccepted = true
      attempt = waiting
    case .inProgress:
      waiting.deadline = now + replyTimeout
      attempt = waiting
    case .temporarilyRejected: break  // the command is sent again later
    default: refused(waiting, acknowledgement, now: now, effects: &effects)
    }
  }

  /// Handles a refusal. An autopilot that can't send the message once may be able to send it at an interval.
  private mutating func refused(
    _ waiting: Attempt, _ acknowledgement: MAVLinkAcknowledgement, now: MonotonicTime,
    effects: inout Effects<Reply, Event>
  ) {
    counters.refusals += 1
    if case .request = waiting.step, waiting.request.mayRepeat {
      var next = waiting
      (next.step, next.isAccepted) = (.interval(tries: 0), false)
      return send(next, now: now, effects: &effects)
    }
    let name = MAVLinkTable.definition(of: waiting.request.message)?.name ?? "message \(waiting.request.message)"
    let word = acknowledgement.word ?? "result \(acknowledgement.result)"
    let error = AccessoryError(
      .refused, code: .refusal(acknowledgement.result), "\(label) does not send \(name): \(word)")
    finish(waiting, .failure(error), now: now, effects: &effects)
  }

  /// Completes an attempt and starts the next one.
  mutating func finish(
    _ waiting: Attempt, _ result: Result<Reply, AccessoryError>, now: MonotonicTime,
    effects: inout Effects<Reply, Event>
  ) {
    attempt = nil
    effects.completions.append((waiting.id, result))
    startNext(now: now, effects: &effects)
  }
}

extension MAVLinkExchange.Attempt.Step {
  /// The command that was sent; nil while only listening.
  var command: UInt16? {
    switch self {
    case .listening: nil
    case .request: MAVLinkCommand.requestMessage
    case .interval: MAVLinkCommand.setMessageInterval
    }
  }
}
