// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Testing

@testable import BridgeService

/// What is kept of readings, at which resolution, and within which bounds.
struct HistoryStoreTests {
  /// The histories of `series` series that are read every `pause` seconds for `length` seconds, from the time 1,000,000 on.
  private static func filled(_ series: Int, every pause: Double, for length: Double) -> HistoryStore {
    var store = HistoryStore()
    var time = 1_000_000.0
    while time < 1_000_000 + length {
      for index in 0..<series { store.add("A", "value_\(index)", unit: "V", time + Double(index), at: time) }
      time += pause
    }
    return store
  }

  @Test func theBoundFollowsFromTheConstants() {
    let stride = MemoryLayout<HistoryBucket>.stride
    #expect(stride == 20)
    let most =
      HistoryLadder.ownBytes + HistoryLadder.seriesLimit * HistoryLadder.seriesBytes + HistoryLadder.pointLimit * stride
    #expect(most <= HistoryLadder.accessoryByteLimit)
    for count in 1...HistoryLadder.seriesLimit {
      let capacities = HistoryLadder.capacities(seriesCount: count)
      #expect(capacities.reduce(0, +) * count <= HistoryLadder.pointLimit, "\(count) series")
      #expect(capacities.allSatisfy { $0 > 0 })
      // 24 hours are kept of each series.
      #expect(Double(capacities[2] * HistoryLadder.widths[2]) >= HistoryLadder.reach)
    }
    #expect(HistoryLadder.capacities(seriesCount: 4) == HistoryLadder.fullCapacities)
    // The texts of a series, its three lists with what the allocator adds, and the series itself.
    #expect(
      ReadingLimits.nameBytes + ReadingLimits.unitBytes + 3 * 64 + MemoryLayout<SeriesHistory>.stride
        <= HistoryLadder.seriesBytes)
    #expect(HistoryLadder.idBytes + MemoryLayout<AccessoryHistory>.stride + 512 <= HistoryLadder.ownBytes)
  }

  @Test(arguments: [1, 4, 12, 36]) func anAccessoryStaysWithinItsBound(series: Int) throws {
    let store = Self.filled(series, every: 7, for: 30 * 3_600)
    let accessory = try #require(store.accessories["A"])
    #expect(accessory.series.count == series)
    #expect(accessory.byteCount <= HistoryLadder.accessoryByteLimit && store.byteCount == accessory.byteCount)
    let points = accessory.series.reduce(0) { sum, series in
      sum + series.rings.reduce(0) { $0 + $1.buckets.capacity }
    }
    #expect(points <= HistoryLadder.pointLimit + 8 * series)
    #expect(MemoryLayout<HistoryBucket>.stride * points <= HistoryLadder.accessoryByteLimit)
  }

  @Test func moreSeriesThanAreKept() {
    var store = HistoryStore()
    var told = 0
    for round in 0..<3 {
      for index in 0..<300 where !store.add("A", "value_\(index)", unit: nil, 1, at: 100 + Double(round)) { told += 1 }
    }
    #expect(told == 1)
    #expect(store.accessories["A"]?.series.map(\.name) == (0..<36).map { "value_\($0)" })
  }

  @Test func theResolutionFallsWithTheAge() throws {
    let store = Self.filled(1, every: 5, for: 26 * 3_600)
    let now = 1_000_000.0 + 26 * 3_600
    let points = try #require(store.accessories["A"]).series[0].points(since: now - 86_400, offset: 0)
    // They follow one another without overlapping, each twice as old reading once.
    for (point, next) in zip(points, points.dropFirst()) { #expect(point.end == next.time) }
    #expect(points.allSatisfy { $0.mean != nil })
    let first = try #require(points.first)
    #expect(first.time <= now - 86_400 + 300 && first.end > now - 86_400)
    func spans(_ age: ClosedRange<Double>) -> Set<Double> {
      Set(points.filter { age.contains(now - $0.time) }.map(\.span))
    }
    #expect(spans(0...3_500) == [10])
    #expect(spans(3_700...21_500) == [60])
    #expect(spans(21_900...86_000) == [300])
    // Each has the mean, the least and the greatest of its readings, which are their times.
    for point in points.dropFirst().dropLast() {
      #expect(point.least.map { abs($0 - point.time) <= 5 } == true, "\(point)")
      #expect(point.greatest.map { abs($0 - point.end) <= 5 } == true, "\(point)")
      #expect(point.mean.map { abs($0 - (point.time + point.span / 2)) <= 5 } == true, "\(point)")
    }
  }

  @Test func aPauseIsAGapAndAPollIsNone() throws {
    var store = HistoryStore()
    for index in 0..<20 { store.add("A", "x", unit: nil, 1, at: 1_000 + Double(index) * 60) }
    for index in 0..<20 { store.add("A", "x", unit: nil, 2, at: 5_000 + Double(index) * 60) }
    store.interrupt("A")
    for index in 0..<20 { store.add("A", "x", unit: nil, 3, at: 6_250 + Double(index) * 60) }
    let points = try #require(store.accessories["A"]).series[0].points(since: 0, offset: 0)
    #expect(points.filter { $0.mean == nil }.map(\.time) == [2_150, 6_150])
    #expect(points.filter { $0.mean == nil }.map(\.end) == [5_000, 6_250])
    #expect(points.filter { $0.mean != nil }.map(\.span).allSatisfy { $0 == 60 || $0 == 10 })
  }

  @Test func theHistoryHoldsOnlyFiniteNumbers() throws {
    var store = HistoryStore()
    for value in [1e300, -1e300, 0, Double.leastNonzeroMagnitude] { store.add("A", "x", unit: nil, value, at: 5) }
    let point = try #require(store.accessories["A"]?.series[0].points(since: 0, offset: 0).first)
    #expect(point.greatest == Double(Float.greatestFiniteMagnitude).rounded() || point.greatest?.isFinite == true)
    #expect(point.mean?.isFinite == true)
    let text = AccessoryValue("mode", content: .choice(word: "bulk", number: 3))
    #expect(text.historyNumber == nil)
    #expect(AccessoryValue("battery.percent", unit: .percent, number: 3).historyNumber == nil)
    #expect(AccessoryValue("x", unit: .volt, number: 3).historyNumber == 3)
  }

  @Test func aReadingKeepsItsDigits() throws {
    var store = HistoryStore()
    for _ in 0..<1_000 { store.add("A", "x", unit: "V", 3.712, at: 5) }
    #expect(store.accessories["A"]?.series[0].points(since: 0, offset: 0) == [.init(time: 0, span: 10, 3.712)])
  }

  @Test func theOldestUnusedAccessoryLeaves() {
    var store = HistoryStore(byteLimit: 40_000)
    for index in 0..<1_000 {
      // One of them is read again and again.
      store.add("busy", "x", unit: nil, 1, at: Double(index) * 10)
      store.add("id \(index)", "x", unit: nil, 1, at: Double(index) * 10 + 5)
      #expect(store.byteCount <= 40_000)
    }
    #expect(store.byteCount == store.accessories.values.reduce(0) { $0 + $1.byteCount })
    #expect(store.accessories["busy"] != nil && store.accessories["id 999"] != nil)
    #expect(store.accessories["id 0"] == nil)
    #expect(store.unwritten == Set(store.accessories.keys))
  }
}
