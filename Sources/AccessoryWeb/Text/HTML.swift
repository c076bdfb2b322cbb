// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import CommandOutput

/// Helpers for HTML.
enum HTML {
  /// Escapes a text for an element or a quoted attribute. Markup is shown as text, and so are characters that reorder or hide their
  /// neighbours. At most `limit` characters.
  static func text(_ text: String, limit: Int = 300) -> String { XMLText.escape(text, limit: limit) }

  /// A list of names and texts. Unknown ones are left out.
  static func facts(_ facts: [(name: String, text: String)], class name: String = "facts") -> String {
    if facts.isEmpty { return "" }
    let rows = facts.map { "<div><dt>\(text($0.name))</dt><dd>\(text($0.text))</dd></div>" }
    return "<dl class=\"\(name)\">\(rows.joined())</dl>"
  }

  /// A section with a heading; empty if it has no contents.
  static func section(_ title: String, _ contents: String) -> String {
    contents.isEmpty ? "" : "<h2>\(text(title))</h2>\(contents)"
  }
}

/// The name of an accessory in the addresses of pages.
enum PageName {
  /// A segment of a path: letters, digits and `-._~@:` as they are, and other bytes as `%2F`. Never `.` or `..`.
  static func encode(_ name: String) -> String {
    var encoded = name == "." || name == ".." || name.isEmpty ? "~" : ""
    for byte in name.utf8 {
      if byte.isLetterOrDigit(or: "-._~@:") {
        encoded.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        encoded += "%" + Hexadecimal.string([byte]).uppercased()
      }
    }
    return encoded
  }

  /// The decoded text of a segment; nil if it isn't valid.
  static func decode(_ segment: some StringProtocol) -> String? {
    var bytes: [UInt8] = []
    var rest = Array(segment.utf8)[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      guard rest.count >= 2, let value = Hexadecimal.bytes(String(decoding: rest.prefix(2), as: UTF8.self))?.first
      else { return nil }
      bytes.append(value)
      rest = rest.dropFirst(2)
    }
    return String(validating: bytes, as: UTF8.self)
  }
}
