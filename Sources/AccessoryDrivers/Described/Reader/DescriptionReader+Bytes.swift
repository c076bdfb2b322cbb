// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols

// Bytes: in hexadecimal without quotes, or as a text in quotes.
extension DescriptionReader {
  /// Bytes, at least one.
  mutating func bytes(_ node: YAMLNode, _ what: String, limit: Int) -> [UInt8]? {
    guard let bytes = parts(node, what)?.flatMap({ $0 }) else { return nil }
    guard (1...limit).contains(bytes.count) else {
      report(node.mark, "\(what) has 1 to \(limit) bytes, not \(bytes.count)")
      return nil
    }
    return bytes
  }

  /// One byte.
  mutating func byte(_ node: YAMLNode, _ what: String) -> UInt8? {
    bytes(node, what, limit: 1)?.first
  }

  /// Bytes, or a list of them that stands for all of it.
  private mutating func parts(_ node: YAMLNode, _ what: String) -> [[UInt8]]? {
    guard case .sequence(let elements) = node.content else { return run(node, what).map { [$0] } }
    let parts = elements.prefix(ProtocolDescription.Limit.frame).map { run($0, what) }
    return parts.contains(nil) ? nil : parts.compactMap { $0 }
  }

  /// One run of bytes: hexadecimal without quotes, a text with them, or a mapping that says which it is.
  mutating func run(_ node: YAMLNode, _ what: String) -> [UInt8]? {
    switch node.content {
    case .scalar(let text) where node.style == .plain: return hexadecimal(text, node, what)
    case .scalar(let text):
      if Self.looksHexadecimal(text) {
        report(
          node.mark,
          "\(what) in quotes is a text of \(text.unicodeScalars.count) characters: bytes in hexadecimal stand without "
            + "quotes (a text that looks like them is {text: \(Quoted.text(text))})")
        return nil
      }
      if node.style == .literal, text.contains("\\") {
        report(node.mark, "\(what) has a backslash, and means something only in double quotes: \"\\r\"")
        return nil
      }
      return characters(text, node, what)
    case .mapping(let entries) where entries.count == 1 && ["text", "hex"].contains(entries[0].key):
      guard case .scalar(let text) = entries[0].value.content else { break }
      return entries[0].key == "text"
        ? characters(text, entries[0].value, what) : hexadecimal(text, entries[0].value, what)
    default: break
    }
    report(node.mark, "\(what) is bytes in hexadecimal like DD A5, or a text in quotes, not \(kind(node))")
    return nil
  }

  private mutating func hexadecimal(_ text: String, _ node: YAMLNode, _ what: String) -> [UInt8]? {
    let groups = text.split { $0 == " " || $0 == "\n" }.map { Hexadecimal.bytes($0) }
    if !groups.isEmpty, !groups.contains(nil) { return groups.compactMap { $0 }.flatMap { $0 } }
    report(
      node.mark,
      "\(what) is bytes in hexadecimal, two digits each, like DD A5 or 0F66, or a text in double quotes, not \(kind(node))"
    )
    return nil
  }

  /// A text's bytes: each character is the byte of its number, so that \xNN can say any byte.
  private mutating func characters(_ text: String, _ node: YAMLNode, _ what: String) -> [UInt8]? {
    guard let bytes = Self.characters(text) else {
      report(
        node.mark,
        "\(what) has a character that is more than one byte: write the bytes that the accessory sends for it as \\xNN")
      return nil
    }
    return bytes
  }

  static func characters(_ text: String) -> [UInt8]? {
    var bytes: [UInt8] = []
    for scalar in text.unicodeScalars {
      guard let byte = UInt8(exactly: scalar.value) else { return nil }
      bytes.append(byte)
    }
    return bytes
  }

  /// Whether somebody may have put quotes around bytes: two pairs of digits or more, with blanks between them.
  private static func looksHexadecimal(_ text: String) -> Bool {
    let groups = text.split(separator: " ")
    return groups.count > 1 && groups.allSatisfy { Hexadecimal.bytes($0) != nil }
  }
}
