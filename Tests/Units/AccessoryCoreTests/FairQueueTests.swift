// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Testing

/// Things of several groups that wait in one queue.
@Suite struct FairQueueTests {
  private static func all(_ queue: inout FairQueue<String, Int>) -> [Int] {
    var all: [Int] = []
    while let next = queue.popFirst() { all.append(next) }
    return all
  }

  @Test func groupsTakeTurns() {
    var queue = FairQueue<String, Int>(limit: 10)
    for number in 1...4 { _ = queue.append(number, of: "a") }
    _ = queue.append(10, of: "b")
    _ = queue.append(11, of: "b")
    let all = Self.all(&queue)
    #expect(all == [1, 10, 2, 11, 3, 4] && queue.isEmpty)
  }

  @Test func whoComesLateIsNext() {
    var queue = FairQueue<String, Int>(limit: 10)
    for number in 1...4 { _ = queue.append(number, of: "a") }
    let first = queue.popFirst()
    _ = queue.append(10, of: "b")
    let next = queue.popFirst()
    #expect(first == 1 && next == 10)
  }

  @Test func whoHasMostLosesItsOldest() {
    var queue = FairQueue<String, Int>(limit: 3)
    var dropped: [Bool] = []
    for (number, group) in [(10, "b"), (1, "a"), (2, "a"), (3, "a")] { dropped.append(queue.append(number, of: group)) }
    #expect(dropped == [false, false, false, true] && queue.count == 3)
    let all = Self.all(&queue)
    #expect(all == [10, 2, 3])
  }
}
