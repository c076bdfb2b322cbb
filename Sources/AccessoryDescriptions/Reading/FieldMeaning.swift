// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols

extension ProtocolDescription.Field {
  /// The meaning of a raw number; `nothing` if it means "unknown", or overflows when the value is calculated. A number without a word
  /// keeps its digits as the word, since newer firmware has codes that no description knows. `bits` are the bits of the number, and
  /// `sent` are the numbers of other fields.
  func meaning(of raw: Int, bits: UInt64? = nil, sent: (String) -> Int? = { _ in nil }) -> PlainValue {
    if unknownNumbers.contains(raw) { return .nothing }
    if !flags.isEmpty {
      return .list(
        flags.keys.sorted().filter { $0 < 63 && raw >> $0 & 1 == 1 }.compactMap { flags[$0].map { .text($0) } })
    }
    if !words.isEmpty { return .text(words[raw] ?? String(raw)) }
    if isBoolean { return .flag(raw != 0) }
    if let linear = formula.linear { return linear.plainValue(raw) ?? .nothing }
    return formula.value(.exact(.init(raw)), encoded: { number(bits, in: $0) }, sent: sent) ?? .nothing
  }

  /// The number that these bits are in another encoding.
  private func number(_ bits: UInt64?, in encoding: ProtocolDescription.NumberFormat.Encoding) -> Int? {
    guard let bits, case .number(var format) = type else { return nil }
    if let part = self.bits { return encoding == .signed ? part.signed(bits >> UInt64(part.lowest)) : nil }
    format.encoding = encoding
    return format.whole(bits)
  }

  /// Whether a raw number without a meaning is an error: the description doesn't say that it means "unknown".
  func isNonsense(_ raw: Int, _ value: PlainValue) -> Bool { value == .nothing && !unknownNumbers.contains(raw) }

  /// The meaning of a floating-point number.
  func meaning(of number: Double) -> PlainValue {
    guard number.isFinite else { return .nothing }
    if let whole = Int(exactly: number), unknownNumbers.contains(whole) { return .nothing }
    if let linear = formula.linear { return .number(linear.value(number)) }
    return formula.value(.near(number), sent: { _ in nil }) ?? .nothing
  }

  /// Extracts the field's bits from a raw number.
  func taken(from raw: Int) -> Int {
    guard let bits, bits.lowest < 64 else { return raw }
    let shifted = UInt64(bitPattern: Int64(raw)) >> UInt64(bits.lowest)
    return bits.count >= 63 ? Int(truncatingIfNeeded: shifted) : Int(shifted & (1 << UInt64(bits.count) - 1))
  }

  // MARK: - Texts

  /// The meaning of a text, and its raw number if it has one; nil if it is no text of the field's type.
  func meaning(ofText text: some Collection<UInt8>) -> (value: PlainValue, raw: Int?)? {
    let trimmed = text.trimmed
    let string = String(decoding: trimmed.prefix(ProtocolDescription.Limit.text), as: UTF8.self)
    if unknownTexts.contains(string) || dashesMeanUnknown && trimmed.areDashes { return (.nothing, nil) }
    switch type {
    case .decimal(let suffix):
      // Firmware differs in whether the unit is behind a number.
      let ending = suffix.isEmpty && formula == .raw ? unit ?? "" : suffix
      guard let number = DecimalNumber(trimmed.dropping(suffix: ending)) else { return nil }
      return (meaning(of: number), number.decimals == 0 ? number.mantissa : nil)
    case .hexadecimalBytes(let format):
      guard let number = Self.hexadecimal(trimmed, format) else { return nil }
      return (meaning(of: taken(from: number)), number)
    case .hexadecimal:
      guard let number = Self.hexadecimal(trimmed) else { return nil }
      return (meaning(of: taken(from: number)), number)
    case .bitText(let firstIsHighest):
      guard (1...62).contains(trimmed.count), trimmed.allSatisfy({ $0 == 0x30 || $0 == 0x31 }) else { return nil }
      var raw = 0
      for (place, digit) in trimmed.enumerated() where digit == 0x31 {
        raw |= 1 << (firstIsHighest ? trimmed.count - 1 - place : place)
      }
      return (meaning(of: taken(from: raw)), raw)
    case .word(let numbers):
      // Upper and lower case differ between versions of firmware.
      guard let raw = numbers.first(where: { $0.key.lowercased() == string.lowercased() })?.value else {
        // A word that isn't described is kept, but it can't stand for a truth or for flags.
        return isBoolean || !flags.isEmpty || string.isEmpty ? nil : (.text(string), nil)
      }
      return (hasMeaningOfNumbers ? meaning(of: raw) : .text(string), raw)
    case .plainText: return (string.isEmpty ? .nothing : .text(string), nil)
    default: return nil
    }
  }

