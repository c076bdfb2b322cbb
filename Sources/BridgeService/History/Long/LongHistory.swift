// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// The history of days and months. It is made of the short history: once an hour, the hours that are over are folded and appended, and
/// once a day the days. After a loss of power the short history still has them.
///
/// Its times are the wall clock's when they are written. Its methods block and are called on the history's queue, one at a time.
final class LongHistory: Sendable {
  private struct State: Sendable {
    var days: LongRing
    var months: LongRing
    /// The day in which days were folded for the last time.
    var day: UInt32?
  }

  private let state: Locked<State>

  /// A history in these files: `LongTier.fileCount` for each tier.
  init(days: [any HistoryFile], months: [any HistoryFile]) {
    state = Locked(State(days: LongRing(.days, days), months: LongRing(.months, months)))
  }

  /// How long after its end an hour is written, in seconds: the next reading tells how long the last one holds.
  static let patience = 900.0

  /// The first hour that isn't over, or not long enough. `wall` is in seconds since 1970.
  static func hour(at wall: Double) -> UInt32 {
    UInt32(clamping: Int(min(max(wall - patience, 0), 4e9) / 3_600))
  }

  // MARK: - Writing

  /// Writes the hours and the days that are over and not written yet. `offset` leads from the store's times to the wall clock.
  func note(_ store: HistoryStore, offset: Double, wall: Double) throws(AccessoryError) {
    var failure: AccessoryError?
    state.withLock { state in
      do throws(AccessoryError) {
        try Self.noteHours(store, offset, Self.hour(at: wall), &state.days)
        let day = Self.hour(at: wall) / 24
        guard state.day != day else { return }
        try Self.noteDays(day, state.days, &state.months)
        state.day = day
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
  }

  private static func noteHours(
    _ store: HistoryStore, _ offset: Double, _ now: UInt32, _ ring: inout LongRing
  ) throws(AccessoryError) {
    guard now > 0 else { return }
    let last = try ring.lastSlots()
    var blocks: [LongBlock] = []
    for (id, accessory) in store.accessories {
      let hours = slots(after: last[id], before: now, most: 25)
      guard !hours.isEmpty else { continue }
      // The points before tell whether the first one follows a gap.
      let start = Double(hours.lowerBound) * 3_600 - offset - 7_200
      let series = accessory.series.map {
        ReadingSeries(name: $0.name, unit: $0.unit, points: $0.points(since: start, offset: offset))
      }
      blocks += LongBlock.blocks(.days, id: id, slots: hours, series, Energy.count(series))
    }
    guard !blocks.isEmpty else { return }
    try ring.append(blocks.sorted { ($0.slot, $0.id) < ($1.slot, $1.id) })
  }

  private static func noteDays(
    _ today: UInt32, _ days: LongRing, _ ring: inout LongRing
  ) throws(AccessoryError) {
    guard today > 0 else { return }
    let last = try ring.lastSlots()
    var read: [String: LongExtract] = [:]
    let oldest = today > 8 ? today - 8 : 0
    try days.read(newest: 2, isWanted: { (oldest..<today).contains($0 / 24) }) { block in
      guard slots(after: last[block.id], before: today, most: 8).contains(block.slot / 24) else { return }
      read[block.id, default: LongExtract(.days)].add(block)
    }
    var blocks: [LongBlock] = []
    for (id, extract) in read {
      blocks += LongBlock.blocks(
        .months, id: id, slots: slots(after: last[id], before: today, most: 8), extract.series, extract.energy)
    }
    guard !blocks.isEmpty else { return }
    try ring.append(blocks.sorted { ($0.slot, $0.id) < ($1.slot, $1.id) })
  }

  /// The slots to write: those after the last one, but at most `most`. If the last one lies in the future, the clock was wrong then.
  private static func slots(after last: UInt32?, before now: UInt32, most: UInt32) -> Range<UInt32> {
    let oldest = now > most ? now - most : 0
    guard let last, last < now else { return (last == nil ? oldest : now - 1)..<now }
    return max(oldest, last + 1)..<now
  }

  // MARK: - Reading

  /// The files that are there and have no bytes.
  var emptyFiles: [any HistoryFile] { state.withLock { $0.days.emptyFiles + $0.months.emptyFiles } }

  /// What the files have of an accessory since `time`, up to `now`; both in seconds since 1970.
  func extract(
    of id: String, since time: Double, now: Double
  ) throws(AccessoryError) -> (days: LongExtract, months: LongExtract) {
    var result: Result<(days: LongExtract, months: LongExtract), AccessoryError>?
    state.withLock { state in
      do throws(AccessoryError) {
        let days = try Self.extract(state.days, id, time, now)
        let months =
          now - time > LongTier.daysReach ? try Self.extract(state.months, id, time, now) : LongExtract(.months)
        result = .success((days, months))
      } catch {
        result = .failure(error)
      }
    }
    return try (result ?? .success((LongExtract(.days), LongExtract(.months)))).get()
  }

  private static func extract(
    _ ring: LongRing, _ id: String, _ time: Double, _ now: Double
  ) throws(AccessoryError) -> LongExtract {
    var extract = LongExtract(ring.tier)
    let seconds = Double(ring.tier.blockSeconds)
    try ring.read(
      id,
      isWanted: { slot in
        let start = Double(slot) * seconds
        // A block of the future was written when the clock was wrong.
        return start + seconds > time && start <= now
      }, { extract.add($0) })
    return extract
  }
}

/// The blocks of one accessory in one tier, as series.
struct LongExtract: Sendable {
  let tier: LongTier
  private(set) var energy = Energy()
  private var known: [(name: String, unit: String?, buckets: [HistoryBucket])] = []

  init(_ tier: LongTier) { self.tier = tier }

  var isEmpty: Bool { known.isEmpty }

  /// The names of the series, in the order in which they were first read.
  var names: [String] { known.map(\.name) }

  /// Adds a block. It replaces what earlier blocks have of the same time.
  mutating func add(_ block: LongBlock) {
    for (hour, amount) in block.energy.hours { energy.hours[hour] = amount }
    for (place, series) in block.series.enumerated() {
      // Most blocks have the same series in the same order.
      let isNext = place < known.count && known[place].name == series.name
      guard let index = isNext ? place : known.firstIndex(where: { $0.name == series.name }) else {
        known.append((series.name, series.unit, series.buckets))
        continue
      }
      known[index].unit = series.unit
      known[index].buckets += series.buckets
    }
  }

  /// The series, in the order in which they were first read.
  var series: [ReadingSeries] {
    known.map { ReadingSeries(name: $0.name, unit: $0.unit, points: Self.points($0.buckets, tier)) }
  }

  private static func points(_ buckets: [HistoryBucket], _ tier: LongTier) -> [ReadingSeries.Point] {
    var inOrder: [HistoryBucket] = []
    inOrder.reserveCapacity(buckets.count)
    // Sorting is stable, so of the same slot the last one stays.
    for bucket in buckets.sorted(by: { $0.slot < $1.slot }) {
      if inOrder.last?.slot == bucket.slot { inOrder.removeLast() }
      inOrder.append(bucket)
    }
    return HistorySpan.points(inOrder.map { HistorySpan($0, width: Double(tier.pointSeconds)) }[...], offset: 0)
  }
}

extension Energy {
  /// Counts the energy of a battery's series.
  static func count(_ series: [ReadingSeries]) -> Energy {
    guard let voltage = series.first(where: { $0.name == ReadingSeries.voltage }),
      let current = series.first(where: { $0.name == ReadingSeries.current })
    else { return Energy() }
    return count(voltage: voltage.points, current: current.points)
  }
}
