// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// The history of all accessories with its time line, and what of it has to be written. It has no clock and no file: its
/// owner passes the times, and writes. Used on the service's actor only.
struct HistoryKeeper: Sendable {
  private(set) var store: HistoryStore
  private(set) var timeline: HistoryTimeline
  /// Whether the file has to be written anew as a whole, because it is missing, damaged, or spans in it lie elsewhere in time now.
  private(set) var needsWhole = true
  /// The size of the file, and its size when it was last written as a whole.
  private var fileBytes = 0
  private var wholeBytes = 0

  /// The file is written anew when it is longer than this and twice as long as its whole content.
  private static let roomToGrow = 262_144

  /// An empty history, or one that continues what a file holds. `uptime` is the time of the boot clock, `wall` that of
  /// the wall clock in seconds since 1970, and so in the methods. `boot` names this boot of the machine; empty where that isn't known.
  init(
    uptime: MonotonicTime, wall: Double, boot: String = "", after contents: HistoryContents? = nil,
    byteLimit: Int = HistoryLadder.totalByteLimit
  ) {
    store = contents?.store ?? HistoryStore(byteLimit: byteLimit)
    timeline = HistoryTimeline(boot: boot, uptime: uptime, wall: wall, after: contents?.anchor)
    guard let contents, contents.anchor != nil else { return }
    needsWhole = contents.dropped > 0
    (fileBytes, wholeBytes) = (contents.byteCount, min(contents.byteCount, store.byteCount))
  }

  /// Whether there is something to write.
  var isUnwritten: Bool { !store.unwritten.isEmpty }

  /// Stores what was read of an accessory. Returns false if the accessory has more values than are kept, once.
  mutating func note(
    _ values: some Sequence<(name: String, unit: String?, value: Double)>, of id: String, at uptime: MonotonicTime,
    wall: Double
  ) -> Bool {
    followClock(wall, uptime)
    let (id, time) = (Self.key(id), timeline.time(at: uptime))
    var isKept = true
    for value in values where !store.add(id, value.name, unit: value.unit, value.value, at: time) { isKept = false }
    return isKept
  }

  /// Notes that an accessory is away.
  mutating func interrupt(_ id: String) { store.interrupt(Self.key(id)) }

  /// What was read in the last `seconds`, nil for all that is kept; nil where nothing was read of the accessory.
  mutating func extract(of id: String, last seconds: Double?, at uptime: MonotonicTime, wall: Double) -> HistoryExtract?
  {
    followClock(wall, uptime)
    let seconds = min(max(seconds ?? HistoryLadder.reach, 0), HistoryLadder.reach)
    return store.accessories[Self.key(id)].map {
      HistoryExtract(accessory: $0, since: timeline.time(at: uptime) - seconds, offset: timeline.offset)
    }
  }

  private mutating func followClock(_ wall: Double, _ uptime: MonotonicTime) {
    guard let move = timeline.note(wall: wall, at: uptime) else { return }
    store.shift(before: move.before, by: move.by)
    needsWhole = true
  }

  /// An accessory's identity, cut to the longest that is kept.
  private static func key(_ id: String) -> String { ReadingLimits.cut(id, to: HistoryLadder.idBytes) }

  // MARK: - Writing

  /// What is to be written now; nil when nothing has changed. `wrote` or `failedToWrite` must follow.
  mutating func takeWrite(at uptime: MonotonicTime, wall: Double) -> HistoryWrite? {
    guard isUnwritten else { return nil }
    followClock(wall, uptime)
    let anchor = timeline.anchor(at: uptime, wall: wall)
    let entries = store.takeUnwritten()
    guard needsWhole || fileBytes > max(Self.roomToGrow, 2 * wholeBytes) else {
      return HistoryWrite(content: .added(entries), anchor: anchor)
    }
    needsWhole = false
    return HistoryWrite(content: .whole(store), anchor: anchor)
  }

  /// Notes that a write has added `count` bytes, or has written the file anew with so many.
  mutating func wrote(_ count: Int, asWhole isWhole: Bool) {
    if isWhole { (fileBytes, wholeBytes) = (count, count) } else { fileBytes += count }
  }

  /// Notes that a write has failed: what it had is in no file, so the next one has all.
  mutating func failedToWrite() { needsWhole = true }
}
