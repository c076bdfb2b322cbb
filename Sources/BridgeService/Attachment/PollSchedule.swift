// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers

/// The schedule of an accessory's polls. One poll runs at a time, and each is repeated when its interval has passed
/// since its end, with or without an error. So polls never pile up, and failing ones aren't more frequent. It has no
/// clock: its owner passes the time.
struct PollSchedule: Sendable, Hashable {
  private struct Entry: Sendable, Hashable {
    let poll: AccessoryPoll
    let interval: Duration
    var due: MonotonicTime
  }

  private var entries: [Entry] = []
  private let letsSleep: Bool
  private var running: Int?
  /// Whether the accessory has stopped answering and is let sleep. It isn't polled until it sends something.
  private(set) var isAsleep = false
  /// The number of polls in a row that timed out.
  private(set) var silences = 0

  /// A schedule without polls.
  init() { letsSleep = false }

  /// A schedule from now on. Polls for values are due at once. The others are due after their intervals, since the
  /// service has just read identity, status and battery.
  init(_ polls: [AccessoryPoll], letsSleep: Bool, interval: (AccessoryPoll) -> Duration?, now: MonotonicTime) {
    self.letsSleep = letsSleep
    entries = polls.compactMap { poll in
      interval(poll).map { Entry(poll: poll, interval: $0, due: poll.parts.contains(.values) ? now : now + $0) }
    }
  }

  /// When the next poll is due; nil while a poll runs, while the accessory sleeps, and without polls.
  var deadline: MonotonicTime? { running == nil ? nextDue : nil }

  /// When the next poll is due, also while one runs; nil while the accessory sleeps, and without polls.
  var nextDue: MonotonicTime? { isAsleep ? nil : entries.map(\.due).min() }

  /// Whether no poll runs or is due.
  func isDone(now: MonotonicTime) -> Bool { running == nil && (deadline.map { $0 > now } ?? true) }

  /// The poll that has been due for longest, if one is due. The owner is to report its end with `ended`.
  mutating func take(now: MonotonicTime) -> AccessoryPoll? {
    guard let deadline, deadline <= now, let next = entries.firstIndex(where: { $0.due == deadline }) else {
      return nil
    }
    running = next
    return entries[next].poll
  }

  /// The running poll has ended. After a timeout the accessory may be let sleep.
  mutating func ended(_ error: AccessoryError?, now: MonotonicTime) {
    guard let index = running else { return }
    running = nil
    entries[index].due = now + entries[index].interval
    silences = error?.kind == .timedOut ? silences + 1 : 0
    if error?.kind == .timedOut { isAsleep = letsSleep }
  }

  /// The accessory has sent something, so it isn't asleep.
  mutating func showedLife(now: MonotonicTime) {
    guard isAsleep else { return }
    isAsleep = false
    for index in entries.indices { entries[index].due = max(entries[index].due, now + entries[index].interval) }
  }
}
