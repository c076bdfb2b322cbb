// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// The history's files: the last day, the days and the months. Days and months are made of the last day: once an hour, the hours that
/// are over are folded and appended, and once a day the days. After a loss of power the last day still has them. Their times are the
/// wall clock's when they are written.
///
/// The methods block and are called on the history's queue, one at a time.
final class HistoryDisk: Sendable {
  private struct State: Sendable {
    var recent, days, months: HistoryFiles
    /// The day in which days were folded for the last time.
    var day: UInt32?
  }

  /// The file of the last day.
  let file: any HistoryFile
  private let state: Locked<State>
  /// Whether there are files of days and months.
  private let isLong: Bool

  /// A history in these files: `HistoryPart.fileCount` for days and for months, or none.
  init(_ file: any HistoryFile, days: [any HistoryFile] = [], months: [any HistoryFile] = []) {
    self.file = file
    isLong = !days.isEmpty && !months.isEmpty
    state = Locked(
      State(
        recent: HistoryFiles(.recent, [file]), days: HistoryFiles(.days, days), months: HistoryFiles(.months, months)))
  }

  /// How long after its end an hour is written, in seconds: the next reading tells how long the last one holds.
  static let patience = 900.0

  /// The first hour that isn't over, or not long enough. `wall` is in seconds since 1970.
  static func hour(at wall: Double) -> UInt32 {
    UInt32(clamping: Int(min(max(wall - patience, 0), 4e9) / 3_600))
  }

  // MARK: - The last day

  /// Takes the folder for this service, and reads the last day; nil if there is no file.
  func read() throws(AccessoryError) -> HistoryContents? {
    try file.prepare()
    return try file.read(limit: HistoryPart.recent.bytesOfFile).map { HistoryContents($0) }
  }

  /// Writes what has changed in the last day. Returns the number of bytes.
  func write(_ write: HistoryWrite) throws(AccessoryError) -> Int {
    try file.prepare()
    return try state.withLock { state throws(AccessoryError) in
      try state.recent.write(write.blocks, at: write.anchor, asWhole: write.isWhole)
    }
  }

  // MARK: - Days and months

  /// Writes the hours and the days that are over and not written yet. `offset` leads from the store's times to the wall clock.
  func note(_ store: HistoryStore, offset: Double, wall: Double) throws(AccessoryError) {
    guard isLong else { return }
    try state.withLock { state throws(AccessoryError) in
      try Self.noteHours(store, offset, Self.hour(at: wall), &state.days)
      let day = Self.hour(at: wall) / 24
      guard state.day != day else { return }
      try Self.noteDays(day, state.days, &state.months)
      state.day = day
    }
  }

  private static func noteHours(
    _ store: HistoryStore, _ offset: Double, _ now: UInt32, _ ring: inout HistoryFiles
  ) throws(AccessoryError) {
    guard now > 0 else { return }
    let last = try ring.lastSlots()
    var blocks: [HistoryBlock] = []
    for (id, accessory) in store.accessories {
      let hours = slots(after: last[id], before: now, most: 25)
      guard !hours.isEmpty else { continue }
      // The points before tell whether the first one follows a gap.
      let start = Double(hours.lowerBound) * 3_600 - offset - 7_200
      let series = accessory.readings(since: start, offset: offset)
      blocks += HistoryBlock.blocks(.days, id: id, slots: hours, series, Energy.count(series))
    }
    try ring.append(blocks)
  }

  private static func noteDays(
    _ today: UInt32, _ days: HistoryFiles, _ ring: inout HistoryFiles
  ) throws(AccessoryError) {
    guard today > 0 else { return }
    let last = try ring.lastSlots()
    var read: [String: HistoryExtract] = [:]
    let oldest = today > 8 ? today - 8 : 0
    try days.read(newest: 2, isWanted: { (oldest..<today).contains($0 / 24) }) { block in
      guard slots(after: last[block.id], before: today, most: 8).contains(block.slot / 24) else { return }
      read[block.id, default: HistoryExtract(.days)].add(block)
    }
    var blocks: [HistoryBlock] = []
    for (id, extract) in read {
      blocks += HistoryBlock.blocks(
        .months, id: id, slots: slots(after: last[id], before: today, most: 8), extract.series, extract.energy)
    }
    try ring.append(blocks)
  }

  /// The slots to write: those after the last one, but at most `most`. If the last one lies in the future, the clock was wrong then.
  private static func slots(after last: UInt32?, before now: UInt32, most: UInt32) -> Range<UInt32> {
    let oldest = now > most ? now - most : 0
    guard let last, last < now else { return (last == nil ? oldest : now - 1)..<now }
    return max(oldest, last + 1)..<now
  }

  /// The files of days and months that are there and have no bytes.
  var emptyFiles: [any HistoryFile] { state.withLock { $0.days.emptyFiles + $0.months.emptyFiles } }

  /// What the files of days and months have of an accessory since `time`, up to `now`; both in seconds since 1970.
  func extract(
    of id: String, since time: Double, now: Double
  ) throws(AccessoryError) -> (days: HistoryExtract, months: HistoryExtract) {
    try state.withLock { state throws(AccessoryError) in
      let days = try Self.extract(state.days, .days, id, time, now)
      guard now - time > HistoryTier.daysReach else { return (days, HistoryExtract(.months)) }
      return (days, try Self.extract(state.months, .months, id, time, now))
    }
  }

  private static func extract(
    _ files: HistoryFiles, _ tier: HistoryTier, _ id: String, _ time: Double, _ now: Double
  ) throws(AccessoryError) -> HistoryExtract {
    var extract = HistoryExtract(tier)
    let seconds = Double(tier.blockSeconds)
    try files.read(
      id,
      isWanted: { slot in
        let start = Double(slot) * seconds
        // A block of the future was written when the clock was wrong.
        return start + seconds > time && start <= now
      }, { extract.add($0) })
    return extract
  }
}
