// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// The known history of an accessory: 30 days in coarse points, and the last day in fine ones. While the page is open, the service is
/// only asked for new points.
struct KnownHistory: Sendable {
  /// How far back the coarse and the fine points reach.
  static let (reach, dayReach) = (Duration.seconds(30 * 86_400), Duration.seconds(86_400))
  /// How long the known points are fresh enough. After `age` the newest part is asked for; after `dayAge` the whole last day, because
  /// its points get coarser as they age; after `reachAge` all days.
  private static let (age, dayAge, reachAge) = (Duration.seconds(15), Duration.seconds(600), Duration.seconds(3_600))
  /// The newest part overlaps the known points by this time, because their last points were incomplete.
  private static let overlap = Duration.seconds(120)

  private var (days, day): ([ReadingSeries], [ReadingSeries]) = ([], [])
  /// When all days, the last day and the newest part were last asked for.
  private var (daysTime, dayTime, time): (MonotonicTime?, MonotonicTime?, MonotonicTime?)

  /// Whether this one was asked for earlier than the other.
  func isOlder(than other: KnownHistory) -> Bool {
    guard let time else { return true }
    return other.time.map { time < $0 } ?? false
  }

  /// The times to ask for now, back from now; empty if the known points are fresh enough.
  func wanted(now: MonotonicTime) -> [Duration] {
    guard let time, let dayTime, let daysTime else { return [Self.reach, Self.dayReach] }
    if now - time < Self.age { return [] }
    let newest = now - dayTime >= Self.dayAge ? Self.dayReach : now - time + Self.overlap
    return now - daysTime >= Self.reachAge ? [Self.reach, Self.dayReach] : [newest]
  }

  /// Stores the answer to one of these questions.
  mutating func take(_ series: [ReadingSeries], last: Duration, now: MonotonicTime) {
    switch last {
    case Self.reach: (days, daysTime) = (series, now)
    case Self.dayReach: (day, dayTime, time) = (series, now, now)
    default:
      time = now
      day = Self.joined(day, series)
    }
  }

  /// The known series, in the order of these names.
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

  /// Joins the coarse points with the fine points of the last day. A coarse point begins before its first reading, so at the start of
  /// readings and after gaps the fine points are used alone: a coarse point would show readings where there were none.
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
