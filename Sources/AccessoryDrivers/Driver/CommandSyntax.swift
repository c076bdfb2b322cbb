// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

extension CommandCall {
  /// Parses commands: each is a name with arguments as `name=value`, and `+` separates commands.
  ///
  /// Throws `misconfigured` for the first mistake: what is wrong, and what was expected.
  public static func read(
    _ words: some Sequence<String>, of commands: [CommandDescription]
  ) throws(AccessoryError) -> [CommandCall] {
    let parts = words.split(separator: "+", omittingEmptySubsequences: false)
    var calls: [CommandCall] = []
    for part in parts { calls.append(try read(part, of: commands)) }
    return calls
  }

  private static func read(
    _ words: ArraySlice<String>, of commands: [CommandDescription]
  ) throws(AccessoryError) -> CommandCall {
    guard let name = words.first else { throw mistake("a command was expected: --list shows all") }
    let command = try find(name, commands)
    var arguments: [String: String] = [:]
    for word in words.dropFirst() {
      guard let equals = word.firstIndex(of: "=") else {
        throw mistake("\(word) is not an argument: write \(command.form)")
      }
      let key = String(word[..<equals])
      guard arguments.updateValue(String(word[word.index(after: equals)...]), forKey: key) == nil else {
        throw mistake("\(key) is given twice")
      }
    }
    return try CommandCall(command, arguments)
  }

  /// A call of the command with this name. The arguments are texts, as they would be typed.
  ///
  /// Throws `misconfigured` for an unknown command, for an argument that it doesn't have or that isn't valid, and for one that is
  /// missing and has no default.
  public init(
    _ name: String, _ arguments: [String: String] = [:], of commands: [CommandDescription]
  ) throws(AccessoryError) {
    try self.init(Self.find(name, commands), arguments)
  }

  private static func find(
    _ name: String, _ commands: [CommandDescription]
  ) throws(AccessoryError) -> CommandDescription {
    if let command = commands.first(where: { $0.name == name }) { return command }
    let names = commands.map(\.name)
    throw mistake("\(name) is not a command: \(NearestWord.advice(name, among: names, otherwise: "--list shows all"))")
  }

  private static func mistake(_ text: String) -> AccessoryError { AccessoryError(.misconfigured, text) }

  private init(_ command: CommandDescription, _ arguments: [String: String]) throws(AccessoryError) {
    for key in arguments.keys.sorted() where !command.arguments.contains(where: { $0.name == key }) {
      let advice = NearestWord.advice(
        key, among: command.arguments.map(\.name), otherwise: "write \(command.form)")
      throw Self.mistake("\(command.name) has no argument \(key): \(advice)")
    }
    var values: [String: CommandValue] = [:]
    for argument in command.arguments {
      guard let text = arguments[argument.name] else {
        guard let defaultValue = argument.defaultValue else {
          throw Self.mistake("\(command.name) needs \(argument.name): write \(command.form)")
        }
        values[argument.name] = defaultValue
        continue
      }
      guard let value = argument.kind.value(text) else {
        throw Self.mistake(
          "\(argument.name) must be \(argument.kind.form), not \(text.isEmpty ? "nothing" : text)")
      }
      values[argument.name] = value
    }
    self.init(command: command, values: values)
  }
}
