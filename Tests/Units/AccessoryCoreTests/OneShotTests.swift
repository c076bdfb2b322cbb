// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Testing

@Suite(.timeLimit(.minutes(5))) struct OneShotTests {
  @Test func aValueMayComeBeforeTheWait() async {
    let shot = OneShot<Int>()
    #expect(shot.current == nil)
    #expect(shot.finish(1))
    #expect(shot.current == 1)
    #expect(await shot.value() == 1)
  }

  @Test func onlyTheFirstValueCounts() async {
    let shot = OneShot<Int>()
    #expect(shot.finish(1))
    #expect(!shot.finish(2))
    #expect(await shot.value() == 1)
  }

  @Test func allWhoWaitGetTheValue() async {
    let shot = OneShot<Int>()
    await withTaskGroup { group in
      for _ in 0..<8 { group.addTask { await shot.value() } }
      await Task.yield()
      shot.finish(5)
      for await value in group { #expect(value == 5) }
    }
  }

  @Test func aCancelledTaskGetsTheOtherValue() async {
    let shot = OneShot<Int>()
    let task = Task { await shot.value(whenCancelled: -1) }
    task.cancel()
    #expect(await task.value == -1)
    #expect(!shot.finish(1))
  }

  @Test func oneOfManyWhoFinishIsTheFirst() async {
    let shot = OneShot<Int>()
    let firsts = await withTaskGroup(of: Int?.self) { group in
      for number in 0..<64 { group.addTask { shot.finish(number) ? number : nil } }
      return await group.reduce(into: [Int]()) { if let first = $1 { $0.append(first) } }
    }
    #expect(firsts.count == 1)
    #expect(firsts.first == shot.current)
  }
}
