// SPDX-License-Identifier: Apache-2.0

import Console
import Glibc

/// An axis with round ticks.
package struct GraphAxis: Sendable, Hashable {
  /// The ends of the axis.
  package let low, high: Double
  /// The ticks from low to high.
  package let ticks: [Double]
  /// The distance between two ticks.
  package let step: Double

  /// Creates an axis for numbers in `range`, with about `count` ticks at most. The axis ends at ticks. It doesn't extend beyond
  /// `limits`.
  package init(_ range: ClosedRange<Double>, ticks count: Int, limits: ClosedRange<Double>? = nil) {
    var (low, high) = (range.lowerBound, range.upperBound)
    if !low.isFinite || !high.isFinite || high - low > 1e300 { (low, high) = (0, 1) }
    // Widen a range of equal or almost equal numbers. A range of zeros gets one unit on both sides.
    let size = max(abs(low), abs(high))
    let least = max(size * 1e-6, 1e-9)
    if size < 1e-9 {
      (low, high) = (-1, 1)
    } else if high - low < least {
      let room = max(abs(low) * 0.01, least)
      (low, high) = (low - room, high + room)
    }
    let step = Self.roundStep((high - low) / Double(max(1, count - 1)))
    var (first, last) = ((low / step).rounded(.down), (high / step).rounded(.up))
    if let limits {
      first = max(first, (limits.lowerBound / step).rounded(.up))
      last = min(last, (limits.upperBound / step).rounded(.down))
      if last <= first { last = first + 1 }
    }
    self.step = step
    ticks = (0...Int(min(last - first, 100))).map { (first + Double($0)) * step }
    (self.low, self.high) = (ticks[0], ticks[ticks.count - 1])
  }

  /// The smallest number that is 1, 2 or 5 times a power of ten and at least `step`.
  static func roundStep(_ step: Double) -> Double {
    guard step > 0, step.isFinite else { return 1 }
    let power = pow(10, floor(log10(step)))
    for factor in [1.0, 2, 5] where factor * power >= step * (1 - 1e-9) { return factor * power }
    return 10 * power
  }

  /// The label of a tick, with as many digits as the step needs.
  package func text(_ tick: Double) -> String { Self.text(tick, step: step) }

  /// A number with as many decimals as `step` needs.
  static func text(_ number: Double, step: Double) -> String {
    guard number.isFinite, step.isFinite, step > 0 else { return "-" }
    let magnitude = max(abs(number), step)
    if magnitude >= 1e7 || step < 1e-6 { return scientific(number) }
    let places = max(0, -Int(floor(log10(step) + 1e-9)))
    let power = pow(10, Double(places))
    let count = (number * power).rounded()
    guard places > 0 else { return DecimalText.short(count == 0 ? 0 : count) }
    let whole = Int64(abs(count)) / Int64(power)
    let digits = String(Int64(abs(count)) % Int64(power))
    return (count < 0 ? "-" : "") + "\(whole)." + String(repeating: "0", count: max(0, places - digits.count)) + digits
  }

  private static func scientific(_ number: Double) -> String {
    guard number != 0 else { return "0" }
    let exponent = floor(log10(abs(number)))
    let mantissa = ((number / pow(10, exponent)) * 100).rounded() / 100
    return DecimalText.short(mantissa) + "e\(Int(exponent))"
  }
}

/// The ticks of a time axis at round times of day.
package enum TimeTicks {
  /// The possible distances between ticks, in seconds.
  private static let steps: [Double] = [
    1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 10_800, 21_600, 43_200, 86_400, 172_800, 604_800,
    1_209_600, 2_592_000, 5_184_000,
  ]

  /// At most about `count` ticks in `time` (seconds since 1970). `offset` is the difference of local time from UTC, in seconds.
  package static func of(_ time: ClosedRange<Double>, count: Int, offset: Double) -> [Double] {
    let length = time.upperBound - time.lowerBound
    guard length > 0, length < 1e9, time.lowerBound.magnitude < 1e12 else { return [] }
    let step = steps.first { length / $0 <= Double(max(1, count)) } ?? length
    var tick = ((time.lowerBound + offset) / step).rounded(.up) * step - offset
    var ticks: [Double] = []
    while tick <= time.upperBound, ticks.count < 1_000 {
      ticks.append(tick)
      tick += step
    }
    return ticks
  }
}

/// Local time, for graphs and tables.
package enum LocalTime {
  /// The difference of local time from UTC at `time` (seconds since 1970), in seconds.
  package static func offset(at time: Double) -> Double { Double(parts(time).tm_gmtoff) }

  /// "14:05", or "14:05:09" with seconds.
  package static func text(_ time: Double, withSeconds: Bool = false) -> String {
    let parts = parts(time)
    return [parts.tm_hour, parts.tm_min, parts.tm_sec].prefix(withSeconds ? 3 : 2).map(digits).joined(separator: ":")
  }

  /// A label on the axis of a graph over `length` seconds: "14:05", with seconds if it is less than ten minutes, or "03-01" if it is
  /// more than two days.
  package static func axisText(_ time: Double, over length: Double) -> String {
    length > 172_800 ? String(day(time).dropFirst(5)) : text(time, withSeconds: length < 600)
  }

  /// "2026-03-01".
  package static func day(_ time: Double) -> String { String(dateText(time).prefix { $0 != " " }) }

  /// "2026-03-01 14:05".
  package static func dateText(_ time: Double) -> String {
    let parts = parts(time)
    return "\(parts.tm_year + 1_900)-\(digits(parts.tm_mon + 1))-\(digits(parts.tm_mday)) \(text(time))"
  }

  private static func digits(_ number: CInt) -> String { (number < 10 ? "0" : "") + String(number) }

  private static func parts(_ time: Double) -> tm {
    var seconds = time_t(min(max(time.isFinite ? time : 0, -1e11), 1e11))
    var parts = tm()
    localtime_r(&seconds, &parts)
    return parts
  }
}
