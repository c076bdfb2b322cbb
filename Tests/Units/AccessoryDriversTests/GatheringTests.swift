// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryTesting
import TestSupport
import Testing

/// The one rule for what accessories send by themselves.
@Suite(.timeLimit(.minutes(Patience.minutes(2)))) struct GatheringTests {
  private let clock = ManualClock()
  private var gathering: Gathering<Int, Int> { Gathering(clock: clock) }

  /// Whoever sends seldom loses nothing, and no timer waits for it.
  @Test func eventsThatAreFewAreHandedOverAsTheyCome() async throws {
    let gathering = gathering
    for number in 0..<100 {
      gathering.put(number, of: 0)
      #expect(try await gathering.next() == [number])
      clock.advance(by: .milliseconds(101))
    }
    #expect(clock.scheduledCount == 0)
  }

  /// 1,000 a second for ten seconds: sixteen groups at once, and ten a second.
  @Test func aFloodIsWorkedOnTenTimesASecond() async throws {
    let gathering = gathering
    let groups = Watched<[[Int]]>([])
    let task = Task { while let group = try await gathering.next() { groups.update { $0.append(group) } } }
    for number in 1...10_000 {
      gathering.put(number, of: 0)
      clock.advance(by: .milliseconds(1))
    }
    gathering.end(nil)
    try await task.value
    // Fewer where the consumer was slow.
    #expect(groups.value.count <= 16 + 100 + 1, "\(groups.value.count)")
    #expect(groups.value.last == [10_000])
    #expect(groups.value.allSatisfy { $0.count == 1 })
  }

  /// As many as may come at once are handed over each by itself, also to a consumer that is slow.
  @Test func theNewestOfEachKindIsKeptInTheOrderOfArrival() async throws {
    let gathering = gathering
    for number in 100..<116 { gathering.put(number, of: 0) }
    for number in [1, 12, 3, 11, 2] { gathering.put(number, of: number / 10) }
    for number in 100..<116 { #expect(try await gathering.next() == [number]) }
    clock.advance(by: .milliseconds(100))
    #expect(try await gathering.next() == [11, 2])
  }

  @Test func moreKindsThanTheLimitLoseTheOldest() async throws {
    let gathering = gathering
    let limit = Gathering<Int, Int>.kindLimit
    for number in 0..<16 { gathering.put(number, of: 0) }
    for number in 0..<(limit + 3) { gathering.put(number, of: number) }
    for _ in 0..<16 { _ = try await gathering.next() }
    clock.advance(by: .milliseconds(100))
    #expect(try await gathering.next() == Array(3..<(limit + 3)))
  }

  /// What came before an unplug is told, however fast it came, and then its end.
  @Test func theEndComesAfterWhatWasGathered() async throws {
    let gathering = gathering
    for number in 0..<20 {
      gathering.put(number, of: 0)
      if number < 16 { _ = try await gathering.next() }
    }
    gathering.end(.disconnected("it"))
    #expect(try await gathering.next() == [19])
    await #expect(throws: AccessoryError.self) { _ = try await gathering.next() }
  }

  @Test func aStreamThatNobodyReadsAnyMoreIsGivenBack() async throws {
    let hub = EventHub<Int>(limit: 8)
    var stream: EventStream<[Int]>? = hub.stream().gathered(on: clock) { $0 }
    #expect(hub.hasConsumers)
    hub.send(7)
    var iterator = stream?.makeAsyncIterator()
    #expect(try await iterator?.next() == [7])
    (iterator, stream) = (nil, nil)
    try await eventually("it is given back") { !hub.hasConsumers }
  }
}
