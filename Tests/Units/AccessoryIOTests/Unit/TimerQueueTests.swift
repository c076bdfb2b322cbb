// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import TestSupport
import Testing

@testable import AccessoryIO

@Suite struct TimerQueueTests {
  private func moment(_ nanoseconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: nanoseconds) }

  /// Runs all that is due and returns what the actions noted.
  private func run(_ queue: inout TimerQueue, until now: MonotonicTime, _ noted: Watched<[Int]>) -> [Int] {
    while let action = queue.popDue(at: now) { action() }
    return noted.update { noted in
      defer { noted = [] }
      return noted
    }
  }

  @Test func timersRunInOrder() {
    let noted = Watched<[Int]>([])
    var queue = TimerQueue()
    for (number, deadline) in [(1, 30), (2, 10), (3, 20), (4, 10), (5, 30), (6, 10)] {
      _ = queue.schedule(at: moment(Int64(deadline))) { noted.update { $0.append(number) } }
    }
    #expect(queue.earliest == moment(10))
    #expect(run(&queue, until: moment(9), noted) == [])
    #expect(run(&queue, until: moment(10), noted) == [2, 4, 6])
    #expect(queue.earliest == moment(20))
    #expect(run(&queue, until: moment(100), noted) == [3, 1, 5])
    #expect(queue.earliest == nil)
  }

  @Test func cancelledActionsDoNotRunAndAreNotTheEarliest() {
    let noted = Watched<[Int]>([])
    var queue = TimerQueue()
    let first = queue.schedule(at: moment(1)) { noted.update { $0.append(1) } }
    _ = queue.schedule(at: moment(2)) { noted.update { $0.append(2) } }
    queue.cancel(first)
    #expect(queue.earliest == moment(2))
    #expect(run(&queue, until: moment(5), noted) == [2])
    queue.cancel(first)
    queue.cancel(TimerToken(rawValue: 99))
    #expect(queue.earliest == nil)
  }

  @Test func cancellingLetsGoOfTheAction() {
    final class Held: Sendable {}
    var queue = TimerQueue()
    weak var held: Held?
    let token: TimerToken
    do {
      let object = Held()
      held = object
      token = queue.schedule(at: moment(1)) { withExtendedLifetime(object) {} }
    }
    #expect(held != nil)
    queue.cancel(token)
    #expect(held == nil)
  }

  @Test func manyCancelledActionsAreClearedAway() {
    var queue = TimerQueue()
    _ = queue.schedule(at: moment(1_000_000)) {}
    for round in 0..<100_000 {
      queue.cancel(queue.schedule(at: moment(Int64(2_000_000 + round))) {})
    }
    #expect(queue.entryCount <= 128)
    #expect(queue.earliest == moment(1_000_000))
  }

  @Test func compactionKeepsWhatIsLeftInOrder() {
    let noted = Watched<[Int]>([])
    var queue = TimerQueue()
    var kept: [Int] = []
    var tokens: [TimerToken] = []
    for number in 0..<1_000 {
      // A fixed shuffle: 7 has no factor in common with 1,000.
      let deadline = number * 7 % 1_000
      let token = queue.schedule(at: moment(Int64(deadline))) { noted.update { $0.append(deadline) } }
      if deadline % 10 == 0 { kept.append(deadline) } else { tokens.append(token) }
    }
    for token in tokens { queue.cancel(token) }
    #expect(queue.entryCount < 1_000)
    #expect(run(&queue, until: moment(1_000), noted) == kept.sorted())
  }
}
