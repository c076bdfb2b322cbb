// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Testing

@testable import AccessoryIO

/// How long a close waits, without a clock.
@Suite struct DrainScheduleTests {
  private let start = MonotonicTime(nanoseconds: 1_000)
  /// 1 ms a byte.
  private let line = LineTiming(perByte: .milliseconds(1))

  private func drain(_ timing: LineTiming, waiting: Int = 0) -> DrainSchedule {
    DrainSchedule(timing: timing, now: start, waiting: waiting)
  }

  @Test func nothingOnItsWayIsNoWait() {
    for timing in [line, .instant] {
      var drain = drain(timing)
      #expect(drain.nextLook(now: start, unwritten: 0, unsent: 0, lineBusyUntil: nil) == nil)
      #expect(drain.nextLook(now: start, unwritten: 0, unsent: 0, lineBusyUntil: start) == nil)
    }
  }

  @Test(arguments: [(0, 500), (300, 800), (4_499, 4_999), (4_501, 5_000), (1_000_000_000, 5_000)])
  func theLimitIsTheLinesTimeAndHalfASecondAndFiveInAll(waiting: Int, milliseconds: Int) {
    var drain = drain(line, waiting: waiting)
    let limit = start + .milliseconds(milliseconds)
    #expect(drain.nextLook(now: start, unwritten: 1, unsent: 0, lineBusyUntil: nil) == limit)
    let last = limit + .nanoseconds(-1)
    #expect(drain.nextLook(now: last, unwritten: 0, unsent: 1, lineBusyUntil: nil) == limit)
    #expect(drain.nextLook(now: limit, unwritten: 1, unsent: 1, lineBusyUntil: limit + .seconds(1)) == nil)
  }

  /// The kernel is asked when the line may be through, within 2 to 20 ms.
  @Test(arguments: [(1, 2), (7, 7), (4_096, 20)]) func theKernelIsAskedAgain(unsent: Int, milliseconds: Int) {
    var drain = drain(line, waiting: unsent)
    #expect(
      drain.nextLook(now: start, unwritten: 0, unsent: unsent, lineBusyUntil: nil)
        == start + .milliseconds(milliseconds))
  }

  /// What the kernel has given away may still be in the hardware.
  @Test func theHardwareIsGivenTheTimeOfItsBuffer() {
    var short = drain(line)
    let sent = start + .milliseconds(30)
    #expect(short.nextLook(now: start, unwritten: 0, unsent: 0, lineBusyUntil: sent) == sent)
    #expect(short.nextLook(now: sent, unwritten: 0, unsent: 0, lineBusyUntil: sent) == nil)
    // A USB adapter took much in no time: no more than its buffer is waited for, counted from the kernel's last byte.
    var fast = drain(line, waiting: 4_000)
    let busy = start + .seconds(4)
    #expect(fast.nextLook(now: start, unwritten: 0, unsent: 9, lineBusyUntil: busy) == start + .milliseconds(9))
    let empty = start + .milliseconds(9)
    let end = empty + .milliseconds(256)
    #expect(fast.nextLook(now: empty, unwritten: 0, unsent: 0, lineBusyUntil: busy) == end)
    #expect(fast.nextLook(now: empty + .milliseconds(100), unwritten: 0, unsent: 0, lineBusyUntil: busy) == end)
    #expect(fast.nextLook(now: end, unwritten: 0, unsent: 0, lineBusyUntil: busy) == nil)
  }
}
