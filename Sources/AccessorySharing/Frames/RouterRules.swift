// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryLink

/// The rules and what belongs to them. Only the queue uses them, so that the lock around them is always free.
struct RouterRules: Sendable {
  private var rules: any Routing
  /// For clients whose bytes the rules have stored because too many requests are queued: the number of bytes.
  private var stored: [Int: Int] = [:]
  /// The time of the last input that has one.
  private var lastTime = MonotonicTime(nanoseconds: .min)

  init(_ rules: any Routing) { self.rules = rules }

  /// Handles inputs. Returns the results, and whether the rules had to keep requests back.
  mutating func handle(
    _ inputs: [FrameRouter.Input], unsent: Int, isBlocked: Bool, clock: any TimerClock
  ) -> (FrameRouter.Results, wasBlocked: Bool) {
    var results = FrameRouter.Results()
    var (unsent, wasBlocked) = (unsent, false)
    for input in inputs {
      var effects = RoutingEffects(isBlocked: isBlocked || unsent >= FrameRouter.unsentLimit)
      if effects.isBlocked { wasBlocked = true }
      handle(input, clock.now, &effects, &results)
      for message in effects.messages { unsent += message.count }
      results.messages += effects.messages
      results.deliveries += effects.deliveries
      results.news += effects.news
      for client in effects.resumed {
        if let count = stored.removeValue(forKey: client) { results.clientCounts.append((client, count)) }
      }
    }
    results.inputCount = inputs.count
    results.deadline = rules.deadline
    results.statistics = rules.statistics
    return (results, wasBlocked)
  }

  private mutating func handle(
    _ input: FrameRouter.Input, _ now: MonotonicTime, _ effects: inout RoutingEffects,
    _ results: inout FrameRouter.Results
  ) {
    switch input {
    case .take, .receive: lastTime = now
    default: break
    }
    switch input {
    case .add(let client, let allowsWrites): rules.add(client, allowsWrites: allowsWrites)
    case .remove(let client):
      stored[client] = nil
      rules.remove(client, now: now, effects: &effects)
    case .take(let bytes, let client):
      rules.take(bytes, from: client, now: now, effects: &effects)
      let count = bytes.count + (stored.removeValue(forKey: client) ?? 0)
      if rules.mayTake(from: client) {
        results.clientCounts.append((client, count))
      } else {
        stored[client] = count
      }
    case .receive(let bytes, let messages):
      rules.receive(bytes, messages: messages, now: now, effects: &effects)
      results.deviceCount += bytes.count
    case .timing(let timing): rules.setTiming(timing)
    // The time at which the timer fired: whether the line was silent must not depend on how late the queue runs.
    case .timePassed(let time):
      lastTime = max(lastTime, time)
      rules.timePassed(now: time, effects: &effects)
    // No later time than that: bytes that end a silence may wait behind this input.
    case .space: rules.timePassed(now: lastTime, effects: &effects)
    case .ask(let client): results.waitingClients.append((client, rules.hasUnanswered(client)))
    case .end: results.hasEnded = true
    }
  }
}
