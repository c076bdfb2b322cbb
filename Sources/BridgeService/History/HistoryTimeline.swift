// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// The history's timeline, in seconds. It follows the boot clock, which never goes back and includes the machine's sleep. The wall
/// clock only labels the times.
///
/// So setting the wall clock (by hand or over the network) doesn't change the order or the distances of readings and loses none: each
/// time is shown as the current wall clock minus the reading's age. A wall clock that was wrong for a day leaves no readings in the
/// future.
struct HistoryTimeline: Sendable, Hashable {
  /// A position of the timeline, for the next run of the service.
  struct Anchor: Sendable, Hashable {
    /// Identifies the boot of the machine; empty if unknown.
    var boot: String
    var time: Double
    /// The time since that boot, in seconds.
    var uptime: Double
    /// The wall clock, in seconds since 1970.
    var wall: Double
  }

  /// Identifies this boot of the machine; empty if unknown.
  let boot: String
  /// The time on the timeline at which the boot clock started.
  private let base: Double
  /// The offset from the timeline to the wall clock. It follows the wall clock in steps, so that two replies show the same times.
  private(set) var offset: Double
  /// Where the records of an earlier boot end.
  private(set) var seam: Seam?

  /// The end of an earlier boot's time and the start of this one.
  struct Seam: Sendable, Hashable {
    /// The last wall-clock time of the earlier boot.
    let wall: Double
    /// The start of this run on the timeline.
    let start: Double
    /// The assumed seconds between both.
    var gap: Double
  }

  /// Smaller changes of the wall clock, in seconds, are adjustments and don't count as setting it.
  private static let steady = 2.0
  /// Two clocks that agree within this many seconds belong to the same boot.
  private static let agreement = 5.0
  /// A gap and an offset are multiples of the longest bucket, in seconds.
  private static let longestSpan = HistoryTier.longestBucket
  /// A wall clock beyond this is wrong: the year 2106, as for all times that the service reports.
  private static let latest = Double(UInt32.max)

  /// Creates a timeline that starts now, or continues at `anchor`. `uptime` is the time on the boot clock; `wall` is in seconds since
  /// 1970.
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

  /// The time for which the machine was off. If the wall clock went back, the time is unknown and one bucket is assumed. The time is
  /// limited to the reach of the history.
  private static func gap(from: Double, to: Double) -> Double {
    min(max(to - from, longestSpan), HistoryTier.recentReach + longestSpan)
  }

  private static func sane(_ wall: Double) -> Double { wall.isFinite ? min(max(wall, 0), latest) : 0 }

  private static func seconds(_ time: MonotonicTime) -> Double { Double(time.nanoseconds) / 1e9 }

  func time(at uptime: MonotonicTime) -> Double { base + Self.seconds(uptime) }

  /// Notes the current wall clock. Returns how to move the records of earlier boots, in seconds: if the clock was wrong at the start
  /// and is set now, it shows how long the machine was off.
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

  /// The current position of the timeline.
  func anchor(at uptime: MonotonicTime, wall: Double) -> Anchor {
    Anchor(boot: boot, time: time(at: uptime), uptime: Self.seconds(uptime), wall: Self.sane(wall))
  }
}

extension HistoryTimeline.Anchor {
  /// Whether these numbers can belong to a timeline.
  var isValid: Bool {
    [time, uptime, wall].allSatisfy { $0.isFinite && $0 >= 0 && $0 < 4e10 }
  }
}