  private var hasMeaningOfNumbers: Bool { isBoolean || !words.isEmpty || !flags.isEmpty || !unknownNumbers.isEmpty }

  private func meaning(of number: DecimalNumber) -> PlainValue {
    if number.decimals == 0 { return meaning(of: number.mantissa) }
    if let linear = formula.linear { return linear.value(number).map { .number($0) } ?? .nothing }
    let fraction = ProtocolDescription.Fraction.reduced(number.mantissa, over: number.divisor)
    return fraction.flatMap { formula.value(.exact($0), sent: { _ in nil }) } ?? .nothing
  }

  /// The number whose bytes these hexadecimal digits are; nil for a wrong number of bytes, and for any other text.
  private static func hexadecimal(_ text: [UInt8], _ format: ProtocolDescription.NumberFormat) -> Int? {
    let digits = text.filter { !$0.isBlank }
    guard digits.count == 2 * format.byteCount else { return nil }
    var raw: UInt64 = 0
    for index in 0..<format.byteCount {
      guard let byte = HexDigits.byte(digits.span.bytes, at: 2 * index) else { return nil }
      raw |= UInt64(byte) << format.shift(ofByte: index)
    }
    return format.whole(raw)
  }

  private static func hexadecimal(_ text: [UInt8]) -> Int? {
    let digits = text.starts(with: [0x30, 0x78]) || text.starts(with: [0x30, 0x58]) ? text[2...] : text[...]
    guard (1...15).contains(digits.count) else { return nil }
    var value = 0
    for digit in digits {
      guard let half = HexDigits.value(digit) else { return nil }
      value = value << 4 | half
    }
    return value
  }
}

extension ProtocolDescription.Bits {
  /// The number that the lowest `count` bits are in two's complement.
  func signed(_ number: UInt64) -> Int {
    let unused = UInt64(64 - max(1, min(64, count)))
    return Int(Int64(bitPattern: number << unused) >> Int64(unused))
  }
}

/// A decimal number from a text, without rounding.
struct DecimalNumber {
  /// All digits, without the point, with the sign.
  var mantissa: Int
  /// How many of the digits are behind the point, 0…9.
  var decimals: Int

  /// Reads an optional sign, digits, and an optional point with digits; nil for any other text and for more than 15
  /// digits.
  init?(_ text: some Collection<UInt8>) {
    var rest = text[...]
    let isNegative = rest.first == UInt8(ascii: "-")
    if isNegative || rest.first == UInt8(ascii: "+") { rest = rest.dropFirst() }
    var (mantissa, decimals, digits, hasPoint) = (0, 0, 0, false)
    for byte in rest {
      if byte == UInt8(ascii: "."), !hasPoint {
        hasPoint = true
        continue
      }
      guard (0x30...0x39).contains(byte), digits < 15 else { return nil }
      mantissa = mantissa * 10 + Int(byte) - 0x30
      digits += 1
      if hasPoint { decimals += 1 }
    }
    guard digits > 0, decimals <= 9 else { return nil }
    (self.mantissa, self.decimals) = (isNegative ? -mantissa : mantissa, decimals)
  }

  /// 10 to the power of `decimals`.
  var divisor: Int { (0..<decimals).reduce(1) { power, _ in power * 10 } }
  /// The nearest `Double`.
  var value: Double { Double(mantissa) / Double(divisor) }
}

extension UInt8 {
  /// Whether it is a blank, a tab, part of a line end, or zero.
  package var isBlank: Bool { self == 0x20 || self == 0x09 || self == 0x0D || self == 0x0A || self == 0 }
}

extension Collection<UInt8> {
  /// The bytes without blanks, tabs, line ends and zeros at both ends.
  var trimmed: [UInt8] {
    var bytes = Array(drop(while: \.isBlank))
    while let last = bytes.last, last.isBlank { bytes.removeLast() }
    return bytes
  }

  /// Whether it consists of dashes, or of the "@" that some UPSs send in place of digits, with or without points among them.
  var areDashes: Bool {
    [UInt8(ascii: "-"), UInt8(ascii: "@")].contains { dash in
      contains(dash) && allSatisfy { $0 == dash || $0 == UInt8(ascii: ".") }
    }
  }

  /// The bytes without this suffix and the blanks in front of it.
  func dropping(suffix: String) -> [UInt8] {
    let bytes = Array(self)
    guard !suffix.isEmpty, bytes.count >= suffix.utf8.count, bytes.suffix(suffix.utf8.count).elementsEqual(suffix.utf8)
    else { return bytes }
    return bytes.dropLast(suffix.utf8.count).trimmed
  }
}
