// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryCore
import AccessoryProtocols

// Reads bytes: hexadecimal without quotes, or text in quotes.
extension DescriptionReader {
  /// Reads 1 to `limit` bytes.
  mutating func bytes(_ node: YAMLNode, _ what: String, limit: Int) -> [UInt8]? {
    guard let bytes = parts(node, what)?.flatMap({ $0 }) else { return nil }
    guard (1...limit).contains(bytes.count) else {
      report(node.mark, "\(what) must have \(limit == 1 ? "1 byte" : "1 to \(limit) bytes"), not \(bytes.count)")
      return nil
    }
    return bytes
  }

  /// Reads the bytes of a key.
  mutating func bytes(_ fields: KeyedNodes, _ name: String) -> [UInt8]? {
    guard let node = fields[name] else { return nil }
    guard case .bytes(let limit)? = fields.table[name]?.form else { return notInTable(name) }
    return bytes(node, name, limit: limit)
  }

  mutating func byte(_ node: YAMLNode, _ what: String) -> UInt8? {
    bytes(node, what, limit: 1)?.first
  }

  /// Reads bytes, or a list whose elements are joined.
  private mutating func parts(_ node: YAMLNode, _ what: String) -> [[UInt8]]? {
    guard case .sequence(let elements) = node.content else { return run(node, what).map { [$0] } }
    let parts = elements.prefix(ProtocolDescription.Limit.frame).map { run($0, what) }
    return parts.contains(nil) ? nil : parts.compactMap { $0 }
  }

  /// Reads one run of bytes: hexadecimal without quotes, text in quotes, or a mapping with the key `text` or `hex`.
  mutating func run(_ node: YAMLNode, _ what: String) -> [UInt8]? {
    switch node.content {
    case .scalar(let text) where node.style == .plain: return hexadecimal(text, node, what)
    case .scalar(let text):
      if Self.looksHexadecimal(text) {
        report(
          node.mark,
          "\(what) in quotes is a text with \(text.unicodeScalars.count) characters: write hexadecimal bytes without "
            + "quotes (a text that looks like them is {text: \(Quoted.text(text))})")
        return nil
      }
      if node.style == .literal, text.contains("\\") {
        report(node.mark, "\(what) has a backslash, which has a meaning only in double quotes: \"\\r\"")
        return nil
      }
      return characters(text, node, what)
    case .mapping(let entries) where entries.count == 1 && ["text", "hex"].contains(entries[0].key):
      guard case .scalar(let text) = entries[0].value.content else { break }
      return entries[0].key == "text"
        ? characters(text, entries[0].value, what) : hexadecimal(text, entries[0].value, what)
    default: break
    }
    report(node.mark, "\(what) must be bytes in hexadecimal like DD A5, or a text in quotes, not \(kind(node))")
    return nil
  }

  private mutating func hexadecimal(_ text: String, _ node: YAMLNode, _ what: String) -> [UInt8]? {
    let groups = text.split { $0 == " " || $0 == "\n" }.map { Hexadecimal.bytes($0) }
    if !groups.isEmpty, !groups.contains(nil) { return groups.compactMap { $0 }.flatMap { $0 } }
    report(
      node.mark,
      "\(what) must be bytes in hexadecimal, two digits each, like DD A5 or 0F66, or a text in double quotes, not "
        + "\(kind(node))"
    )
    return nil
  }

  /// The bytes of a text. Each character is the byte with its code point, so that \xNN can express any byte.
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

  /// Whether a text in quotes looks like hexadecimal bytes: at least two groups of digits, separated by blanks.
  private static func looksHexadecimal(_ text: String) -> Bool {
    let groups = text.split(separator: " ")
    return groups.count > 1 && groups.allSatisfy { Hexadecimal.bytes($0) != nil }
  }
}
