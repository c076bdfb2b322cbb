// SPDX-License-Identifier: Apache-2.0

/// Why bytes are not acceptable JSON.
package struct JSONError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The problem in words.
  package let problem: String
  /// The index of the byte where the problem was found.
  package let offset: Int

  /// The error as text for people.
  package var description: String { "\(problem) at byte \(offset)" }
}

extension JSON {
  /// The greatest depth of nested arrays and objects.
  package static let depthLimit = 32

  /// Parses `bytes` strictly by RFC 8259. Rejects what parsers treat differently: duplicate names in an object,
  /// unpaired surrogates, invalid UTF-8. Also rejects nesting deeper than `depthLimit`.
  package init(_ bytes: [UInt8]) throws(JSONError) {
    var reader = JSONReader(bytes: bytes)
    self = try reader.document()
  }
}

/// A parser of one JSON text. The depth bounds the recursion; the input's length bounds everything else.
private struct JSONReader {
  let bytes: [UInt8]
  var position = 0

  init(bytes: [UInt8]) { self.bytes = bytes }

  mutating func document() throws(JSONError) -> JSON {
    let value = try value(depth: 0)
    skipSpace()
    guard position == bytes.count else { throw error("unexpected text after the value") }
    return value
  }

  private func error(_ problem: String) -> JSONError { JSONError(problem: problem, offset: position) }

  private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

  private mutating func skipSpace() {
    while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
  }

  /// Skips `byte` if it is next.
  private mutating func take(_ byte: Unicode.Scalar) -> Bool {
    guard next == UInt8(ascii: byte) else { return false }
    position += 1
    return true
  }

  private mutating func value(depth: Int) throws(JSONError) -> JSON {
    skipSpace()
    guard let first = next else { throw error("a value is missing") }
    switch first {
    case UInt8(ascii: "{"): return try object(depth: depth + 1)
    case UInt8(ascii: "["): return try array(depth: depth + 1)
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "t"): return try word("true", .bool(true))
    case UInt8(ascii: "f"): return try word("false", .bool(false))
    case UInt8(ascii: "n"): return try word("null", .null)
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
    default: throw error("not a JSON value")
    }
  }

  private mutating func word(_ word: StaticString, _ value: JSON) throws(JSONError) -> JSON {
    for index in 0..<word.utf8CodeUnitCount {
      guard next == word.utf8Start[index] else { throw error("not a JSON value") }
      position += 1
    }
    return value
  }

  private mutating func digits() throws(JSONError) {
    let start = position
    while let byte = next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { position += 1 }
    guard position > start else { throw error("a digit is missing") }
  }

  private mutating func number() throws(JSONError) -> JSON {
    let start = position
    _ = take("-")
    if !take("0") { try digits() }
    if take(".") { try digits() }
    if take("e") || take("E") {
      if !take("+") { _ = take("-") }
      try digits()
    }
    return .number(String(decoding: bytes[start..<position], as: UTF8.self))
  }

  private mutating func array(depth: Int) throws(JSONError) -> JSON {
    guard depth <= JSON.depthLimit else { throw error("nested too deep") }
    position += 1
    skipSpace()
    var values: [JSON] = []
    if take("]") { return .array(values) }
    while true {
      values.append(try value(depth: depth))
      skipSpace()
      if take("]") { return .array(values) }
      guard take(",") else { throw error("a comma or ] is missing") }
    }
  }

  private mutating func object(depth: Int) throws(JSONError) -> JSON {
    guard depth <= JSON.depthLimit else { throw error("nested too deep") }
    position += 1
    skipSpace()
    var fields: [String: JSON] = [:]
    if take("}") { return .object(fields) }
    while true {
      skipSpace()
      guard next == UInt8(ascii: "\"") else { throw error("a name is missing") }
      let name = try string()
      skipSpace()
      guard take(":") else { throw error("a colon is missing") }
      guard fields.updateValue(try value(depth: depth), forKey: name) == nil else {
        throw error("a name is repeated")
      }
      skipSpace()
      if take("}") { return .object(fields) }
      guard take(",") else { throw error("a comma or } is missing") }
    }
  }

  private mutating func string() throws(JSONError) -> String {
    position += 1
    var start = position
    var text: [UInt8] = []
    while let byte = next {
      switch byte {
      case UInt8(ascii: "\""):
        text += bytes[start..<position]
        guard let string = String(validating: text, as: UTF8.self) else { throw error("text is not UTF-8") }
        position += 1
        return string
      case UInt8(ascii: "\\"):
        text += bytes[start..<position]
        position += 1
        try escape(into: &text)
        start = position
      case 0..<0x20: throw error("a control character in a string")
      default: position += 1
      }
    }
    throw error("a string does not end")
  }

  private mutating func escape(into text: inout [UInt8]) throws(JSONError) {
    guard let byte = next else { throw error("a string does not end") }
    position += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
    case UInt8(ascii: "b"): text.append(0x08)
    case UInt8(ascii: "f"): text.append(0x0C)
    case UInt8(ascii: "n"): text.append(0x0A)
    case UInt8(ascii: "r"): text.append(0x0D)
    case UInt8(ascii: "t"): text.append(0x09)
    case UInt8(ascii: "u"):
      var code = UInt32(try codeUnit())
      if (0xD800..<0xDC00).contains(code) {
        guard take("\\"), take("u") else { throw error("half of a surrogate pair") }
        let low = UInt32(try codeUnit())
        guard (0xDC00..<0xE000).contains(low) else { throw error("half of a surrogate pair") }
        code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
      }
      guard let scalar = Unicode.Scalar(code) else { throw error("half of a surrogate pair") }
      text += Array(String(Character(scalar)).utf8)
    default: throw error("unknown escape")
    }
  }

  private mutating func codeUnit() throws(JSONError) -> UInt16 {
    var unit: UInt16 = 0
    for _ in 0..<4 {
      guard let byte = next, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
        throw error("four hexadecimal digits are missing")
      }
      unit = unit << 4 | UInt16(digit)
      position += 1
    }
    return unit
  }
}
