// SPDX-License-Identifier: Apache-2.0

/// Lines of NUT's network protocol (RFC 9271): words separated by blanks. A word in quotation marks may contain blanks; inside it, a
/// backslash escapes a quotation mark or a backslash.
package enum NUTLine {
  /// The longest line, in bytes, without its line end.
  package static let limit = 1_024
  /// The most words in a command.
  static let wordLimit = 16

  /// The words of a line. Nil if a quotation or an escape is incomplete, or if a byte isn't printable ASCII.
  package static func words(_ line: some Sequence<UInt8>) -> [String]? {
    var words: [String] = []
    var word: [UInt8]?
    var isQuoted = false
    var isEscaped = false
    for byte in line {
      guard (0x20...0x7E).contains(byte) || byte == UInt8(ascii: "\t") else { return nil }
      if isEscaped {
        word?.append(byte)
        isEscaped = false
        continue
      }
      switch byte {
      case UInt8(ascii: "\\"):
        isEscaped = true
        word = word ?? []
      case UInt8(ascii: "\""):
        isQuoted.toggle()
        word = word ?? []
      case UInt8(ascii: " ") where !isQuoted, UInt8(ascii: "\t") where !isQuoted:
        if let done = word { words.append(String(decoding: done, as: UTF8.self)) }
        word = nil
      default: word = (word ?? []) + [byte]
      }
      if words.count > wordLimit { return nil }
    }
    guard !isQuoted, !isEscaped else { return nil }
    if let done = word { words.append(String(decoding: done, as: UTF8.self)) }
    return words
  }

  /// The text in quotation marks. Characters that the protocol doesn't allow become "?". At most 256 characters are kept.
  package static func quoted(_ text: String) -> String {
    var bytes: [UInt8] = [UInt8(ascii: "\"")]
    for scalar in text.unicodeScalars.prefix(256) {
      guard let byte = UInt8(exactly: scalar.value), (0x20...0x7E).contains(byte) else {
        bytes.append(UInt8(ascii: "?"))
        continue
      }
      if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { bytes.append(UInt8(ascii: "\\")) }
      bytes.append(byte)
    }
    bytes.append(UInt8(ascii: "\""))
    return String(decoding: bytes, as: UTF8.self)
  }
}
