// SPDX-License-Identifier: Apache-2.0

extension ProtocolDescription {
  /// A value in a message: where its raw number or text comes from, and what that means.
  public struct Field: Sendable, Hashable {
    /// What it is called: a word of the common vocabulary (`battery.voltage`), or any other name.
    public var name: String
    /// What it is read from.
    public var type: FieldType
    /// Taken from the raw number before anything else: bits `lowest`…`lowest + count − 1`; nil: all of it.
    public var bits: Bits?
    /// Added to the raw number, before it is scaled.
    public var offset: Int = 0
    /// What the raw number with its offset is multiplied with.
    public var scale = Scale.one
    /// Raw numbers that mean: not known.
    public var unknownNumbers: [Int] = []
    /// Texts that mean: not known.
    public var unknownTexts: [String] = []
    /// Whether a text of nothing but dashes and points means it, too: `---.-`.
    public var areDashesUnknown = false
    /// Words by raw number: then the value is the word, or `nil` where there is none for the number.
    public var words: [Int: String] = [:]
    /// Names by bit, 0 the lowest (or by place in a text of zeros and ones): then the value is the names whose bits are 1.
    public var flags: [Int: String] = [:]
    /// Whether the value is a truth: raw number other than 0.
    public var isTruth = false
    /// What it is counted in: "V", "A", "°C", "%"; nil for what is counted in nothing.
    public var unit: String?
    /// What it measures: "voltage", "current"; nil where the unit says it, or it measures nothing.
    public var quantity: String?
    /// Whether it is for the description's own use (a count, a piece's number), and no value for anybody.
    public var isHidden = false
    /// Whether its values are one list; otherwise a later one takes the place of an earlier one.
    public var isList = false
    /// How a number stands in a text that is sent; nil: in as few characters as it needs.
    public var form: TextForm?
    /// What it is instead, depending on another field's raw number, which may come later in the message; where there is no
    /// rule for that number, or no such field, what stands here.
    public var variants: Variants?
    /// What raw numbers above a limit mean instead: 101 for −1 °C.
    public var above: Above?

    /// A field of this type.
    public init(_ name: String, _ type: FieldType) { (self.name, self.type) = (name, type) }
  }

  /// How many digits a number has in a text: "000.0" is three in front of the point, one behind it; "0x0000" four
  /// hexadecimal ones behind "0x", "0000" the same without that.
  public struct TextForm: Sendable, Hashable {
    /// At least so many in front of the point.
    public var digits: Int
    /// Exactly so many behind it; 0: there is no point.
    public var decimals: Int
    /// Whether "0x" stands in front of a hexadecimal number.
    public var isPrefixed = false
    /// So many digits.
    public init(digits: Int, decimals: Int) { (self.digits, self.decimals) = (digits, decimals) }
  }

  /// Rules that depend on another field.
  public struct Variants: Sendable, Hashable {
    /// The other field.
    public var by: String
    /// What differs, by that field's raw number.
    public var rules: [Int: Rule]
    /// These rules.
    public init(by: String, rules: [Int: Rule]) { (self.by, self.rules) = (by, rules) }

    /// What a rule changes of a field.
    public struct Rule: Sendable, Hashable {
      /// The number's encoding.
      public var encoding: NumberFormat.Encoding
      /// See `Field.offset`.
      public var offset: Int
      /// See `Field.scale`.
      public var scale: Scale
      /// A rule of these parts.
      public init(encoding: NumberFormat.Encoding, offset: Int, scale: Scale) {
        (self.encoding, self.offset, self.scale) = (encoding, offset, scale)
      }
    }
  }

  /// A rule for a field's raw numbers above a limit.
  public struct Above: Sendable, Hashable {
    /// The largest raw number that means what the field says.
    public var limit: Int
    /// What larger ones mean; its encoding is not looked at.
    public var rule: Variants.Rule
    /// A rule above a limit.
    public init(limit: Int, rule: Variants.Rule) { (self.limit, self.rule) = (limit, rule) }
  }

