// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Testing

@testable import AccessoryIO

@Suite struct LineBusyTimeTests {
  private let start = MonotonicTime(nanoseconds: 1_000)
  private let fast = LineTiming(perByte: .milliseconds(1))
  private let slow = LineTiming(perByte: .milliseconds(12))

  @Test func bytesQueueUpBehindEachOther() {
    var work = LineBusyTime()
    #expect(work.end(fast, now: start) == nil)
    work.add(10, fast, now: start)
    work.add(5, fast, now: start + .milliseconds(4))
    #expect(work.end(fast, now: start + .milliseconds(5)) == start + .milliseconds(15))
    work.add(1, fast, now: start + .milliseconds(20))
    #expect(work.end(fast, now: start + .milliseconds(20)) == start + .milliseconds(21))
  }

  /// A close must not cut off what a slower line has still to send.
  @Test func whatIsLeftTakesTheTimeOfTheNewSpeed() {
    var work = LineBusyTime()
    work.add(10, fast, now: start)
    let now = start + .milliseconds(6)
    // Four bytes are left, or one that has begun.
    #expect(work.end(slow, now: now) == now + slow.time(of: 5))
    #expect(work.end(slow, now: now + .milliseconds(12)) == now + slow.time(of: 5), "changed once")
    #expect(work.end(fast, now: now + slow.time(of: 5)) == now + slow.time(of: 5), "nothing is left")
  }

  @Test func noSpeedIsNoTrap() {
    var work = LineBusyTime()
    work.add(.max, LineTiming(perByte: .nanoseconds(Int64.max)), now: start)
    #expect(work.end(LineTiming(perByte: .nanoseconds(Int64.max)), now: start) == MonotonicTime(nanoseconds: .max))
    #expect(work.end(LineTiming(perByte: .nanoseconds(1)), now: MonotonicTime(nanoseconds: -1)) != nil)
    work.add(3, .instant, now: start)
    #expect(work.end(fast, now: start) != nil)
  }
}
