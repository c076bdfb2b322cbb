// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import TestSupport
import Testing

@testable import BridgeService

/// The files of a history, in memory.
struct LongFiles {
  let recent = MemoryHistoryFile()
  let days: [MemoryHistoryFile]
  let months: [MemoryHistoryFile]

  init(days: [[UInt8]?] = [], months: [[UInt8]?] = []) {
    func files(_ bytes: [[UInt8]?], _ part: HistoryPart) -> [MemoryHistoryFile] {
      (0..<part.fileCount).map { MemoryHistoryFile($0 < bytes.count ? bytes[$0] : nil) }
    }
    (self.days, self.months) = (files(days, .days), files(months, .months))
    history = HistoryDisk(recent, days: self.days, months: self.months)
  }

  let history: HistoryDisk
  var size: Int { (days + months).reduce(0) { $0 + $1.size } }
}

struct LongHistoryTests {
  /// 2026-11-01 00:00 UTC.
  private static let begin = 1_793_491_200.0

  /// A store whose timeline is the wall clock: an accessory that is read every `pause` seconds in `time`.
  private static func store(
    _ ids: [String] = ["A"], every pause: Double = 60, in time: Range<Double>,
    after store: HistoryStore = HistoryStore(), value: (Double) -> Double = { _ in 2 }
  ) -> HistoryStore {
    var store = store
    for id in ids {
      for now in stride(from: time.lowerBound, to: time.upperBound, by: pause) {
        store.add(id, ReadingSeries.percent, unit: "%", 50, at: now)
        store.add(id, ReadingSeries.voltage, unit: "V", 12.5, at: now)
        store.add(id, ReadingSeries.current, unit: "A", value(now), at: now)
      }
    }
    return store
  }

  /// Follows an accessory until this many hours are written, one at a time.
  private static func followed(
    _ ids: [String] = ["A"], hours: Int, every pause: Double = 300, _ files: LongFiles = LongFiles(),
    value: (Double) -> Double = { $0.truncatingRemainder(dividingBy: 86_400) < 43_200 ? 4 : -2 }
  ) throws -> LongFiles {
    var kept = HistoryStore()
    for hour in 0...hours {
      let start = begin + Double(hour) * 3_600
      kept = store(ids, every: pause, in: start..<(start + 3_600), after: kept, value: value)
      try files.history.note(kept, offset: 0, wall: start + 3_599)
    }
    return files
  }

