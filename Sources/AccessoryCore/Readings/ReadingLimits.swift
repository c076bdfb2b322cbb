// SPDX-License-Identifier: Apache-2.0

/// Limits for what an accessory reports. A service cuts longer lists and texts, and treats a number outside of its
/// range as unknown.
public enum ReadingLimits {
  /// Percent.
  public static let percent = 0...100
  /// Millivolts and milliamperes: up to a million volts or amperes.
  public static let electrical = -1_000_000_000...1_000_000_000
  /// Seconds to empty or to full: up to 136 years.
  public static let seconds = 0...Int(UInt32.max)
  /// Milliampere hours.
  public static let capacity = 0...1_000_000_000
  /// Charging cycles.
  public static let cycles = 0...1_000_000_000
  /// Thousandths of a degree Celsius: from absolute zero on.
  public static let millidegrees = -273_150...10_000_000

  /// Cells of a battery.
  public static let cells = 255
  /// Temperatures of a battery.
  public static let temperatures = 255
  /// Faults of a battery, and warnings.
  public static let faults = 255
  /// Values of an accessory.
  public static let values = 255
  /// Bytes of a name.
  public static let nameBytes = 64
  /// Bytes of a text, or of a word.
  public static let textBytes = 256
  /// Bytes of a quantity.
  public static let quantityBytes = 32
  /// Bytes of a unit's symbol.
  public static let unitBytes = 16

  /// The number; nil if it is outside of the range.
  static func within(_ number: Int?, _ range: ClosedRange<Int>) -> Int? {
    number.flatMap { range.contains($0) ? $0 : nil }
  }

  /// The beginning of a text that fits into `limit` bytes, cut between Unicode scalars.
  static func cut(_ text: String, to count: Int) -> String {
    guard text.utf8.count > count else { return text }
    // A scalar has at most four bytes.
    for count in (max(0, count - 3)...count).reversed() {
      if let whole = String(validating: text.utf8.prefix(count), as: UTF8.self) { return whole }
    }
    return ""
  }

  /// Names of faults or warnings.
  static func names(_ names: [String]) -> [String] { names.prefix(faults).map { cut($0, to: nameBytes) } }
}
