// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// An error in a command that the user typed.
public struct CommandSyntaxError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What is wrong, and what was expected.
  public let description: String

  init(_ description: String) { self.description = description }
}

extension CommandCall {
  /// Parses commands: each is a name with arguments as `name=value`, and `+` separates commands.
  ///
  /// Throws `CommandSyntaxError` for the first error.
  public static func read(
    _ words: some Sequence<String>, of commands: [CommandDescription]
  ) throws(CommandSyntaxError) -> [CommandCall] {
    let parts = words.split(separator: "+", omittingEmptySubsequences: false)
    var calls: [CommandCall] = []
    for part in parts { calls.append(try read(part, of: commands)) }
    return calls
  }

  private static func read(
    _ words: ArraySlice<String>, of commands: [CommandDescription]
  ) throws(CommandSyntaxError) -> CommandCall {
    guard let name = words.first else { throw CommandSyntaxError("a command was expected: --list shows all") }
    let command = try find(name, commands)
    var arguments: [String: String] = [:]
    for word in words.dropFirst() {
      guard let equals = word.firstIndex(of: "=") else {
        throw CommandSyntaxError("\(word) is not an argument: write \(form(of: command))")
      }
      let key = String(word[..<equals])
      guard arguments.updateValue(String(word[word.index(after: equals)...]), forKey: key) == nil else {
        throw CommandSyntaxError("\(key) is given twice")
      }
    }
    return try CommandCall(command, arguments)
  }

  /// A call of the command with this name. The arguments are texts, as they would be typed.
  ///
  /// Throws `CommandSyntaxError` for an unknown command or an argument that isn't valid.
  public init(
    _ name: String, _ arguments: [String: String], of commands: [CommandDescription]
  ) throws(CommandSyntaxError) {
    try self.init(Self.find(name, commands), arguments)
  }

  private static func find(
    _ name: String, _ commands: [CommandDescription]
  ) throws(CommandSyntaxError) -> CommandDescription {
    if let command = commands.first(where: { $0.name == name }) { return command }
    let names = commands.map(\.name)
    let similar = names.filter { $0.hasPrefix(name.prefix(4)) }.prefix(5)
    let hint: String
    if !similar.isEmpty {
      hint = "similar commands are \(similar.joined(separator: ", "))"
    } else if let nearest = NearestWord.find(name, among: names), nearest.isLikely, nearest.distance < name.count {
      hint = "did you mean \(nearest.word)?"
    } else {
      hint = "--list shows all"
    }
    throw CommandSyntaxError("\(name) is not a command: \(hint)")
  }

  private init(_ command: CommandDescription, _ arguments: [String: String]) throws(CommandSyntaxError) {
    for key in arguments.keys.sorted() where !command.arguments.contains(where: { $0.name == key }) {
      throw CommandSyntaxError("\(command.name) has no argument \(key): write \(Self.form(of: command))")
    }
    var values: [String: CommandValue] = [:]
    for argument in command.arguments {
      guard let text = arguments[argument.name] else {
        guard let defaultValue = argument.defaultValue else {
          throw CommandSyntaxError("\(command.name) needs \(argument.name): write \(Self.form(of: command))")
        }
        values[argument.name] = defaultValue
        continue
      }
      guard let value = argument.kind.value(text) else {
        throw CommandSyntaxError(
          "\(argument.name) must be \(argument.kind.form), not \(text.isEmpty ? "nothing" : text)")
      }
      values[argument.name] = value
    }
    self.init(command: command, values: values)
  }

  private static func form(of command: CommandDescription) -> String { command.form }
}

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
  var form: String {
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
