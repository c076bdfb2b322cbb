// SPDX-License-Identifier: Apache-2.0

/// When the owner of a UPS wants its battery to count as low: from a charge, from a remaining time, or from whichever comes first.
public struct LowLimit: Sendable, Hashable, CustomStringConvertible {
  /// The charge in percent, 1…99.
  public let percent: Int?
  /// The remaining time in whole seconds, at least one.
  public let seconds: Int?

  /// The charges and the times that can be a limit. 100 % would be low for ever, and 65,535 s is what devices say for "unknown".
  public static let (percents, times) = (1...99, 1...65_534)

  /// A limit; nil where it has neither part, and for one out of range.
  public init?(percent: Int? = nil, seconds: Int? = nil) {
    guard percent != nil || seconds != nil, percent.map(Self.percents.contains) ?? true,
      seconds.map(Self.times.contains) ?? true
    else { return nil }
    (self.percent, self.seconds) = (percent, seconds)
  }

  /// Reads "15 %", "5 min", and both with a comma between them; nil for any other text.
  public init?(_ text: String) {
    var (percent, seconds) = (Int?.none, Int?.none)
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      let part = part.filter { $0 != " " }
      let digits = part.prefix { $0.isASCII && $0.isNumber || $0 == "." }
      guard let number = AlarmNumber(text: digits) else { return nil }
      let unit = String(part.dropFirst(digits.count))
      if unit == "%", percent == nil, let whole = Int(digits) {
        percent = whole
      } else if seconds == nil, let time = AlarmTime.read(number, unit), time.components.attoseconds == 0 {
        seconds = Int(time.components.seconds)
      } else {
        return nil
      }
    }
    self.init(percent: percent, seconds: seconds)
  }

  /// The text that reads as the limit.
  public var description: String {
    [percent.map { "\($0) %" }, seconds.map { AlarmTime.text(.seconds($0)) }].compactMap { $0 }.joined(separator: ", ")
  }
}
