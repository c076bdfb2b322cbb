// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Testing

@Suite struct MonotonicTimeTests {
  @Test func timesAndDurationsAreAddedAndSubtracted() {
    let time = MonotonicTime(nanoseconds: 5_000)
    #expect((time + .microseconds(2)).nanoseconds == 7_000)
    #expect(time + .nanoseconds(-1) < time)
    #expect(time + .milliseconds(3) - time == .milliseconds(3))
    #expect(time - (time + .seconds(1)) == .seconds(-1))
  }

  @Test func nowNeverGoesBack() {
    var last = MonotonicTime.now
    for _ in 0..<10_000 {
      let next = MonotonicTime.now
      #expect(next >= last)
      last = next
    }
  }

  private static let examples: [(Duration, Int64)] = [
    (.zero, 0), (.nanoseconds(1), 1), (.seconds(1), 1_000_000_000), (.seconds(-1), -1_000_000_000),
    (.milliseconds(-1_500), -1_500_000_000), (.seconds(9_223_372_036), 9_223_372_036_000_000_000),
  ]

  @Test(arguments: examples)
  func durationsAreConvertedToNanoseconds(_ duration: Duration, _ nanoseconds: Int64) {
    #expect(duration.inNanoseconds == nanoseconds)
  }

  @Test(arguments: [Duration.seconds(Int64.max), .seconds(9_223_372_037), .nanoseconds(Int64.max) + .nanoseconds(1)])
  func longDurationsSaturateInNanoseconds(_ duration: Duration) {
    #expect(duration.inNanoseconds > Int64.max / 4)
    #expect((Duration.zero - duration).inNanoseconds < Int64.min / 4)
  }

  @Test func aDeadlineInTheFarFutureDoesNotTrap() {
    #expect(MonotonicTime.now + .seconds(Int64.max) > .now)
    #expect(MonotonicTime(nanoseconds: .max) + .seconds(1) > .now)
    #expect(MonotonicTime(nanoseconds: .max) - MonotonicTime(nanoseconds: -1) > .zero)
  }
}
