// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryTesting
import TestSupport
import Testing

/// The timer of those whose deadlines move.
@Suite struct DeadlineTimerTests {
  private let clock = ManualClock()
  private let fired = Watched<[MonotonicTime]>([])

  private func time(_ seconds: Int) -> MonotonicTime { clock.now + .seconds(seconds) }

  @Test func aLaterDeadlineLeavesTheTimerAsItIs() {
    var timer = DeadlineTimer()
    let (first, earlier) = (time(20), time(10))
    for deadline in [nil, first, time(30), earlier, time(15), nil] {
      timer.advance(to: deadline, on: clock) { [fired] time in fired.update { $0.append(time) } }
    }
    #expect(timer.deadline == earlier && clock.pendingCount == 1)
    clock.advance(by: .seconds(40))
    #expect(fired.value == [earlier])
    timer.ended()
    #expect(timer.deadline == nil)
  }

  @Test func aSetDeadlineReplacesTheFormer() {
    var timer = DeadlineTimer()
    let (first, second) = (time(10), time(20))
    for deadline in [first, first, second] {
      timer.set(deadline, on: clock) { [fired] in fired.update { $0.append(second) } }
    }
    #expect(timer.deadline == second && clock.pendingCount == 1)
    timer.set(nil, on: clock) {}
    #expect(timer.deadline == nil && clock.pendingCount == 0)
    clock.advance(by: .seconds(40))
    #expect(fired.value.isEmpty)
  }
}
