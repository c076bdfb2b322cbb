// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

/// Reads files of plain settings: keys with one value, or with a list of values.
package struct SettingsFile: ValueReader {
  /// A key that is allowed in a file.
  package struct Key: Sendable {
    /// The form of a key's value.
    package enum Form: Sendable {
      case text
      /// A text, or a list of texts.
      case texts
      /// True or false.
      case flag
    }

    /// The key's name.
    package let name: String
    /// The form of its value.
    package let form: Form
    /// Checks a text. Returns a description of the expected text for a problem's message, or nil if the text is valid.
    let problem: @Sendable (String) -> String?

    /// A key with this name and form. `problem` returns the expected text ("a port or a place") for an invalid text, and nil for a
    /// valid one.
    package init(_ name: String, _ form: Form, problem: @escaping @Sendable (String) -> String? = { _ in nil }) {
      (self.name, self.form, self.problem) = (name, form, problem)
    }
  }

  /// A key in a file, with its values.
  package struct Setting: Sendable, Hashable {
    /// The key's name.
    package let key: String
    /// The values. The value of a flag is "true" or "false".
    package let values: [String]
    /// The place of the value in the file. Lines and columns are counted from 1.
    package let line, column: Int
  }

  package let file: String
  package var problems: [ProfileProblem] = []
  package static var places: [KnownKeys.Place] { [] }

  /// The most values in a list.
  private static let listLimit = 64

  private init(file: String) { self.file = file }

  /// Reads the settings in a YAML text of up to 64 KiB. `file` is the file's name in the problems; `what` describes the file's content
  /// ("a share"). Throws up to 20 problems at a time.
  package static func read(
    _ bytes: [UInt8], file: String, what: String, keys: [Key]
  ) throws(ProfileProblems) -> [Setting] {
    var reader = SettingsFile(file: file)
    return try reader.read(yaml: bytes) { $0.settings($1, what, keys) }
  }

  /// Reads the settings in a file. Throws the same problems, and one if the file can't be read. Blocks, so call it on a `SetupQueue`.
  package static func read(path: String, what: String, keys: [Key]) throws(ProfileProblems) -> [Setting] {
    try read(try contents(of: path), file: path, what: what, keys: keys)
  }

  /// Reads the settings in a file as arguments of a command: each value as "--option=value", and a flag that is true as its option. A key
  /// without an option isn't among them. Throws like `read`.
  package static func arguments(
    path: String, what: String, options: [(key: Key, option: String)]
  ) throws(ProfileProblems) -> (arguments: [String], settings: [Setting]) {
    let settings = try read(path: path, what: what, keys: options.map(\.key))
    var arguments: [String] = []
    for (key, option) in options where !option.isEmpty {
      guard let setting = settings.first(where: { $0.key == key.name }) else { continue }
      switch key.form {
      case .flag: arguments += setting.values == ["true"] ? [option] : []
      case .text, .texts: arguments += setting.values.map { "\(option)=\($0)" }
      }
    }
    return (arguments, settings)
  }

  package static func contents(of path: String) throws(ProfileProblems) -> [UInt8] {
    do {
      return try SmallFile.read(path, limit: YAMLReader.sizeLimit + 1)
    } catch {
      let error = AccessoryError(errno: error, "it can't be read")
      throw ProfileProblems(problems: [ProfileProblem(file: path, unread: error)])
    }
  }

  private mutating func settings(_ node: YAMLNode, _ what: String, _ keys: [Key]) -> [Setting] {
    guard let fields = fields(node, what, keys.map(\.name)) else { return [] }
    return keys.compactMap { key in fields[key.name].map { setting(key, $0) } }
  }

  private mutating func setting(_ key: Key, _ node: YAMLNode) -> Setting {
    var values: [String] = []
    switch key.form {
    case .flag: values = flag(node, key.name).map { ["\($0)"] } ?? []
    case .text: values = [value(key, node)].compactMap { $0 }
    case .texts:
      for one in oneOrMore(node, key.name, limit: Self.listLimit) { values += [value(key, one)].compactMap { $0 } }
    }
    return Setting(key: key.name, values: values, line: node.mark.line, column: node.mark.column)
  }

  private mutating func value(_ key: Key, _ node: YAMLNode) -> String? {
    guard let text = text(node, "the value of \(key.name)", limit: 1_024) else { return nil }
    guard let expected = key.problem(text) else { return text }
    report(node.mark, "\(key.name) must be \(expected), not \(Quoted.text(text))")
    return nil
  }
}
