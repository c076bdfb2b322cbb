// SPDX-License-Identifier: Apache-2.0

/// Writes the fields of a message in the encoding of Protocol Buffers, version 3 (protobuf.dev/programming-guides/encoding). A field with
/// its default value isn't written.
package struct ProtobufWriter: Sendable {
  package private(set) var bytes: [UInt8] = []

  package init() {}

  /// A whole number that isn't negative.
  package mutating func put(_ field: Int, _ number: UInt64) {
    if number != 0 { write(field, number) }
  }

  package mutating func put(_ field: Int, _ number: Int) { put(field, UInt64(bitPattern: Int64(number))) }

  package mutating func put(_ field: Int, _ flag: Bool) { put(field, flag ? 1 : 0) }

  /// A number of 32 bits that is always four bytes long (`fixed32`).
  package mutating func put(fixed field: Int, _ number: UInt32) {
    guard number != 0 else { return }
    write(UInt64(field) << 3 | 5)
    for shift in stride(from: 0, to: 32, by: 8) { bytes.append(UInt8(truncatingIfNeeded: number >> shift)) }
  }

  package mutating func put(_ field: Int, _ number: Float) { put(fixed: field, number == 0 ? 0 : number.bitPattern) }

  package mutating func put(_ field: Int, _ text: String) { put(field, Array(text.utf8)) }

  package mutating func put(_ field: Int, _ content: [UInt8]) {
    guard !content.isEmpty else { return }
    write(content: field, content)
  }

  /// A message in this one, also an empty one.
  package mutating func put(_ field: Int, message: (inout ProtobufWriter) -> Void) {
    var inner = ProtobufWriter()
    message(&inner)
    write(content: field, inner.bytes)
  }

  /// A whole number in a repeated field or at another place where a 0 counts.
  private mutating func write(_ field: Int, _ number: UInt64) {
    write(UInt64(field) << 3)
    write(number)
  }

  private mutating func write(content field: Int, _ content: [UInt8]) {
    write(UInt64(field) << 3 | 2)
    write(UInt64(content.count))
    bytes += content
  }

  private mutating func write(_ number: UInt64) { Varint.append(number, to: &bytes) }
}

/// Whole numbers of seven bits a byte, the lowest first.
package enum Varint {
  /// What the beginning of some bytes is.
  package enum Found: Sendable, Hashable {
    /// A number, and its length in bytes.
    case number(UInt64, length: Int)
    /// More bytes are needed.
    case unfinished
    /// It is longer than allowed.
    case tooLong
  }

  package static func append(_ number: UInt64, to bytes: inout [UInt8]) {
    var rest = number
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  /// Reads a number of at most `limit` bytes, which is at most 10.
  package static func read(_ bytes: ArraySlice<UInt8>, limit: Int) -> Found {
    var number: UInt64 = 0
    for (index, byte) in bytes.prefix(limit).enumerated() {
      // The tenth byte has one bit of the number.
      guard index < 9 || byte <= 1 else { return .tooLong }
      number |= UInt64(byte & 0x7F) << (7 * index)
      if byte & 0x80 == 0 { return .number(number, length: index + 1) }
    }
    return bytes.count < limit ? .unfinished : .tooLong
  }
}

/// The fields of a message that was received. Unknown fields are kept, and looked for by nobody.
package struct ProtobufFields: Sendable {
  /// A field's content.
  private enum Content: Sendable {
    case number(UInt64)
    case fixed(UInt32)
    case bytes(ArraySlice<UInt8>)
  }

  private var fields: [Int: [Content]] = [:]

  /// The most fields of a message from a client: the largest of them has 7.
  package static let limit = 64

  /// Reads a message; nil if it isn't one, or has more than `limit` fields.
  package init?(_ bytes: ArraySlice<UInt8>, limit: Int = ProtobufFields.limit) {
    var rest = bytes
    var count = 0
    while !rest.isEmpty {
      count += 1
      guard count <= limit, let tag = Self.number(&rest), tag >> 3 > 0, tag >> 3 <= 536_870_911 else { return nil }
      let field = Int(tag >> 3)
      switch tag & 7 {
      case 0:
        guard let number = Self.number(&rest) else { return nil }
        fields[field, default: []].append(.number(number))
      case 1:
        guard rest.count >= 8 else { return nil }
        rest = rest.dropFirst(8)
      case 2:
        guard let length = Self.number(&rest), length <= UInt64(rest.count) else { return nil }
        fields[field, default: []].append(.bytes(rest.prefix(Int(length))))
        rest = rest.dropFirst(Int(length))
      case 5:
        guard rest.count >= 4 else { return nil }
        fields[field, default: []].append(.fixed(rest.prefix(4).reversed().reduce(0) { $0 << 8 | UInt32($1) }))
        rest = rest.dropFirst(4)
      default: return nil
      }
    }
  }

  private static func number(_ rest: inout ArraySlice<UInt8>) -> UInt64? {
    guard case .number(let number, let length) = Varint.read(rest, limit: 10) else { return nil }
    rest = rest.dropFirst(length)
    return number
  }

  /// A whole number of 32 bits; 0 if it is missing or something else. Of a field that is repeated, the last one counts, here and below.
  package func number(_ field: Int) -> UInt32 {
    guard case .number(let number)? = fields[field]?.last else { return 0 }
    return UInt32(truncatingIfNeeded: number)
  }

  package func flag(_ field: Int) -> Bool { number(field) != 0 }

  package func fixed(_ field: Int) -> UInt32 {
    guard case .fixed(let number)? = fields[field]?.last else { return 0 }
    return number
  }

  package func float(_ field: Int) -> Float { Float(bitPattern: fixed(field)) }

  package func bytes(_ field: Int) -> ArraySlice<UInt8> {
    guard case .bytes(let bytes)? = fields[field]?.last else { return [] }
    return bytes
  }

  /// The contents of a repeated field, in order.
  package func all(_ field: Int) -> [ArraySlice<UInt8>] {
    (fields[field] ?? []).compactMap { if case .bytes(let bytes) = $0 { bytes } else { nil } }
  }

  /// A text; invalid UTF-8 is repaired.
  package func text(_ field: Int) -> String { String(decoding: bytes(field), as: UTF8.self) }
}
