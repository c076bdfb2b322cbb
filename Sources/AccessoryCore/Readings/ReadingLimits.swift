// SPDX-License-Identifier: Apache-2.0

/// Limits for what an accessory reports. Longer lists and texts are cut. A number outside of its range is an error in a document; what
/// numbers a quantity can have is narrower, and has the vocabulary.
public enum ReadingLimits {
  /// Percentages.
  public static let percent = 0...100
  /// Millivolts, milliamperes and milliwatts: up to a million volts, amperes or watts.
  public static let electrical = -1_000_000_000...1_000_000_000
  /// Seconds to empty or to full: up to 136 years.
  public static let seconds = 0...Int(clamping: UInt32.max)
  /// Capacities in milliampere hours: up to a million ampere hours.
  public static let capacity = 0...1_000_000_000
  /// Charging cycles.
  public static let cycles = 0...1_000_000_000
  /// Thousandths of a degree Celsius: from absolute zero up.
  public static let millidegrees = -273_150...10_000_000

  /// The most cells of a battery.
  public static let cells = 255
  /// The most temperatures of a battery.
  public static let temperatures = 255
  /// The most faults of a battery, and the most warnings.
  public static let faults = 255
  /// The most values of an accessory.
  public static let values = 255
  /// The longest name, in bytes of UTF-8.
  public static let nameBytes = 64
  /// The longest text or word, in bytes of UTF-8.
  public static let textBytes = 256
  /// The longest quantity, in bytes of UTF-8.
  public static let quantityBytes = 32
  /// The longest symbol of a unit, in bytes of UTF-8.
  public static let unitBytes = 16

  /// The longest beginning of a text that has at most `count` bytes of UTF-8, cut between Unicode scalars.
  package static func cut(_ text: String, to count: Int) -> String {
    guard text.utf8.count > count else { return text }
    // A scalar has at most four bytes, so one of these lengths ends between two scalars.
    for count in (max(0, count - 3)...count).reversed() {
      if let whole = String(validating: text.utf8.prefix(count), as: UTF8.self) { return whole }
    }
    return ""
  }

  /// Names of faults or warnings, cut to the limits.
  static func names(_ names: [String]) -> [String] { names.prefix(faults).map { cut($0, to: nameBytes) } }
}
