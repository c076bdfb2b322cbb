// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryLink
import AccessoryProtocols

extension MAVLinkExchange {
  /// Starts the next request: waits for its message while the autopilot may still send it unasked, or else asks for it.
  mutating func startNext(now: MonotonicTime, effects: inout Effects<Reply, Event>) {
    guard attempt == nil, let (id, request) = queue.popFirst() else { return }
    counters.requests += 1
    let new = Attempt(id: id, request: request, step: .listening, deadline: listeningEnd)
    if now < listeningEnd {
      attempt = new
    } else {
      send(Self.asking(new), now: now, effects: &effects)
    }
  }

  private static func asking(_ attempt: Attempt) -> Attempt {
    var attempt = attempt
    attempt.step = .request(tries: 0)
    return attempt
  }

  var replyTimeout: Duration { options.timeout + timing.time(of: 2 * Self.longestFrame) }

  private static let longestFrame = 280

  /// Sends the command of an attempt's step, for the first time or again.
  mutating func send(_ waiting: Attempt, now: MonotonicTime, effects: inout Effects<Reply, Event>) {
    guard let autopilot else { return }
    var waiting = waiting
    let tries: Int
    var parameters = [Float(waiting.request.message)]
    switch waiting.step {
    case .listening: return
    case .request(let before):
      tries = before
      waiting.step = .request(tries: before + 1)
      waiting.deadline = now + replyTimeout
    case .interval(let before):
      tries = before
      waiting.step = .interval(tries: before + 1)
      waiting.deadline = now + replyTimeout + options.interval
      parameters.append(Float(options.interval / .microseconds(1)))
    }
    attempt = waiting
    if tries > 0 { counters.retries += 1 }
    guard let command = waiting.step.command else { return }
    let message = MAVLinkCommand(
      command, parameters, system: autopilot.system, component: Self.autopilotComponent,
      confirmation: UInt8(clamping: tries))
    write(.command(message), effects: &effects)
  }

  /// Writes a message, or drops it while the transport has no space, where it would only wait.
  private mutating func write(
    _ message: MAVLinkMessage, _ version: MAVLinkVersion? = nil, effects: inout Effects<Reply, Event>
  ) {
    if effects.isBlocked { return }
    effects.write(
      message.frame(
        version ?? autopilot?.version ?? .two, sequence: sequence, system: autopilot?.system ?? 1,
        component: Self.ownComponent))
    sequence &+= 1
  }

  // MARK: - Time

  /// Sends a heartbeat when it is due, and repeats or fails a request whose reply is overdue.
  public mutating func timePassed(now: MonotonicTime, effects: inout Effects<Reply, Event>) {
    if case .listening(let silence, let end) = phase {
      if end <= now { return giveUpContact(effects: &effects) }
      if silence <= now { keepAlive(now: now) }
    }
    if isKeptAlive, nextHeartbeat <= now { sendHeartbeat(now: now, effects: &effects) }
    guard let waiting = attempt, waiting.deadline <= now else { return }
    if waiting.step != .listening {
      // The message may be buffered behind the start of a frame that was never completed.
      codec.expire(into: &scratch)
      let found = scratch
      scratch.removeAll()
      for index in 0..<found.count { receive(found, at: index, now: now, effects: &effects) }
    }
    tryAgain(now: now, effects: &effects)
  }

  private mutating func tryAgain(now: MonotonicTime, effects: inout Effects<Reply, Event>) {
    guard let waiting = attempt, waiting.deadline <= now else { return }
    let tries: Int
    switch waiting.step {
    case .listening: return send(Self.asking(waiting), now: now, effects: &effects)
    case .request(let count), .interval(let count): tries = count
    }
    counters.timeouts += 1
    if tries < options.tries {
      // The autopilot may answer only devices that send heartbeats.
      keepAlive(now: now)
      if nextHeartbeat <= now { sendHeartbeat(now: now, effects: &effects) }
      return send(waiting, now: now, effects: &effects)
    }
    let name = MAVLinkTable.definition(of: waiting.request.message)?.name ?? "message \(waiting.request.message)"
    let reason = waiting.isAccepted ? "accepted the request for \(name), but did not send it" : "does not answer"
    let error = AccessoryError(
      .timedOut, "\(label) \(reason): it was asked for \(name) \(Amount.times(tries))")
    finish(waiting, .failure(error), now: now, effects: &effects)
  }

  private mutating func keepAlive(now: MonotonicTime) {
    guard !isKeptAlive else { return }
    (isKeptAlive, nextHeartbeat) = (true, now)
  }

  /// Sends a heartbeat. Until an autopilot was heard, the versions of MAVLink alternate.
  private mutating func sendHeartbeat(now: MonotonicTime, effects: inout Effects<Reply, Event>) {
    let version: MAVLinkVersion = autopilot?.version ?? (heartbeatCount.isMultiple(of: 2) ? .two : .one)
    heartbeatCount &+= 1
    nextHeartbeat = now + options.heartbeat
    let heartbeat = MAVLinkHeartbeat(
      type: MAVLinkHeartbeat.onboardController, autopilot: MAVLinkHeartbeat.noAutopilot, state: 4)
    write(.heartbeat(heartbeat), version, effects: &effects)
  }

  private mutating func giveUpContact(effects: inout Effects<Reply, Event>) {
    phase = .closed
    isKeptAlive = false
    guard let id = opening else { return }
    opening = nil
    counters.timeouts += 1
    let reason =
      counters.unexpected > 0
      ? "\(label) sends MAVLink messages, but no heartbeat of an autopilot (component 1)"
      : "\(label) sends no MAVLink messages: is it switched on, and is the baud rate right?"
    effects.completions.append((id, .failure(AccessoryError(.timedOut, reason))))
  }
}
