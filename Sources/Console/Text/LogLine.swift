// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// A line of a console's log: the time, the event, and the bytes in hexadecimal and as text.
package enum LogLine {
  /// For example "2026-11-21T10:15:03.042Z received 6 bytes 68656c6c6f0a |hello.|". `milliseconds` are counted from
  /// 1970, UTC.
  package static func bytes(_ what: String, _ bytes: [UInt8], at milliseconds: Int64) -> String {
    let text = String(decoding: bytes.map { (0x20..<0x7F).contains($0) ? $0 : UInt8(ascii: ".") }, as: UTF8.self)
    let count = Amount.bytes(bytes.count)
    return "\(time(milliseconds)) \(what) \(count) \(Hexadecimal.string(bytes)) |\(text)|"
  }

  /// For example "2026-11-21T10:15:03.042Z disconnected /dev/ttyUSB0: …".
  package static func remark(_ text: String, at milliseconds: Int64) -> String {
    "\(time(milliseconds)) \(SafeText.escape(text, limit: 1_000))"
  }

  /// The time in ISO 8601 with milliseconds, UTC.
  package static func time(_ milliseconds: Int64) -> String {
    var (seconds, rest) = milliseconds.quotientAndRemainder(dividingBy: 1_000)
    if rest < 0 { (seconds, rest) = (seconds - 1, rest + 1_000) }
    var (days, second) = seconds.quotientAndRemainder(dividingBy: 86_400)
    if second < 0 { (days, second) = (days - 1, second + 86_400) }
    let date = date(days)
    let clock = [second / 3_600, second / 60 % 60, second % 60].map { padded($0, 2) }.joined(separator: ":")
    return "\(padded(date.year, 4))-\(padded(date.month, 2))-\(padded(date.day, 2))T\(clock).\(padded(rest, 3))Z"
  }

  private static func padded(_ number: Int64, _ count: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, count - digits.count)) + digits
  }

  /// The date of a day counted from 1970-01-01, by Howard Hinnant's `civil_from_days`: its years begin in March, so
  /// that the leap day is the last day of the year.
  private static func date(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let shifted = days + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let month = (5 * dayOfYear + 2) / 153
    let year = yearOfEra + era * 400 + (month >= 10 ? 1 : 0)
    return (year, month < 10 ? month + 3 : month - 9, dayOfYear - (153 * month + 2) / 5 + 1)
  }
}
