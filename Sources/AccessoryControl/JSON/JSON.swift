// SPDX-License-Identifier: Apache-2.0

/// A JSON value in a message.
package enum JSON: Sendable, Hashable {
  case null
  case bool(Bool)
  /// A number as text. Converting it is up to the caller.
  case number(String)
  case string(String)
  case array([JSON])
  case object([String: JSON])

  /// A whole number.
  package static func int(_ value: some BinaryInteger) -> JSON { .number(String(value)) }

  /// The fields of an object; nil for any other value.
  package var fields: [String: JSON]? {
    if case .object(let fields) = self { fields } else { nil }
  }

  /// The text of a string; nil for any other value.
  package var text: String? {
    if case .string(let text) = self { text } else { nil }
  }

  /// The value as JSON on one line, with an object's fields in alphabetical order.
  package var bytes: [UInt8] {
    var bytes: [UInt8] = []
    write(into: &bytes)
    return bytes
  }

  private func write(into bytes: inout [UInt8]) {
    switch self {
    case .null: bytes += "null".utf8
    case .bool(let value): bytes += (value ? "true" : "false").utf8
    case .number(let digits): bytes += digits.utf8
    case .string(let text): Self.write(text, into: &bytes)
    case .array(let values):
      bytes.append(UInt8(ascii: "["))
      for (index, value) in values.enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        value.write(into: &bytes)
      }
      bytes.append(UInt8(ascii: "]"))
    case .object(let fields):
      bytes.append(UInt8(ascii: "{"))
      for (index, field) in fields.sorted(by: { $0.key < $1.key }).enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        Self.write(field.key, into: &bytes)
        bytes.append(UInt8(ascii: ":"))
        field.value.write(into: &bytes)
      }
      bytes.append(UInt8(ascii: "}"))
    }
  }

  private static func write(_ text: String, into bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\""))
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
      case 0..<0x20: bytes += "\\u00\(byte < 16 ? "0" : "")\(String(byte, radix: 16))".utf8
      default: bytes.append(byte)
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }
}
