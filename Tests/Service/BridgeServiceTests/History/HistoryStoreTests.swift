// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Glibc
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
      HistoryLimits.ownBytes + HistoryLimits.seriesLimit * HistoryLimits.seriesBytes + HistoryLimits.pointLimit * stride
    #expect(most <= HistoryLimits.accessoryByteLimit)
    for count in 1...HistoryLimits.seriesLimit {
      let capacities = HistoryLimits.capacities(seriesCount: count)
      #expect(capacities.reduce(0, +) * count <= HistoryLimits.pointLimit, "\(count) series")
      #expect(capacities.allSatisfy { $0 > 0 })
      // 24 hours are kept of each series.
      #expect(Double(capacities[2] * HistoryTier.recent[2].pointSeconds) >= HistoryTier.recentReach)
    }
    #expect(HistoryLimits.capacities(seriesCount: 4) == HistoryTier.recent.map(\.capacity))
    // The texts of a series, its three lists with what the allocator adds, and the series itself.
    #expect(
      ReadingLimits.nameBytes + ReadingLimits.unitBytes + 3 * 64 + MemoryLayout<SeriesHistory>.stride
        <= HistoryLimits.seriesBytes)
    #expect(HistoryLimits.idBytes + MemoryLayout<AccessoryHistory>.stride + 512 <= HistoryLimits.ownBytes)
  }

  @Test(arguments: [1, 4, 12, 36]) func anAccessoryStaysWithinItsBound(series: Int) throws {
    let store = Self.filled(series, every: 7, for: 30 * 3_600)
    let accessory = try #require(store.accessories["A"])
    #expect(accessory.series.count == series)
    #expect(accessory.byteCount <= HistoryLimits.accessoryByteLimit && store.byteCount == accessory.byteCount)
    let points = accessory.series.reduce(0) { sum, series in
      sum + series.rings.reduce(0) { $0 + $1.buckets.capacity }
    }
    #expect(points <= HistoryLimits.pointLimit + 8 * series)
    #expect(MemoryLayout<HistoryBucket>.stride * points <= HistoryLimits.accessoryByteLimit)
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

  /// The last value of an accessory that nobody polls holds while it is attached: from one reading to the next, and until now. A current
  /// doesn't, since energy is counted from it.
  @Test func aQuietAccessoryHasNoGap() throws {
    var store = HistoryStore()
    func points(_ place: Int, until now: Double) -> [ReadingSeries.Point] {
      store.accessories["A"]?.series[place].points(since: 0, until: now, offset: 0) ?? []
    }
    for (time, value) in [(1_000.0, 1.0), (9_000, 2)] {
      for name in ["x", ReadingSeries.current] { store.add("A", name, unit: nil, value, holds: true, at: time) }
    }
    #expect(points(0, until: 20_000).map(\.mean) == [1, 2] && points(0, until: 20_000).last?.end == 20_000)
    #expect(points(0, until: 20_000).first?.end == 9_000)
    #expect(points(1, until: 20_000).map(\.mean) == [1, nil, 2] && points(1, until: 20_000).last?.end == 9_010)
    store.interrupt("A")
    #expect(points(0, until: 20_000).last?.end == 9_010)
    store.add("A", "x", unit: nil, 3, holds: true, at: 30_000)
    #expect(points(0, until: 40_000).map(\.mean) == [1, 2, nil, 3])
    // What is polled and doesn't answer is a gap.
    store.add("A", "x", unit: nil, 4, holds: false, at: 100_000)
    #expect(
      points(0, until: 200_000).map(\.mean).suffix(3) == [3, nil, 4])
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

  /// Random floats, decimals with few places, and what lies between two of them.
  private static var floats: [Float] {
    var seed: UInt64 = 1
    func next() -> UInt64 {
      seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return seed >> 32
    }
    var floats: [Float] = [0, -0.0, 1e-3, 0.000_999_999_9, 999_999.94, 1e6, 1e-5, .leastNonzeroMagnitude]
    floats += [16_384.0625, 131_072.125, 128.015625, 2_049.000_244_140_625]
    for _ in 0..<40_000 {
      let random = Float(bitPattern: UInt32(next()))
      if random.isFinite { floats.append(random) }
      floats.append(Float(next()) / 4_294_967_296 * 1_000)
      floats.append(-Float(next()) / 4_294_967_296)
      let power = [1, 10, 100, 1_000, 10_000, 100_000.0][Int(next() % 6)]
      floats.append(Float(Double(next() % 10_000_000) / power))
      floats.append(Float(next() % 4_000_000_000) / 256)
    }
    return floats
  }

  /// Arithmetic finds the decimal that printing does, or another one that is as short and as near.
  @Test func aFloatIsItsShortestDecimal() throws {
    for float in Self.floats {
      let (short, text) = (float.asShortDouble, try #require(Double("\(float)")))
      if short == text, short.sign == text.sign { continue }
      let distances = (abs(short - Double(float)), abs(text - Double(float)))
      let isAsNear = abs(distances.0 - distances.1) < 1e-3 * Double(float.ulp)
      if Float(short) != float || "\(short)".count > "\(text)".count || !isAsNear {
        Issue.record("\(float) is \(short), not \(text)")
      }
    }
  }

  /// A mean has six digits.
  @Test func aMeanHasSixDigits() throws {
    for float in Self.floats where float != 0 {
      let (mean, distance) = (Double("\(float)") ?? 0, float.ulp * 4)
      let bucket = HistoryBucket(
        slot: 1, count: 2, hasGapBefore: false, mean: float, least: float - distance, greatest: float + distance)
      guard let bucket else { continue }
      let places = 5 - Int(floor(log10(abs(mean))))
      let power = pow(10, Double(abs(places)))
      let shown = places < 0 ? (mean / power).rounded() * power : (mean * power).rounded() / power
      let (least, greatest) = (bucket.least.asShortDouble, bucket.greatest.asShortDouble)
      let expected = abs(places) > 30 ? mean : min(max(shown, least), greatest)
      if bucket.shown.mean != expected { Issue.record("\(float) is shown as \(bucket.shown.mean), not \(expected)") }
    }
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
