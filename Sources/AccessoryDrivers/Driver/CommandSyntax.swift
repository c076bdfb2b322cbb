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
