// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import AccessoryCore

/// Work that is done one after another.
@Suite(.timeLimit(.minutes(10))) struct TurnsTests {
  @Test func whoComesFirstIsFirst() {
    var queue = TurnQueue()
    let entered = [1, 2, 3].map { queue.enter($0) }
    #expect(entered == [true, false, false])
    // Who waits may leave; then nothing changes for the others.
    let left = [2, 2].map { queue.leave($0) }
    #expect(left == [nil, nil])
    let again = queue.enter(2)
    #expect(!again)
    let next = [1, 3, 2].map { queue.leave($0) }
    #expect(next == [3, 2, nil] && queue.count == 0)
  }

  /// Ten packs that each come back at once: each waits for the nine others, and no longer.
  @Test func nobodyIsStarved() {
    var queue = TurnQueue()
    for pack in 0..<10 { _ = queue.enter(pack) }
    var now = 0
    for turn in 0..<100 {
      #expect(now == turn % 10)
      let next = queue.leave(now)
      _ = queue.enter(now)
      now = next ?? -1
    }
  }

  @Test func placesDoNotWaitForEachOther() async throws {
    let turns = Turns()
    let value = try await turns.take(at: "hci0") { () throws(AccessoryError) in
      try await turns.take(at: "hci1") { () throws(AccessoryError) in 7 }
    }
    #expect(value == 7)
  }

  /// Who is cancelled while waiting leaves the queue, and its turn isn't lost for the others.
  @Test func whoIsCancelledLeaves() async throws {
    let turns = Turns()
    let end = OneShot<Void>()
    let first = Task { try await turns.take(at: "hci0") { () throws(AccessoryError) in await end.value() } }
    while !(turns.count(at: "hci0") == 1) { await Task.yield() }
    let second = Task { try await turns.take(at: "hci0") { () throws(AccessoryError) in } }
    while !(turns.count(at: "hci0") == 2) { await Task.yield() }
    let third = Task { try await turns.take(at: "hci0") { () throws(AccessoryError) in 3 } }
    while !(turns.count(at: "hci0") == 3) { await Task.yield() }
    second.cancel()
    await #expect(throws: AccessoryError.self) { try await second.value }
    end.finish(())
    try await first.value
    #expect(try await third.value == 3)
    #expect(turns.count(at: "hci0") == 0)
  }
}