  /// What a field is read from.
  public enum FieldType: Sendable, Hashable {
    /// A number in bytes.
    case number(NumberFormat)
    /// Bits from several bytes, the most significant first; the sign is a bit of its own or nil. All bytes are counted from
    /// the body's beginning; it takes none of them.
    case scattered([BitPlace], sign: BitPlace?)
    /// Text of so many bytes, without what pads it.
    case text(count: Int, padding: [UInt8])
    /// Text up to a zero byte.
    case terminatedText
    /// Text behind a byte with its count.
    case prefixedText
    /// Text to the body's end, without what pads it.
    case restOfText(padding: [UInt8])
    /// So many bytes, shown in hexadecimal.
    case bytes(Int)
    /// Day, month and year in 16 bits: bits 0–4 day, 5–8 month, 9–15 year since 2000.
    case packedDate(ByteOrder)
    /// A text that is a decimal number, with sign and fraction if so wished; behind it `suffix` is dropped.
    case decimal(suffix: String)
    /// A text that is a hexadecimal number, with or without 0x.
    case hexadecimal
    /// A text that is a number's bytes, two hexadecimal digits each, with or without blanks between them.
    case hexadecimalBytes(NumberFormat)
    /// A text of zeros and ones, of which the first is bit (count − 1) if `firstIsHighest`, else bit 0.
    case bitText(firstIsHighest: Bool)
    /// A text that is one of the field's `textWords`.
    case word([String: Int])
    /// A text as it is.
    case plainText
  }

  /// One bit or several bits side by side of a byte.
  public struct BitPlace: Sendable, Hashable {
    /// Which byte of the body, from 0.
    public var byte: Int
    /// The lowest bit, 0…7.
    public var lowest: Int
    /// How many.
    public var count: Int
    /// Bits of a byte.
    public init(byte: Int, lowest: Int, count: Int = 1) { (self.byte, self.lowest, self.count) = (byte, lowest, count) }
  }

  /// Bits of a number.
  public struct Bits: Sendable, Hashable {
    /// The lowest, 0…63.
    public var lowest: Int
    /// How many.
    public var count: Int
    /// Whether the field keeps the cursor where it is, so that other fields take other bits of the same bytes.
    public var staysHere: Bool
    /// Bits of a number.
    public init(lowest: Int, count: Int, staysHere: Bool = false) {
      (self.lowest, self.count, self.staysHere) = (lowest, count, staysHere)
    }
  }

  /// A factor as a fraction, so that 0.01 is exactly that.
  public struct Scale: Sendable, Hashable {
    /// Above the line; not 0.
    public var numerator: Int
    /// Below the line; above 0.
    public var denominator: Int
    /// A fraction.
    public init(_ numerator: Int, over denominator: Int = 1) {
      (self.numerator, self.denominator) = (numerator, denominator)
    }
    /// 1.
    public static let one = Scale(1)
    /// The nearest number.
    public var value: Double { Double(numerator) / Double(denominator) }
  }

  /// A value that follows from others.
  public struct Derivation: Sendable, Hashable {
    /// What it is called.
    public var name: String
    /// How it follows.
    public var rule: Rule
    /// What it is counted in.
    public var unit: String?
    /// What it measures.
    public var quantity: String?
    /// Whether it is for the description's own use, and no value for anybody.
    public var isHidden = false
    /// A value that follows by this rule.
    public init(_ name: String, _ rule: Rule) { (self.name, self.rule) = (name, rule) }

    /// How a value follows from others. It is unknown when one of them is.
    public enum Rule: Sendable, Hashable {
      /// The first of these that is known.
      case first([String])
      /// a / b · 100.
      case percent(String, of: String)
      /// a − b.
      case difference(String, String)
      /// The sum of fields, or of the one list.
      case sum([String])
      /// The smallest of a list.
      case least(String)
      /// The largest of a list.
      case greatest(String)
      /// The same with the other sign.
      case negated(String)
      /// a · b.
      case product(String, String)
      /// `charging`, `discharging` or `not_charging` by the sign of a current, with a dead band in the field's unit.
      case chargeBySign(String, deadBand: Double)
      /// Where a lies from `empty` to `full`, in percent: 0 below, 100 above.
      case percentOfRange(String, empty: String, full: String)
      /// a if this truth is set, or (`isNegated`) if it isn't; else unknown.
      case condition(String, when: String, isNegated: Bool)
      /// a if it is one of these numbers, else unknown.
      case within(String, ClosedRange<Double>)
      /// This word, if the truth or flag is set.
      case word(String, when: String, contains: String?)
      /// Another word for each word of a field; unknown where there is none.
      case words(String, [String: String])
    }
  }
}
