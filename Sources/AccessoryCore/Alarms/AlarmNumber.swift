// SPDX-License-Identifier: Apache-2.0

/// A decimal number in a rule, with up to six decimal places. Its text is exact.
public struct AlarmNumber: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// The number in millionths; within ±10¹⁵.
  public let millionths: Int64

  /// The largest magnitude, in millionths. Every number up to it is exact as a `Double`.
  static let limit: Int64 = 1_000_000_000_000_000

  /// The number of this many millionths; nil beyond the largest magnitude.
  public init?(millionths: Int64) {
    guard (-Self.limit...Self.limit).contains(millionths) else { return nil }
    self.millionths = millionths
  }

  /// Reads "20", "-3.5", "+0.05"; nil for any other text, and for a number that is too large or has more places.
  init?(text: some StringProtocol) {
    var digits = Array(text.utf8)
    let isNegative = digits.first == UInt8(ascii: "-")
    if isNegative || digits.first == UInt8(ascii: "+") { digits.removeFirst() }
    let parts = digits.split(separator: UInt8(ascii: "."), maxSplits: 1, omittingEmptySubsequences: false)
    guard let whole = parts.first, (1...10).contains(whole.count) else { return nil }
    let places = parts.count == 2 ? Array(parts[1]) : []
    guard parts.count == 1 || (1...6).contains(places.count) else { return nil }
    var millionths: Int64 = 0
    for digit in Array(whole) + places + Array(repeating: UInt8(ascii: "0"), count: 6 - places.count) {
      guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
      // At most 16 digits, so this can't overflow.
      millionths = millionths * 10 + Int64(digit - UInt8(ascii: "0"))
    }
    self.init(millionths: isNegative ? -millionths : millionths)
  }

  /// The number.
  public var value: Double { Double(millionths) / 1_000_000 }

  /// True when `a` is less than `b`.
  public static func < (a: AlarmNumber, b: AlarmNumber) -> Bool { a.millionths < b.millionths }

  /// The number without needless zeros: "20", "-3.5".
  public var description: String {
    let (whole, rest) = millionths.magnitude.quotientAndRemainder(dividingBy: 1_000_000)
    var places = String(rest)
    places = String(repeating: "0", count: 6 - places.utf8.count) + places
    while places.last == "0" { places.removeLast() }
    return (millionths < 0 ? "-" : "") + "\(whole)" + (places.isEmpty ? "" : "." + places)
  }
}
