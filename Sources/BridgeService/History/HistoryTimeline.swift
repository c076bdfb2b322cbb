// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// The time line of the history, in seconds. Its distances come from the clock that only goes forward, and also counts
/// the machine's sleep; the wall clock only says what the times are called.
///
/// So a wall clock that is set, by a person or when the network is there, changes neither the order of the readings nor
/// their distances, and loses none: all times are called by the present wall clock minus the reading's age. A wall clock
/// that was wrong for a day leaves no readings in the future.
struct HistoryTimeline: Sendable, Hashable {
  /// Where the time line was at some moment, for the next run of the service.
  struct Anchor: Sendable, Hashable {
    /// What names the boot of the machine; empty where that isn't known.
    var boot: String
    /// The time on the time line.
    var time: Double
    /// The time since that boot, in seconds.
    var uptime: Double
    /// Seconds since 1970 by the wall clock.
    var wall: Double
  }

  /// The name of this boot of the machine; empty where that isn't known.
  let boot: String
  /// The time on the time line at the start of the boot clock.
  private let base: Double
  /// What is added to a time for what the wall clock calls it. It follows the wall clock in steps, so that the times of
  /// two answers are the same.
  private(set) var offset: Double
  /// The end of what another boot has recorded.
  private(set) var seam: Seam?

  /// The end of another boot's time, and the beginning of this one's.
  struct Seam: Sendable, Hashable {
    /// What the wall clock said last in the other boot.
    let wall: Double
    /// The beginning of this run on the time line.
    let start: Double
    /// The seconds between both, as it was taken to be.
    var gap: Double
  }

  /// The wall clock is adjusted by less than this without being set, in seconds.
  private static let steady = 2.0
  /// Clocks that agree up to this, in seconds, are those of one boot.
  private static let agreement = 5.0
  /// Both are multiples of the longest span, in seconds.
  private static let longestSpan = Double(HistoryLadder.widths.last ?? 1)
  /// Wall clocks beyond this are wrong: the year 2106, as for all times that the service reports.
  private static let latest = Double(UInt32.max)

  /// A time line that begins now, or continues where `anchor` was. `uptime` is the time of the boot clock; `wall` is in
  /// seconds since 1970.
  init(boot: String, uptime: MonotonicTime, wall: Double, after anchor: Anchor? = nil) {
    self.boot = boot
    let (now, wall) = (Self.seconds(uptime), Self.sane(wall))
    let time: Double
    if let anchor, anchor.isValid {
      if Self.isSameBoot(anchor, boot, now, wall) {
        time = anchor.time + max(0, now - anchor.uptime)
      } else {
        let gap = Self.gap(from: anchor.wall, to: wall)
        time = anchor.time + gap
        seam = Seam(wall: anchor.wall, start: time, gap: gap)
      }
    } else {
      time = wall
    }
    base = time - now
    offset = (wall - time).rounded()
  }

  private static func isSameBoot(_ anchor: Anchor, _ boot: String, _ uptime: Double, _ wall: Double) -> Bool {
    guard uptime >= anchor.uptime else { return false }
    if !boot.isEmpty, !anchor.boot.isEmpty { return boot == anchor.boot }
    return abs((wall - anchor.wall) - (uptime - anchor.uptime)) <= agreement
  }

  /// The time that the machine was off. A wall clock that was set back says nothing about it, so then it is taken for one
  /// span; and what was off for longer than the history reaches needs no more room than that.
  private static func gap(from: Double, to: Double) -> Double {
    min(max(to - from, longestSpan), HistoryLadder.reach + longestSpan)
  }

  private static func sane(_ wall: Double) -> Double { wall.isFinite ? min(max(wall, 0), latest) : 0 }

  private static func seconds(_ time: MonotonicTime) -> Double { Double(time.nanoseconds) / 1e9 }

  /// The time on the time line.
  func time(at uptime: MonotonicTime) -> Double { base + Self.seconds(uptime) }

  /// Notes what the wall clock says now. Returns how what was recorded before this boot must be moved, in seconds: a clock
  /// that was wrong when the machine started, and is set now, shows how long the machine was off.
  mutating func note(wall: Double, at uptime: MonotonicTime) -> (before: Double, by: Int64)? {
    let (wall, time) = (Self.sane(wall), time(at: uptime))
    guard abs(wall - time - offset) > Self.steady else { return nil }
    offset = (wall - time).rounded()
    guard let known = seam else { return nil }
    let gap = Self.gap(from: known.wall, to: wall - (time - known.start))
    let steps = ((gap - known.gap) / Self.longestSpan).rounded(.towardZero)
    guard steps != 0 else { return nil }
    seam?.gap = known.gap + steps * Self.longestSpan
    return (known.start, -Int64(steps * Self.longestSpan))
  }

  /// Where the time line is now.
  func anchor(at uptime: MonotonicTime, wall: Double) -> Anchor {
    Anchor(boot: boot, time: time(at: uptime), uptime: Self.seconds(uptime), wall: Self.sane(wall))
  }
}

extension HistoryTimeline.Anchor {
  /// Whether the numbers can be those of a time line.
  var isValid: Bool {
    [time, uptime, wall].allSatisfy { $0.isFinite && $0 >= 0 && $0 < 4e10 }
  }
}
