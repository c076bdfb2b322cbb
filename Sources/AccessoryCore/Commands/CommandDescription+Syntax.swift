// SPDX-License-Identifier: Apache-2.0

extension CommandDescription {
  /// The command's syntax, as in "motor-speed ports=A,B,C,D speed=-100…100 [layer=0…3]".
  public var form: String {
    ([name]
      + arguments.map { argument in
        let text = "\(argument.name)=\(argument.kind.shortForm)\(argument.unit.map { " (\($0))" } ?? "")"
        return argument.defaultValue == nil ? text : "[\(text)]"
      }).joined(separator: " ")
  }
}

extension CommandDescription.Kind {
  /// Parses the text of an argument; nil when it isn't allowed.
  public func value(_ text: String) -> CommandValue? {
    switch self {
    case .whole(let range): return Int(text).flatMap { range.contains($0) ? .whole($0) : nil }
    case .choice(let words): return Self.word(text, words).map { .text($0) }
    case .choices(let words):
      let chosen = text.split(separator: ",", omittingEmptySubsequences: false).map { Self.word(String($0), words) }
      guard !chosen.contains(nil), Set(chosen).count == chosen.count else { return nil }
      return .list(chosen.compactMap { $0 }.map { .text($0) })
    case .text(let limit): return text.utf8.count <= limit && !text.utf8.contains(0) ? .text(text) : nil
    case .bytes(let limit): return Self.bytes(text).flatMap { $0.count <= limit ? .bytes($0) : nil }
    case .flag: return ["yes": .flag(true), "no": .flag(false)][text]
    }
  }

  private static func word(_ text: String, _ words: [String]) -> String? {
    words.first { $0.lowercased() == text.lowercased() }
  }

  private static func bytes(_ text: String) -> [UInt8]? {
    let digits = Array(text.utf8)
    guard digits.count % 2 == 0 else { return nil }
    var bytes: [UInt8] = []
    for index in stride(from: 0, to: digits.count, by: 2) {
      let pair = digits[index..<(index + 2)]
      guard !pair.contains(UInt8(ascii: "+")), !pair.contains(UInt8(ascii: "-")),
        let byte = UInt8(String(decoding: pair, as: UTF8.self), radix: 16)
      else { return nil }
      bytes.append(byte)
    }
    return bytes
  }

  /// The allowed values, as a part of a sentence.
  package var form: String {
    switch self {
    case .whole(let range): "a whole number from \(range.lowerBound) to \(range.upperBound)"
    case .choice(let words): words.count == 1 ? words[0] : "one of \(words.joined(separator: ", "))"
    case .choices(let words): "one or more of \(words.joined(separator: ",")), separated by commas"
    case .text(let limit): "a text of at most \(limit) bytes"
    case .bytes(let limit): "hexadecimal, two digits a byte, at most \(limit) bytes"
    case .flag: "yes or no"
    }
  }

  /// The allowed values, as short as possible.
  public var shortForm: String {
    switch self {
    case .whole(let range): "\(range.lowerBound)…\(range.upperBound)"
    case .choice(let words): words.joined(separator: "|")
    case .choices(let words): words.joined(separator: ",")
    case .text: "text"
    case .bytes: "hex"
    case .flag: "yes|no"
    }
  }
}

extension CommandValue {
  /// The value as an argument is typed; nil when it can't be an argument.
  public var typed: String? {
    switch self {
    case .whole(let number): "\(number)"
    case .text(let text): text
    case .list(let values): values.compactMap(\.typed).joined(separator: ",")
    case .bytes(let bytes): Hexadecimal.string(bytes)
    case .flag(let isSet): isSet ? "yes" : "no"
    case .number, .nothing: nil
    }
  }
}
