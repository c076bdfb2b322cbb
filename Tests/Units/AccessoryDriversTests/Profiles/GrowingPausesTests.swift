// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import Testing

/// The pauses between attempts to open what leaves again and again.
@Suite struct GrowingPausesTests {
  private static let start = MonotonicTime(nanoseconds: 1_000_000_000)

  /// The pauses of a device whose links stand for these times, one after another, and how long that takes in all.
  private func pauses(_ links: [Duration]) -> (all: [Duration], time: Duration) {
    let policy = GrowingPauses.policy()
    var pauses = GrowingPauses()
    var (all, now) = ([] as [Duration], Self.start)
    for link in links {
      pauses.opened(now: now)
      now = now + link
      #expect(pauses.ended(now: now) == link)
      all.append(pauses.next(policy) ?? .zero)
      now = now + all[all.count - 1]
    }
    return (all, now - Self.start)
  }

  @Test func whatLeavesAtOnceIsOpenedLessAndLessOften() {
    let quick = pauses([Duration](repeating: .milliseconds(500), count: 9))
    #expect(quick.all == [1, 2, 4, 8, 16, 32, 60, 60, 60].map { .seconds($0) })
    #expect(pauses([Duration](repeating: .milliseconds(500), count: 7)).time > .seconds(90))
  }

  /// It was made for nothing where it didn't stand.
  @Test func aLinkThatStoodBeginsAnew() {
    #expect(pauses([.seconds(1), .seconds(9), .seconds(10), .seconds(1)]).all == [1, 2, 1, 2].map { .seconds($0) })
  }

  @Test func attemptsWithoutALinkGrowToo() {
    let policy = GrowingPauses.policy(longest: .seconds(10))
    var pauses = GrowingPauses()
    #expect(pauses.ended(now: Self.start) == nil)
    #expect((0..<6).map { _ in pauses.next(policy) } == [1, 2, 4, 8, 10, 10].map { .seconds($0) })
    pauses.reset()
    #expect(pauses.next(policy) == .seconds(1))
  }

  @Test func anAnswerBeginsAnewAndALimitEnds() {
    var policy = GrowingPauses.policy()
    policy.tries = 2
    var pauses = GrowingPauses()
    #expect((0..<3).map { _ in pauses.next(policy) } == [.seconds(1), .seconds(2), nil] && pauses.tries == 2)
    pauses.opened(now: Self.start)
    pauses.proved()
    #expect(pauses.tries == 0 && pauses.ended(now: Self.start) == nil)
  }
}
