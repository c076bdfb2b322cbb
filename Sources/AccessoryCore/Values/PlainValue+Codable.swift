// SPDX-License-Identifier: Apache-2.0

extension PlainValue: Codable {
  private enum CodingKeys: String, CodingKey {
    case kind, whole, number, text, list, flag
    case bytes = "bytes_hex"
  }

  /// The words for what a value is, in the service's interface.
  private enum Kind: String, Codable {
    case whole, number, text, list, bytes, flag, nothing
  }

  private enum DocumentKeys: CodingKey {
    case hex
  }

  /// The whole numbers that every JSON parser reads exactly.
  private static let exact = -(1 << 53)...(1 << 53)

  /// Writes the value with its kind, as in the service's interface. Documents have the bare value.
  public func encode(to encoder: any Encoder) throws {
    if encoder.writesNulls { return try encodeBare(to: encoder) }
    var fields = encoder.container(keyedBy: CodingKeys.self)
    func put(_ kind: Kind, _ value: (some Encodable)?, _ key: CodingKeys) throws {
      try fields.encode(kind, forKey: .kind)
      try fields.encodeIfPresent(value, forKey: key)
    }
    switch self {
    case .whole(let number): try put(.whole, number, .whole)
    case .number(let number) where number.isFinite: try put(.number, number, .number)
    case .text(let text): try put(.text, text, .text)
    case .list(let values): try put(.list, values, .list)
    case .bytes(let bytes): try put(.bytes, Hexadecimal.string(bytes), .bytes)
    case .flag(let flag): try put(.flag, flag, .flag)
    // JSON can't express an infinite number, or one that is not a number.
    case .nothing, .number: try fields.encode(Kind.nothing, forKey: .kind)
    }
  }

  /// Writes the bare value. Bytes have a field `hex`; a whole number beyond ±2⁵³ is written as text, since some parsers
  /// would round it.
  private func encodeBare(to encoder: any Encoder) throws {
    if case .bytes(let bytes) = self {
      var fields = encoder.container(keyedBy: DocumentKeys.self)
      return try fields.encode(Hexadecimal.string(bytes), forKey: .hex)
    }
    var container = encoder.singleValueContainer()
    switch self {
    case .whole(let number) where !Self.exact.contains(number): try container.encode(String(number))
    case .whole(let number): try container.encode(number)
    case .number(let number) where number.isFinite: try container.encode(number)
    case .text(let text): try container.encode(text)
    case .list(let values): try container.encode(values)
    case .flag(let flag): try container.encode(flag)
    // JSON can't express an infinite number, or one that is not a number.
    case .bytes, .nothing, .number: try container.encodeNil()
    }
  }

  /// Reads a value with its kind. A kind without its field is an error.
  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    switch try fields.decode(Kind.self, forKey: .kind) {
    case .whole: self = .whole(try fields.decode(Int.self, forKey: .whole))
    case .number:
      let number = try fields.decode(Double.self, forKey: .number)
      guard number.isFinite else { throw ReplyNumberError(CodingKeys.number.rawValue, number) }
      self = .number(number)
    case .text: self = .text(try fields.decode(String.self, forKey: .text))
    case .list: self = .list(try fields.decode([PlainValue].self, forKey: .list))
    case .bytes:
      let text = try fields.decode(String.self, forKey: .bytes)
      guard let bytes = Hexadecimal.bytes(text) else {
        throw DecodingError.dataCorruptedError(forKey: .bytes, in: fields, debugDescription: "not hexadecimal")
      }
      self = .bytes(bytes)
    case .flag: self = .flag(try fields.decode(Bool.self, forKey: .flag))
    case .nothing: self = .nothing
    }
  }
}
