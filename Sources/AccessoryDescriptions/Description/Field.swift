// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

extension ProtocolDescription {
  /// A value in a message: where its raw number or text is, and what it means.
  public struct Field: Sendable, Hashable {
    /// The name: a word of the common vocabulary (`battery.voltage`), or any other name.
    public var name: String
    /// How the value is encoded in the message.
    public var type: FieldType
    /// The bits `lowest`…`lowest + count − 1` that are taken from the raw number before anything else; nil for all
    /// bits.
    public var bits: Bits?
    /// How the value is calculated from the raw number.
    public var formula = Formula.raw
    /// Raw numbers that mean "unknown".
    public var unknownNumbers: [Int] = []
    /// Texts that mean "unknown".
    public var unknownTexts: [String] = []
    /// Whether a text of only dashes and points, such as `---.-`, also means "unknown".
    public var dashesMeanUnknown = false
    /// Words by raw number. If there are any, the value is a word; a number without a word is its digits.
    public var words: [Int: String] = [:]
    /// Names by bit, 0 the lowest (or by position in a text of zeros and ones). If there are any, the value is the list
    /// of the names whose bits are 1.
    public var flags: [Int: String] = [:]
    /// Whether the value is a boolean: true if the raw number is not 0.
    public var isBoolean = false
    /// The unit: "V", "A", "°C", "%"; nil if there is none.
    public var unit: String?
    /// The quantity: "voltage", "current"; nil if the unit implies it, or there is none.
    public var quantity: String?
    /// What the value is for programs that know devices of its kind: "ups.load"; nil where that isn't said.
    public var role: String?
    /// Whether only the description uses the value (a count, a piece's number), so that it isn't shown to anybody.
    public var isHidden = false
    /// Whether values of this name form a list; otherwise a later value replaces an earlier one.
    public var isList = false
    /// How a number is written in a text that is sent; nil for as few characters as it needs.
    public var form: TextForm?
    /// A field of this type.
    public init(_ name: String, _ type: FieldType) { (self.name, self.type) = (name, type) }
  }

  /// How many digits a number has in a text. "000.0" means three in front of the point and one behind it, "0x0000" four
  /// hexadecimal digits behind "0x", and "0000" four digits.
  public struct TextForm: Sendable, Hashable {
    /// The fewest digits in front of the point.
    public var digits: Int
    /// The number of digits behind the point; with 0 there is no point.
    public var decimals: Int
    /// Whether a hexadecimal number begins with "0x".
    public var isPrefixed = false
    /// A form with these numbers of digits.
    public init(digits: Int, decimals: Int) { (self.digits, self.decimals) = (digits, decimals) }
  }

  /// How a field's raw value is encoded.
  public enum FieldType: Sendable, Hashable {
    /// A number in binary.
    case number(NumberFormat)
    /// Bits from several bytes, the most significant first; the sign is a bit of its own or nil. The bytes are counted
    /// from the body's beginning, and the read position stays where it is.
    case scattered([BitPlace], sign: BitPlace?)
    /// Text of a fixed number of bytes; padding bytes at its end are dropped.
    case text(count: Int, padding: [UInt8])
    /// Text of a fixed number of bytes that begins with the digits of a decimal number.
    case digits(Int)
    /// Text up to a zero byte.
    case terminatedText
    /// Text behind a byte with its length in bytes.
    case prefixedText
    /// Text to the body's end; padding bytes at its end are dropped.
    case restOfText(padding: [UInt8])
    /// A fixed number of bytes, shown in hexadecimal.
    case bytes(Int)
    /// Day, month and year in 16 bits: bits 0–4 day, 5–8 month, 9–15 year since 2000.
    case packedDate(ByteOrder)
    /// A text that is a decimal number, with an optional sign and fraction; a `suffix` behind the number is dropped.
    case decimal(suffix: String)
    /// A text that is a hexadecimal number, with or without 0x.
    case hexadecimal
    /// A text that has the bytes of a number, each as two hexadecimal digits, with or without blanks between them.
    case hexadecimalBytes(NumberFormat)
    /// A text of zeros and ones. The first is bit (count − 1) if `firstIsHighest`, otherwise bit 0.
    case bitText(firstIsHighest: Bool)
    /// A text that is one of these words, with the raw number for each.
    case word([String: Int])
    /// Any text.
    case plainText
  }

  /// One or several adjacent bits of a byte.
  public struct BitPlace: Sendable, Hashable {
    /// The index of the byte in the body, from 0.
    public var byte: Int
    /// The lowest bit, 0…7.
    public var lowest: Int
    /// How many bits.
    public var count: Int
    /// Adjacent bits of a byte.
    public init(byte: Int, lowest: Int, count: Int = 1) { (self.byte, self.lowest, self.count) = (byte, lowest, count) }
  }

  /// Bits of a number.
  public struct Bits: Sendable, Hashable {
    /// The lowest bit, 0…63.
    public var lowest: Int
    /// How many bits.
    public var count: Int
    /// Whether the read position stays where it is, so that other fields can take other bits of the same bytes.
    public var staysHere: Bool
    /// Bits of a number.
    public init(lowest: Int, count: Int, staysHere: Bool = false) {
      (self.lowest, self.count, self.staysHere) = (lowest, count, staysHere)
    }
  }

  /// A value that is calculated from others.
  public struct Derivation: Sendable, Hashable {
    /// The name.
    public var name: String
    /// How the value is calculated. It is unknown when a value that it needs is unknown.
    public var formula: Formula
    /// A word for each word of the formula; unknown for other words. If there are none, the value is what the formula gives.
    public var translations: [String: String] = [:]
    /// The unit; nil if there is none.
    public var unit: String?
    /// The quantity; nil if the unit implies it, or there is none.
    public var quantity: String?
    /// What the value is for programs that know devices of its kind: "ups.load"; nil where that isn't said.
    public var role: String?
    /// Whether only the description uses the value, so that it isn't shown to anybody.
    public var isHidden = false
    /// A value that is calculated by this formula.
    public init(_ name: String, _ formula: Formula) { (self.name, self.formula) = (name, formula) }
  }
}
