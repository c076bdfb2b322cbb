// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A file of udev's rules, read and matched as systemd's udev-rules.c does (version 252), of what is used here.
struct RulesFile {
  struct Token: Hashable {
    var key: String
    var operation: String
    var value: String
  }

  /// The rules, a line each.
  private(set) var lines: [[Token]] = []

  struct Nonsense: Error {
    var line: String
  }

  /// Throws where udev would warn and pass a line over.
  init(_ text: String) throws {
    for line in text.split(separator: "\n") where !line.hasPrefix("#") {
      guard line.utf8.count < 16_384 else { throw Nonsense(line: "too long") }
      lines.append(try Self.tokens(String(line)))
    }
  }

  private static func tokens(_ line: String) throws -> [Token] {
    var rest = Array(line.utf8)[...]
    var tokens: [Token] = []
    while !rest.isEmpty {
      let key = rest.prefix { $0 != UInt8(ascii: "=") && $0 != UInt8(ascii: "!") && $0 != UInt8(ascii: "+") }
      rest = rest.dropFirst(key.count)
      let operation = rest.prefix { $0 != UInt8(ascii: "\"") }
      rest = rest.dropFirst(operation.count + 1)
      var value: [UInt8] = []
      // Only a quote has a backslash before it that doesn't count.
      while let byte = rest.first, byte != UInt8(ascii: "\"") {
        let isQuote = byte == UInt8(ascii: "\\") && rest.dropFirst().first == UInt8(ascii: "\"")
        value.append(isQuote ? UInt8(ascii: "\"") : byte)
        rest = rest.dropFirst(isQuote ? 2 : 1)
      }
      guard !rest.isEmpty else { throw Nonsense(line: line) }
      rest = rest.dropFirst()
      tokens.append(
        Token(
          key: String(decoding: key, as: UTF8.self), operation: String(decoding: operation, as: UTF8.self),
          value: String(decoding: value, as: UTF8.self)))
      guard rest.isEmpty || rest.starts(with: ", ".utf8) else { throw Nonsense(line: line) }
      rest = rest.dropFirst(2)
    }
    return tokens
  }

  /// Whether a value that was read fits.
  static func fits(_ pattern: String, _ value: String) -> Bool {
    pattern.split(separator: "|", omittingEmptySubsequences: false).contains { alternative in
      let alternative = String(alternative)
      let isGlob = alternative.contains { "*?[".contains($0) }
      return isGlob ? fnmatch(alternative, value, 0) == 0 : alternative == value
    }
  }

  /// Whether a line that marks accessories fits a node of `subsystem` whose USB device has these attributes; nil
  /// properties are not there.
  func marks(
    _ subsystem: String, attributes: [String: String], interfaces: String = ":ff0000:", links: [String] = []
  ) -> Bool {
    lines.contains { line in
      guard line.last == Token(key: "ENV{ID_ACCESSORY_BRIDGE}", operation: "=", value: "1") else { return false }
      return line.dropLast().allSatisfy { token in
        let fits: Bool
        switch token.key {
        case "SUBSYSTEM": fits = Self.fits(token.value, subsystem)
        case "SUBSYSTEMS": fits = Self.fits(token.value, "usb")
        case "SYMLINK": fits = links.contains { Self.fits(token.value, $0) }
        case "ENV{ID_USB_INTERFACES}": fits = Self.fits(token.value, interfaces)
        default:
          guard let key = token.key.split(separator: "{").last?.dropLast(), token.key.hasPrefix("ATTR"),
            let value = attributes[String(key)]
          else { return false }
          fits = Self.fits(token.value, value)
        }
        return fits == (token.operation == "==")
      }
    }
  }
}
