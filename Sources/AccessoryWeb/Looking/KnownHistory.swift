// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// What is known of an accessory's history: 30 days, coarse, and the last day, fine. The service is asked for little: while somebody
/// looks, only for what is new.
struct KnownHistory: Sendable {
  /// How far back the days and the last day reach.
  static let (reach, dayReach) = (Duration.seconds(30 * 86_400), Duration.seconds(86_400))
  /// How long what is known is good enough. Later the newest part is asked for, or the whole day, since that gets coarser as it
  /// ages, or all days.
  private static let (age, dayAge, reachAge) = (Duration.seconds(15), Duration.seconds(600), Duration.seconds(3_600))
  /// The newest part reaches back this much further, because its first points were not whole before.
  private static let overlap = Duration.seconds(120)

  private var (days, day): ([ReadingSeries], [ReadingSeries]) = ([], [])
  /// When all days, the whole day and the newest part were asked for.
  private var (daysTime, dayTime, time): (MonotonicTime?, MonotonicTime?, MonotonicTime?)

  /// Whether it was asked for before the other one.
  func isOlder(than other: KnownHistory) -> Bool {
    guard let time else { return true }
    return other.time.map { time < $0 } ?? false
  }

  /// What is to be asked for now: times back from now. Empty if what is known is good enough.
  func wanted(now: MonotonicTime) -> [Duration] {
    guard let time, let dayTime, let daysTime else { return [Self.reach, Self.dayReach] }
    if now - time < Self.age { return [] }
    let newest = now - dayTime >= Self.dayAge ? Self.dayReach : now - time + Self.overlap
    return now - daysTime >= Self.reachAge ? [Self.reach, Self.dayReach] : [newest]
  }

  /// Takes the answer to one of these questions.
  mutating func take(_ series: [ReadingSeries], last: Duration, now: MonotonicTime) {
    switch last {
    case Self.reach: (days, daysTime) = (series, now)
    case Self.dayReach: (day, dayTime, time) = (series, now, now)
    default:
      time = now
      day = Self.joined(day, series)
    }
  }

  /// All that is known, with the names in this order.
  func series(_ names: [String]) -> [ReadingSeries] {
    let all = Self.joined(days, day, Self.whole)
    return names.compactMap { name in all.first { $0.name == name } }
  }

  private typealias Points = [ReadingSeries.Point]

  private static func joined(
    _ coarse: [ReadingSeries], _ fine: [ReadingSeries], _ points: (Points, Points) -> Points = ReadingSeries.joined
  ) -> [ReadingSeries] {
    var joined = coarse
    for series in fine {
      if let index = joined.firstIndex(where: { $0.name == series.name }) {
        joined[index].unit = series.unit
        joined[index].points = points(joined[index].points, series.points)
      } else {
        joined.append(series)
      }
    }
    return joined
  }

  /// The points of the days with those of the last day. A coarse point begins before its first reading. So where the readings begin, or
  /// begin again after a gap, the fine ones have them all, and the coarse one would show some where there were none.
  private static func whole(_ coarse: Points, _ fine: Points) -> Points {
    var coarse = coarse
    if let begin = fine.first?.time, let last = coarse.lastIndex(where: { $0.time < begin }), coarse[last].end > begin,
      last == 0 || coarse[last - 1].mean == nil
    {
      coarse.removeSubrange(last...)
      if last > 0 { coarse[last - 1].span = begin - coarse[last - 1].time }
    }
    return ReadingSeries.joined(coarse, fine)
  }
}
