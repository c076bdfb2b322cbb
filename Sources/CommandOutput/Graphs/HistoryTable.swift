// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// Series as comma-separated values (RFC 4180), for spreadsheets.
package enum HistoryTable {
  /// The lines: a header with names and units, then a line for each time at which a bucket of a series starts. It contains the means
  /// of the series with a bucket at that time. Times are in UTC, as in ISO 8601.
  package static func lines(_ series: [ReadingSeries]) -> [String] {
    let names = series.map { $0.name + ($0.unit.map { " (\($0))" } ?? "") }
    var rows: [Double: [String]] = [:]
    for (column, one) in series.enumerated() {
      for point in one.points {
        guard let mean = point.mean, mean.isFinite else { continue }
        rows[point.time, default: [String](repeating: "", count: series.count)][column] = "\(mean)"
      }
    }
    return [(["time"] + names.map(cell)).joined(separator: ",")]
      + rows.sorted { $0.key < $1.key }.map { time, cells in
        ([UTCTime.text(time)] + cells).joined(separator: ",")
      }
  }

  /// A text as a cell. A spreadsheet takes a text that begins with one of these signs for a formula, so an apostrophe is put in front
  /// of it.
  static func cell(_ text: String) -> String {
    var text = SafeText.escape(text)
    if let first = text.first, "=+-@".contains(first) { text = "'" + text }
    guard text.contains(where: { ",\"\n\r".contains($0) }) else { return text }
    return "\"" + text.replacing("\"", with: "\"\"") + "\""
  }
}

/// Times in UTC, as in ISO 8601.
package enum UTCTime {
  /// "2026-03-01T14:05:09Z". `time` is in seconds since 1970.
  package static func text(_ time: Double) -> String {
    let seconds = Int64(min(max(time.isFinite ? time.rounded(.down) : 0, -62_135_596_800), 253_402_300_799))
    var (days, rest) = seconds.quotientAndRemainder(dividingBy: 86_400)
    if rest < 0 { (days, rest) = (days - 1, rest + 86_400) }
    // Howard Hinnant's algorithm for the proleptic Gregorian calendar, with years that start in March.
    days += 719_468
    let era = (days >= 0 ? days : days - 146_096) / 146_097
    let day = days - era * 146_097
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365
    let dayOfYear = day - (365 * year + year / 4 - year / 100)
    let month = (5 * dayOfYear + 2) / 153
    let parts = [
      digits(year + era * 400 + (month >= 10 ? 1 : 0), 4), digits(month < 10 ? month + 3 : month - 9, 2),
      digits(dayOfYear - (153 * month + 2) / 5 + 1, 2),
    ]
    let clock = [rest / 3_600, rest / 60 % 60, rest % 60].map { digits($0, 2) }
    return parts.joined(separator: "-") + "T" + clock.joined(separator: ":") + "Z"
  }

  private static func digits(_ number: Int64, _ count: Int) -> String {
    let text = String(number)
    return String(repeating: "0", count: max(0, count - text.count)) + text
  }
}
