// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// The readings of a series in one column of a graph.
struct GraphColumn: Sendable, Hashable {
  /// The time-weighted mean, the minimum and the maximum.
  var mean, least, greatest: Double
}

/// A series divided into columns of equal time.
enum GraphColumns {
  /// One column for each part of `time`; nil if nothing was read in it.
  static func of(_ series: ReadingSeries, count: Int, time: ClosedRange<Double>) -> [GraphColumn?] {
    let length = time.upperBound - time.lowerBound
    guard count > 0, length > 0, length.isFinite else { return [] }
    let width = length / Double(count)
    var columns = [GraphColumn?](repeating: nil, count: count)
    var weights = [Double](repeating: 0, count: count)
    for point in series.points {
      guard let mean = point.mean, let least = point.least, let greatest = point.greatest,
        mean.isFinite, least.isFinite, greatest.isFinite, point.span >= 0,
        point.end >= time.lowerBound, point.time <= time.upperBound
      else { continue }
      let begin = max(point.time, time.lowerBound)
      let end = max(begin, min(point.end, time.upperBound))
      let first = min(count - 1, Int((begin - time.lowerBound) / width))
      let last = min(count - 1, max(first, Int(((end - time.lowerBound) / width).rounded(.up)) - 1))
      for index in first...last {
        let (from, to) = (time.lowerBound + Double(index) * width, time.lowerBound + Double(index + 1) * width)
        // A reading without a duration counts, too.
        let weight = max(min(end, to) - max(begin, from), width * 1e-6)
        let old = columns[index]
        let sum = weights[index] + weight
        columns[index] = GraphColumn(
          mean: (old?.mean ?? mean) + (mean - (old?.mean ?? mean)) * (weight / sum),
          least: min(old?.least ?? least, least), greatest: max(old?.greatest ?? greatest, greatest))
        weights[index] = sum
      }
    }
    return columns
  }
}
