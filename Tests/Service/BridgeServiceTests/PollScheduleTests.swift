// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import Testing

@testable import BridgeService

/// When an accessory is asked by itself, and how long what it says is fresh: without clock and accessory.
@Suite struct PollScheduleTests {
  private static let fast = AccessoryPoll("fast", every: .seconds(10), parts: [.battery])
  private static let slow = AccessoryPoll("slow", every: .seconds(25), parts: [.status])
  private static let silence = AccessoryError(.timedOut, "no answer")

  private static func time(_ seconds: Int) -> MonotonicTime { MonotonicTime(nanoseconds: 0) + .seconds(seconds) }

  private func schedule(_ polls: [AccessoryPoll], letsSleep: Bool = false) -> PollSchedule {
    PollSchedule(polls, letsSleep: letsSleep, interval: \.interval, now: Self.time(0))
  }

  @Test func eachHasItsInterval() {
    var schedule = schedule([Self.fast, Self.slow, AccessoryPoll("off", parts: [.values])])
    var asked: [String] = []
    while let deadline = schedule.deadline, deadline <= Self.time(60) {
      #expect(schedule.take(now: deadline + .nanoseconds(-1)) == nil)
      guard let poll = schedule.take(now: deadline) else { break }
      asked.append("\(poll.name) \(deadline.nanoseconds / 1_000_000_000)")
      // Nothing else is asked meanwhile, however long it takes.
      #expect(schedule.deadline == nil && schedule.take(now: Self.time(1_000)) == nil)
      schedule.ended(nil, now: deadline)
    }
    #expect(asked == ["fast 10", "fast 20", "slow 25", "fast 30", "fast 40", "fast 50", "slow 50", "fast 60"])
  }

  /// The next comes an interval after the end, be it late, and however it ended.
  @Test(arguments: [nil, silence, AccessoryError(.refused, "no"), AccessoryError(.badData, "?")] as [AccessoryError?])
  func pollsDoNotPileUp(_ error: AccessoryError?) {
    var schedule = schedule([Self.fast])
    #expect(schedule.take(now: Self.time(500)) == Self.fast)
    schedule.ended(error, now: Self.time(700))
    #expect(schedule.deadline == Self.time(710))
    // An end that nobody waits for changes nothing.
    schedule.ended(error, now: Self.time(800))
    #expect(schedule.deadline == Self.time(710))
  }

  /// Values are asked for by nothing else at the beginning.
  @Test func valuesAreAskedForAtOnce() {
    #expect(schedule([AccessoryPoll("v", every: .seconds(9), parts: [.values])]).deadline == Self.time(0))
  }

  @Test func whatSleepsIsLetSleep() {
    var schedule = schedule([Self.fast, Self.slow], letsSleep: true)
    _ = schedule.take(now: Self.time(10))
    schedule.ended(AccessoryError(.refused, "no"), now: Self.time(10))
    #expect(!schedule.isAsleep)
    _ = schedule.take(now: Self.time(20))
    schedule.ended(Self.silence, now: Self.time(22))
    #expect(schedule.isAsleep && schedule.deadline == nil && schedule.take(now: Self.time(10_000)) == nil)
    schedule.showedLife(now: Self.time(10_000))
    #expect(!schedule.isAsleep && schedule.deadline == Self.time(10_010))
    // What doesn't sleep isn't put off by what it says.
    schedule.showedLife(now: Self.time(10_005))
    #expect(schedule.deadline == Self.time(10_010))
  }

  /// A status that was read once, and is never asked again by itself, doesn't make a battery look old that is asked every
  /// ten seconds.
  @Test func onlyRenewedReadingsDecideTheAge() {
    let pack = AccessoryPoll("pack", every: .seconds(10), parts: [.battery])
    let driver = Driver(name: "d", polls: [pack], rawBytes: .harmless) { _, _, _ throws(AccessoryError) in
      throw Self.silence
    }
    let freshness = Freshness(driver, interval: \.interval)
    #expect(freshness.telling([.status: .seconds(3_600), .battery: .seconds(9)]) == [.battery: .seconds(9)])
    #expect(freshness.telling([.status: .seconds(3_600)]) == [.status: .seconds(3_600)])
    #expect(Freshness().telling([.status: .seconds(5), .battery: .seconds(9)]).count == 2)
  }

  @Test func readingsAreStaleAfterThreeIntervalsAndAMinute() {
    let driver = Driver(name: "d", polls: [Self.fast, Self.slow], rawBytes: .harmless) {
      _, _, _ throws(AccessoryError) in throw Self.silence
    }
    let freshness = Freshness(driver, interval: \.interval)
    #expect(!freshness.isStale(.battery, age: .seconds(60)) && freshness.isStale(.battery, age: .milliseconds(60_001)))
    #expect(!freshness.isStale(.status, age: .seconds(75)) && freshness.isStale(.status, age: .milliseconds(75_001)))
    // Nothing asks for values, so they are only as old as they are.
    #expect(!freshness.isStale(.values, age: .seconds(1_000_000)))
    let off = Freshness(driver) { _ in nil }
    #expect(!off.isStale(.battery, age: .seconds(1_000_000)))
    let pushing = Freshness(
      Driver(name: "p", freshness: .seconds(5), rawBytes: .harmless) { _, _, _ throws(AccessoryError) in
        throw Self.silence
      },
      interval: \.interval)
    #expect(!pushing.isStale(.values, age: .seconds(5)) && pushing.isStale(.values, age: .seconds(6)))
  }
}