  @Test func foldingKeepsMeansExtremesAndGaps() {
    typealias Point = ReadingSeries.Point
    let series = ReadingSeries(
      name: "x",
      points: [
        Point(time: 0, span: 300, mean: 1, least: 0, greatest: 2), Point(time: 300, span: 100, 5),
        Point(time: 400, span: 600, nil), Point(time: 1_000, span: 60, 7), Point(time: 5_000, span: 60, 8),
      ])
    let folded = series.folded(to: 500).points
    #expect(
      folded == [
        Point(time: 0, span: 500, mean: 2, least: 0, greatest: 5), Point(time: 500, span: 500, nil),
        Point(time: 1_000, span: 4_000, 7), Point(time: 5_000, span: 500, 8),
      ])
    #expect(ReadingSeries(name: "x").folded(to: 500).points.isEmpty)
  }

  @Test func energyIsCountedByHoursWithWhatIsMissing() {
    typealias Point = ReadingSeries.Point
    let voltage = [
      Point(time: 0, span: 7_200, 12), Point(time: 7_200, span: 600, nil), Point(time: 7_800, span: 600, 10),
    ]
    let current = [
      Point(time: 0, span: 1_800, 5), Point(time: 1_800, span: 3_600, -10), Point(time: 5_400, span: 10_000, 0),
    ]
    let energy = Energy.count(voltage: voltage, current: current)
    #expect(energy.hours[0] == Energy.Amount(inWattHours: 30, outWattHours: 60, seconds: 3_600))
    #expect(energy.hours[1] == Energy.Amount(inWattHours: 0, outWattHours: 60, seconds: 3_600))
    #expect(energy.hours[2] == Energy.Amount(seconds: 600))
    #expect(energy.hours.count == 3)
    let days = energy.amounts { $0 < 5_400 ? "one" : "two" }
    #expect(days["one"]?.outWattHours == 60 && days["two"]?.outWattHours == 60)
    // Nonsense of a device isn't counted, and takes no time.
    let wrong = [
      Point(time: -1e300, span: .infinity, 1), Point(time: .nan, span: 1, 1), Point(time: 1e18, span: 1e18, 1),
    ]
    #expect(Energy.count(voltage: wrong, current: wrong).hours.isEmpty)
  }

  @Test func hoursAreWrittenOnceTheyAreOver() throws {
    let files = try Self.followed(hours: 3)
    let count = files.days[0].writes
    let now = Self.begin + 14_399
    try files.history.note(Self.store(in: Self.begin..<now), offset: 0, wall: now)
    #expect(files.days[0].writes == count, "nothing is written twice")
    let (days, months) = try files.history.extract(of: "A", since: Self.begin, now: now)
    #expect(months.isEmpty)
    let current = try #require(days.series.first { $0.name == ReadingSeries.current })
    #expect(current.unit == "A" && current.points.count == 12 && current.points.allSatisfy { $0.mean == 4 })
    #expect(current.points.map(\.time) == (0..<12).map { Self.begin + Double($0) * 900 })
    #expect(days.energy.hours.count == 3)
    #expect(days.energy.hours.values.allSatisfy { abs($0.inWattHours - 50) < 0.01 && $0.outWattHours == 0 })
  }

  @Test func aDayIsFoldedWhenItIsOver() throws {
    let files = try Self.followed(hours: 40 * 24 + 1)
    let now = Self.begin + 40 * 86_400 + 7_199
    let (days, months) = try files.history.extract(of: "A", since: now - 39 * 86_400, now: now)
    let percent = try #require(months.series.first { $0.name == ReadingSeries.percent })
    #expect(percent.points.count == 39 && percent.points.allSatisfy { $0.span == 86_400 && $0.mean == 50 })
    let current = try #require(months.series.first { $0.name == ReadingSeries.current })
    #expect(current.points.allSatisfy { $0.least == -2 && $0.greatest == 4 && $0.mean == 1 })
    // Half a day of 50 W in, and half a day of 25 W out.
    let amounts = months.energy.amounts { ($0 / 86_400).rounded(.down) }
    #expect(amounts.values.allSatisfy { abs($0.inWattHours - 600) < 1 && abs($0.outWattHours - 300) < 1 })
    #expect(amounts.values.allSatisfy { $0.seconds == 86_400 })
    #expect(days.energy.hours.count >= 32 * 24)
  }

  /// A service that was killed for a while writes the hours that its short history still has.
  @Test func hoursOfAnEarlierRunAreWrittenLater() throws {
    let store = Self.store(every: 300, in: Self.begin..<(Self.begin + 20 * 3_600))
    let files = LongFiles()
    try files.history.note(store, offset: 0, wall: Self.begin + 20 * 3_600 + 5)
    let next = HistoryDisk(files.recent, days: files.days, months: files.months)
    let later = Self.store(every: 300, in: (Self.begin + 20 * 3_600)..<(Self.begin + 23 * 3_600), after: store)
    try next.note(later, offset: 0, wall: Self.begin + 23 * 3_600 + 5)
    let (days, _) = try next.extract(of: "A", since: Self.begin, now: Self.begin + 23 * 3_600 + 5)
    #expect(days.energy.hours.count == 22)
    #expect(days.series.allSatisfy { $0.points.count == 22 * 4 })
  }

  /// A clock that was a year ahead and is set back: the history goes on, and what lies in the future isn't shown.
  @Test func aClockThatIsSetBackStopsNothing() throws {
    let files = LongFiles()
    let ahead = Self.begin + 366 * 86_400
    try files.history.note(Self.store(in: Self.begin..<(Self.begin + 7_200)), offset: 366 * 86_400, wall: ahead + 7_201)
    let store = Self.store(in: Self.begin..<(Self.begin + 14_400))
    try files.history.note(store, offset: 0, wall: Self.begin + 14_401)
    let (days, _) = try files.history.extract(of: "A", since: Self.begin, now: Self.begin + 14_401)
    #expect(days.energy.hours.keys.allSatisfy { Double($0) * 3_600 < Self.begin + 14_401 } && !days.isEmpty)
  }

  @Test func theRingReplacesTheOldest() throws {
    let files = try Self.followed(hours: 5 * 192 + 30, every: 900)
    let now = Self.begin + Double(5 * 192 + 30) * 3_600
    #expect(files.days.allSatisfy { $0.size > 0 })
    let (days, _) = try files.history.extract(of: "A", since: 0, now: now)
    let points = try #require(days.series.first).points
    #expect(points.first?.time == Self.begin + 192 * 3_600)
    #expect(points.last?.end == now)
    // Another run goes on where this one has ended.
    let again = HistoryDisk(files.recent, days: files.days, months: files.months)
    let sizes = files.days.map(\.size)
    try again.note(Self.store(in: now..<(now + 3_600)), offset: 0, wall: now + 4_501)
    #expect(zip(files.days.map(\.size), sizes).count { $0 != $1 } == 1)
  }

  /// The most that an accessory may take: all series, names as long as they may be, readings that always differ.
  @Test func anAccessoryTakesLessThanTwoMegabytes() throws {
    let id = String(repeating: "i", count: HistoryLimits.idBytes)
    let files = LongFiles()
    var rings = [HistoryFiles(.days, files.days), HistoryFiles(.months, files.months)]
    for index in rings.indices {
      let part = rings[index].part
      let tier = part.tiers[0]
      for slot in 0..<UInt32(part.fileCount * part.slotsOfFile) {
        let start = slot * UInt32(tier.capacity)
        let series = (0..<HistoryPart.longSeriesLimit).map { number in
          HistoryBlock.Series(
            name: String(repeating: "n", count: 60) + "\(number)", unit: String(repeating: "u", count: 16),
            buckets: (0..<tier.capacity).compactMap {
              HistoryBucket(
                slot: start + UInt32($0), count: 1, hasGapBefore: true, mean: 2, least: 1,
                greatest: 3)
            })
        }
        let hours = (0..<tier.hourCount).map {
          (Int(slot) * tier.hourCount + $0, Energy.Amount(inWattHours: 1, outWattHours: 1, seconds: 1))
        }
        let energy = Energy(hours: Dictionary(uniqueKeysWithValues: hours))
        try rings[index].append([HistoryBlock(id: id, tier: tier, start: start, series: series, energy: energy)])
      }
    }
    #expect(files.size < 2_000_000, "\(files.size)")
    #expect(files.size > 1_000_000)
    let all =
      HistoryPart.days.fileCount * HistoryPart.days.bytesOfFile + HistoryPart.months.fileCount
      * HistoryPart.months.bytesOfFile
    #expect(all <= 64 << 20)
  }

  // MARK: - Damage

  private static func slots(_ bytes: [UInt8]) -> Set<UInt32> {
    var slots: Set<UInt32> = []
    HistoryRecord.read(bytes, .days) { slots.insert($0.slot) }
    return slots
  }

  @Test func aFileThatIsCutAnywhereKeepsWhatIsWhole() throws {
    let files = try Self.followed(hours: 30)
    let bytes = try #require(files.days[0].state.value.bytes)
    #expect(Self.slots(bytes).count == 30)
    var known: Set<UInt32> = []
    for end in 0...bytes.count {
      let slots = Self.slots(Array(bytes[..<end]))
      #expect(slots.isSuperset(of: known), "\(end)")
      known = slots
    }
    #expect(known.count == 30)
    // The service goes on behind a torn end.
    for end in stride(from: 1, to: bytes.count, by: 97) {
      let cut = LongFiles(days: [Array(bytes[..<end])])
      let now = Self.begin + 31 * 3_600
      try cut.history.note(Self.store(in: (now - 3_600)..<now), offset: 0, wall: now + 901)
      let (days, _) = try cut.history.extract(of: "A", since: Self.begin, now: now)
      #expect(days.series.first?.points.last?.end == now, "\(end)")
    }
  }

  @Test func aWrongByteCostsOneBlockOrTheDayOfItsNames() throws {
    let files = try Self.followed(hours: 60)
    let bytes = try #require(files.days[0].state.value.bytes)
    for place in stride(from: HistoryRecord.signature.count, to: bytes.count, by: 3) {
      var damaged = bytes
      damaged[place] ^= 0x20
      #expect(Self.slots(damaged).count >= 59, "\(place)")
    }
    #expect(Self.slots([]).isEmpty && Self.slots(Array("another file\n".utf8)).isEmpty)
  }

  /// A disk that can't be written: the next write has what is missing.
  @Test func aFailedWriteIsMadeUpFor() throws {
    let files = LongFiles()
    let store = Self.store(every: 300, in: Self.begin..<(Self.begin + 7_200))
    try files.history.note(store, offset: 0, wall: Self.begin + 4_600)
    for file in files.days { file.state.update { $0.failure = AccessoryError(errno: .noSpace, "writing") } }
    #expect(throws: AccessoryError.self) { try files.history.note(store, offset: 0, wall: Self.begin + 8_200) }
    for file in files.days { file.state.update { $0.failure = nil } }
    try files.history.note(store, offset: 0, wall: Self.begin + 8_200)
    let (days, _) = try files.history.extract(of: "A", since: Self.begin, now: Self.begin + 8_200)
    #expect(days.energy.hours.count == 2)
  }

  // MARK: - Answers

  @Test(arguments: [(7.0, 900.0), (30, 1_800), (390, 21_600)])
  func anAnswerIsBoundedAndWhole(days: Double, width: Double) throws {
    let files = try Self.followed(hours: 45 * 24, every: 900)
    let now = Self.begin + 45 * 86_400
    let seconds = days * 86_400
    let long = try files.history.extract(of: "A", since: now - seconds, now: now)
    let store = Self.store(every: 300, in: (now - 86_400)..<now)
    let answer = HistoryAnswer(
      recent: store.accessories["A"], offset: 0, seconds: seconds, now: now, long: long)
    let series = answer.series(["battery.percent", "voltage_mv", "unknown"])
    #expect(series.map(\.name) == [ReadingSeries.percent, ReadingSeries.voltage])
    for one in series {
      #expect(one.points.allSatisfy { $0.mean != nil && $0.span >= width } && one.points.count <= 2_002)
      #expect(zip(one.points, one.points.dropFirst()).allSatisfy { $0.end == $1.time }, "no gap and no overlap")
      #expect(one.points.last.map { $0.end >= now } == true)
      #expect((one.points.first?.time ?? 0) <= max(now - seconds, Self.begin) + width)
    }
    let hours = min(days, 45) * 24
    #expect(abs(Double(answer.energy.hours.count) - hours) <= 1)
  }
}
