// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// The history of all accessories with its timeline, and what must be written to the file. It has no clock and no file: its owner
/// passes the times and writes. Used on the service's actor only.
struct HistoryKeeper: Sendable {
  private(set) var store: HistoryStore
  private(set) var timeline: HistoryTimeline
  /// Whether the whole file must be rewritten, because it is missing or damaged or because buckets have moved in time.
  private(set) var needsWhole = true
  /// The current size of the file, and its size after it was last rewritten.
  private var fileBytes = 0
  private var wholeBytes = 0

  /// The file is rewritten when it has grown by this much, and by five times its size after the last rewrite or by `mostGrowth`.
  private static let roomToGrow = 262_144
  private static let mostGrowth = 8 << 20

  /// Creates an empty history, or one that continues a file's contents. Here and in all methods, `uptime` is the time on the boot
  /// clock and `wall` is the wall clock in seconds since 1970. `boot` identifies this boot of the machine; empty if unknown.
  init(
    uptime: MonotonicTime, wall: Double, boot: String = "", after contents: HistoryContents? = nil,
    byteLimit: Int = HistoryLimits.totalByteLimit
  ) {
    store = contents?.store ?? HistoryStore(byteLimit: byteLimit)
    timeline = HistoryTimeline(boot: boot, uptime: uptime, wall: wall, after: contents?.anchor)
    guard let contents, contents.anchor != nil else { return }
    needsWhole = contents.dropped > 0 || contents.isUnfinished || contents.isOld
    (fileBytes, wholeBytes) = (contents.byteCount, min(contents.byteCount, store.byteCount))
  }

  /// Whether there is anything to write.
  var isUnwritten: Bool { !store.unwritten.isEmpty }

  /// Stores a reading. Returns false once, when the accessory first exceeds the number of values that are kept.
  mutating func note(
    _ values: some Sequence<(name: String, unit: String?, value: Double)>, of id: String, holds: Bool = false,
    at uptime: MonotonicTime, wall: Double
  ) -> Bool {
    followClock(wall, uptime)
    let (id, time) = (Self.key(id), timeline.time(at: uptime))
    var isKept = true
    for value in values where !store.add(id, value.name, unit: value.unit, value.value, holds: holds, at: time) {
      isKept = false
    }
    return isKept
  }

  /// Whether there are readings of an accessory.
  func knows(_ id: String) -> Bool { store.accessories[Self.key(id)] != nil }

  /// Notes that an accessory is disconnected.
  mutating func interrupt(_ id: String) { store.interrupt(Self.key(id)) }

  /// The readings of the last `seconds`, of a day if nil, as far as they are in memory.
  mutating func answer(of id: String, last seconds: Double?, at uptime: MonotonicTime, wall: Double) -> HistoryAnswer {
    followClock(wall, uptime)
    return HistoryAnswer(
      recent: store.accessories[Self.key(id)], offset: timeline.offset,
      seconds: min(max(seconds ?? HistoryTier.recentReach, 0), HistoryTier.reach),
      now: timeline.time(at: uptime) + timeline.offset)
  }

  private mutating func followClock(_ wall: Double, _ uptime: MonotonicTime) {
    guard let move = timeline.note(wall: wall, at: uptime) else { return }
    store.shift(before: move.before, by: move.by)
    needsWhole = true
  }

  /// An accessory's identity, cut to the maximum length.
  private static func key(_ id: String) -> String { ReadingLimits.cut(id, to: HistoryLimits.idBytes) }

  // MARK: - Writing

  /// Returns what to write now; nil if nothing has changed. The last write of a run includes the finest buckets. Call `wrote` or
  /// `failedToWrite` afterwards.
  mutating func takeWrite(at uptime: MonotonicTime, wall: Double, isLast: Bool = false) -> HistoryWrite? {
    guard isUnwritten || isLast else { return nil }
    followClock(wall, uptime)
    let anchor = timeline.anchor(at: uptime, wall: wall)
    let growth = max(Self.roomToGrow, min(5 * wholeBytes, Self.mostGrowth))
    guard needsWhole || fileBytes > wholeBytes + growth else {
      let blocks = store.takeUnwritten(finest: isLast)
      return blocks.isEmpty ? nil : HistoryWrite(blocks: blocks, isWhole: false, anchor: anchor)
    }
    store.wroteAll(finest: isLast)
    guard !store.accessories.isEmpty else { return nil }
    needsWhole = false
    return HistoryWrite(blocks: store.blocks(finest: isLast), isWhole: true, anchor: anchor)
  }

  /// Notes a successful write: `count` bytes were appended, or the file was rewritten with `count` bytes.
  mutating func wrote(_ count: Int, asWhole isWhole: Bool) {
    if isWhole { (fileBytes, wholeBytes) = (count, count) } else { fileBytes += count }
  }

  /// Notes a failed write. Its data is in no file, so the next write rewrites everything.
  mutating func failedToWrite() { needsWhole = true }
}
