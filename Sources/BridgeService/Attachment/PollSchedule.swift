// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers

/// The schedule of an accessory's polls: one at a time, and each again when its interval has passed since it ended,
/// with or without an error. So polls never pile up, and failing ones aren't more frequent. A value that is given the
/// time.
struct PollSchedule: Sendable, Hashable {
  private struct Entry: Sendable, Hashable {
    let poll: AccessoryPoll
    let interval: Duration
    var due: MonotonicTime
  }

  private var entries: [Entry] = []
  private let letsSleep: Bool
  private var running: Int?
  /// The unit has stopped answering. It isn't polled until it sends something.
  private(set) var isAsleep = false
  /// How many polls in a row were not answered.
  private(set) var silences = 0

  /// Nothing is asked.
  init() { letsSleep = false }

  /// Begins. What no other question has asked at the beginning is asked at once, the rest when its interval has passed.
  init(_ polls: [AccessoryPoll], letsSleep: Bool, interval: (AccessoryPoll) -> Duration?, now: MonotonicTime) {
    self.letsSleep = letsSleep
    entries = polls.compactMap { poll in
      interval(poll).map { Entry(poll: poll, interval: $0, due: poll.gives.contains(.values) ? now : now + $0) }
    }
  }

  /// When there is something to ask; nil while it is being asked, or nothing is to be.
  var deadline: MonotonicTime? { running != nil || isAsleep ? nil : entries.map(\.due).min() }

  /// What is to be asked now: the one that waits for longest. Its end is to be told.
  mutating func take(now: MonotonicTime) -> AccessoryPoll? {
    guard let deadline, deadline <= now, let next = entries.firstIndex(where: { $0.due == deadline }) else {
      return nil
    }
    running = next
    return entries[next].poll
  }

  /// What was asked is answered, or failed. One that keeps silent may sleep.
  mutating func ended(_ error: AccessoryError?, now: MonotonicTime) {
    guard let index = running else { return }
    running = nil
    entries[index].due = now + entries[index].interval
    silences = error?.kind == .timedOut ? silences + 1 : 0
    if error?.kind == .timedOut { isAsleep = letsSleep }
  }

  /// It has said something: it doesn't sleep.
  mutating func showedLife(now: MonotonicTime) {
    guard isAsleep else { return }
    isAsleep = false
    for index in entries.indices { entries[index].due = max(entries[index].due, now + entries[index].interval) }
  }
}
