// SPDX-License-Identifier: Apache-2.0

/// One value of a HID report: where it stands in the report, and what it means (HID 1.11, 6.2.2).
public struct HIDReportField: Sendable, Hashable {
  /// The three kinds of reports.
  public enum Kind: UInt8, Sendable, Hashable, CaseIterable {
    /// Sent by the device at its interrupt endpoint. Its number in GET_REPORT is 1.
    case input = 1
    /// Sent to the device.
    case output = 2
    /// Read and written at the control endpoint.
    case feature = 3
  }

  /// The longest value that is read, in bits.
  public static let widthLimit = 32

  /// The kind of its report.
  public let kind: Kind
  /// The number of its report, which is the first byte of the report; 0 where the device doesn't number its reports.
  public let report: UInt8
  /// The first bit, counted from the least significant bit of the first byte behind the report's number.
  public let offset: Int
  /// How many bits it has, 1 to `widthLimit`.
  public let width: Int
  /// The collections in which it stands, the outermost first, and its own usage at the end: `0084:0004`, `0084:0024`, `0085:0066` is
  /// the remaining capacity in the power summary of a UPS. A collection that has a number among its like is followed by `00ff` and that
  /// number.
  public let path: [HIDUsage]
  /// Which collections those are, by their order in the descriptor: two that mean the same differ in it.
  package let collections: [Int]
  /// Values that the device can send, as the bits of the report have them; all that the bits can have where the device doesn't say.
  public let logical: ClosedRange<Int64>
  /// What the ends of `logical` mean in the unit; nil where a value means itself.
  public let physical: ClosedRange<Int64>?
  /// The power of ten by which a value in the unit is multiplied.
  public let exponent: Int
  /// The unit.
  public let unit: HIDUnit
  /// Whether the host may not write it.
  public let isConstant: Bool

  /// What it means.
  public var usage: HIDUsage { path.last ?? HIDUsage(page: 0, id: 0) }

  /// The value in `report`, a whole report of the field's number and kind, which begins with that number also where it is 0; nil where
  /// the report is too short for the field. The value is signed where `logical` begins below zero, unless only the value without a sign
  /// lies in `logical`. It may lie outside of `logical`: some makers leave the range of an earlier field for a larger one.
  public func value(in report: [UInt8]) -> Int64? {
    guard let end = endByte, report.count > end else { return nil }
    var bits: UInt64 = 0
    for index in stride(from: end, through: offset / 8 + 1, by: -1) { bits = bits << 8 | UInt64(report[index]) }
    let value = Int64(bits >> UInt64(offset % 8) & (1 << UInt64(width) - 1))
    func signed(_ value: Int64, _ width: Int) -> Int64 {
      logical.lowerBound < 0 && value >> Int64(width - 1) == 1 ? value - 1 << Int64(width) : value
    }
    let own = signed(value, width)
    if logical.contains(own) { return own }
    if logical.contains(value) { return value }
    // Makers fill the upper half of 32 bits, or the uppermost bit, with what means nothing.
    guard let count = [16, width - 1].first(where: { isRange(of: $0) }), count < width,
      count == width - 1 || width == 32
    else { return own }
    return signed(value & (1 << Int64(count) - 1), count)
  }

  /// Whether `logical` ends with the largest number of so many bits.
  private func isRange(of count: Int) -> Bool {
    count > 0 && logical.upperBound == 1 << Int64(logical.lowerBound < 0 ? count - 1 : count) - 1
  }

  /// Puts `value` into `report`, a whole report that begins with its number. Returns false, and changes nothing, where `logical` doesn't
  /// have the value, where the field has too few bits for it, and where the report is too short.
  public func put(_ value: Int64, into report: inout [UInt8]) -> Bool {
    let most: Int64 = 1 << Int64(logical.lowerBound < 0 ? width - 1 : width)
    let least: Int64 = logical.lowerBound < 0 ? -most : 0
    guard let end = endByte, report.count > end, logical.contains(value), least <= value, value < most else {
      return false
    }
    for bit in 0..<width {
      let place = offset + bit
      let mask = UInt8(1) << UInt8(place % 8)
      if value >> Int64(bit) & 1 == 1 { report[place / 8 + 1] |= mask } else { report[place / 8 + 1] &= ~mask }
    }
    return true
  }

  /// The last byte of the report that has a bit of the field.
  private var endByte: Int? {
    guard offset >= 0, (1...Self.widthLimit).contains(width) else { return nil }
    return (offset + width - 1) / 8 + 1
  }

  /// What `value` means, in the unit of `HIDUnit`: volts, amperes, watts, hertz, kelvins, seconds, ampere seconds; where the unit is
  /// another one, or none, the number itself with its exponent.
  public func amount(_ value: Int64) -> Double {
    var amount = Double(value)
    if let physical, logical.lowerBound < logical.upperBound {
      amount =
        (amount - Double(logical.lowerBound)) * (Double(physical.upperBound) - Double(physical.lowerBound))
        / (Double(logical.upperBound) - Double(logical.lowerBound)) + Double(physical.lowerBound)
    }
    let (factor, divides) = scale
    return divides ? amount / factor : amount * factor
  }

  /// The number that means `amount` in the unit, or the next larger one, so that a delay is rather longer than shorter; nil where
  /// `logical` has no such number.
  public func number(for amount: Double) -> Int64? {
    let (factor, divides) = scale
    var number = divides ? amount * factor : amount / factor
    if let physical, logical.lowerBound < logical.upperBound {
      let width = Double(physical.upperBound) - Double(physical.lowerBound)
      guard width != 0 else { return nil }
      number =
        (number - Double(physical.lowerBound)) * (Double(logical.upperBound) - Double(logical.lowerBound)) / width
        + Double(logical.lowerBound)
    }
    // What the division leaves over isn't a reason for the next number.
    number = (number - 1e-6).rounded(.up)
    guard number.magnitude <= Double(UInt32.max) else { return nil }
    return logical.contains(Int64(number)) ? Int64(number) : nil
  }

  /// The power of ten between a number and its amount. It divides where the power is negative, so that 1234 × 10^-2 is 12.34: a `Double`
  /// has no exact hundredth.
  private var scale: (factor: Double, divides: Bool) {
    let power = exponent - unit.exponent
    var factor = 1.0
    for _ in 0..<min(power.magnitude, 22) { factor *= 10 }
    return (factor, power < 0)
  }
}
