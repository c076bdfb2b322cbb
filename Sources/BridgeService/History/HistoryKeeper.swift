// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// The history of all accessories with its time line. It has no clock: its owner passes the times. Used on the service's
/// actor only.
struct HistoryKeeper: Sendable {
  private(set) var store: HistoryStore
  private(set) var timeline: HistoryTimeline
  /// Whether the file has to be written anew as a whole: what is in it lies elsewhere in time now.
  private(set) var isMoved = false

  /// An empty history. `uptime` is the time of the boot clock, `wall` that of the wall clock in seconds since 1970; and
  /// so in the methods.
  init(uptime: MonotonicTime, wall: Double, byteLimit: Int = HistoryLadder.totalByteLimit) {
    store = HistoryStore(byteLimit: byteLimit)
    timeline = HistoryTimeline(boot: "", uptime: uptime, wall: wall)
  }

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
    isMoved = true
  }

  /// An accessory's identity, cut to the longest that is kept.
  private static func key(_ id: String) -> String { ReadingLimits.cut(id, to: HistoryLadder.idBytes) }
}
