// SPDX-License-Identifier: Apache-2.0

extension ReadingSeries {
  /// The series with one point for each `width` seconds, which begin at multiples of it: the mean by time, the least and the greatest
  /// reading. A gap stays a gap if it is longer than the part of a point.
  package func folded(to width: Double) -> ReadingSeries {
    guard width > 0 else { return self }
    var folded: [Point] = []
    var group: (slot: Double, weight: Double, sum: Double, least: Double, greatest: Double)?
    var hasGap = false

    func end(before next: Double?) {
      guard let known = group, known.weight > 0 else { return }
      let start = known.slot * width
      let mean = min(max(known.sum / known.weight, known.least), known.greatest)
      // Without a gap, a point lasts until the next one.
      let span = hasGap ? width : max(width, (next ?? start + width) - start)
      folded.append(Point(time: start, span: span, mean: mean, least: known.least, greatest: known.greatest))
      if hasGap, let next, next > start + width {
        folded.append(Point(time: start + width, span: next - start - width, nil))
      }
      group = nil
      hasGap = false
    }

    for point in points {
      guard let mean = point.mean, let least = point.least, let greatest = point.greatest else {
        // What precedes the first reading isn't a gap between readings.
        hasGap = hasGap || group != nil
        continue
      }
      let (slot, weight) = ((point.time / width).rounded(.down), max(point.span, 1e-3))
      if var known = group, known.slot == slot {
        known.weight += weight
        known.sum += mean * weight
        (known.least, known.greatest) = (min(known.least, least), max(known.greatest, greatest))
        group = known
        hasGap = false
      } else {
        end(before: slot * width)
        group = (slot, weight, mean * weight, least, greatest)
      }
    }
    end(before: nil)
    return ReadingSeries(name: name, unit: unit, points: folded)
  }

  /// The points of `coarse` up to the first of `fine`, followed by those. Nothing is known of the time between them, if there is some.
  package static func joined(_ coarse: [Point], _ fine: [Point]) -> [Point] {
    guard let begin = fine.first?.time else { return coarse }
    var joined = coarse.prefix { $0.time < begin }
    guard var last = joined.last else { return fine }
    if last.end > begin {
      last.span = begin - last.time
      joined[joined.endIndex - 1] = last
    }
    let hole = last.end < begin ? [Point(time: last.end, span: begin - last.end, nil)] : []
    return joined + hole + fine
  }

  /// The points that end after `time`.
  package func since(_ time: Double) -> ReadingSeries {
    ReadingSeries(name: name, unit: unit, points: Array(points.drop { $0.end <= time }))
  }
}
