// SPDX-License-Identifier: Apache-2.0

import AccessoryControl

/// A command's declaration, parsed from ArgumentParser's `--experimental-dump-help`.
struct CommandDeclaration {
  /// An argument, an option or a flag.
  struct Argument {
    let isPositional, isFlag, isOptional, isRepeating: Bool
    /// The names as they are typed, with dashes: "-b", "--baud".
    let names: [String]
    let valueName, abstract: String
    /// The allowed values; empty where any value is allowed.
    let values: [String]
    let defaultValue: String?
    /// The heading of the argument's group; nil for a command's own arguments.
    let section: String?
  }

  /// The command's words, from the program's name on.
  let path: [String]
  let abstract, discussion: String
  let arguments: [Argument]
  private(set) var commands: [CommandDeclaration]

  /// Parses the program with its commands and help topics; nil if a document has an unexpected form.
  init?(_ document: JSON, topics: [JSON] = []) {
    guard let root = document.fields?["command"] else { return nil }
    self.init(root, below: [])
    for topic in topics {
      guard let one = topic.fields?["command"].flatMap({ CommandDeclaration($0, below: path) }) else { return nil }
      commands.append(one)
    }
  }

  private init?(_ json: JSON, below parents: [String]) {
    guard let fields = json.fields, let name = fields["commandName"]?.text else { return nil }
    path = parents + [name]
    abstract = fields["abstract"]?.text ?? ""
    discussion = fields["discussion"]?.text ?? ""
    arguments = Self.visible(fields["arguments"]).compactMap(Argument.init)
    // `help` is ArgumentParser's own command and needs no page.
    commands = Self.visible(fields["subcommands"]).compactMap { [path] in CommandDeclaration($0, below: path) }
      .filter { $0.path.last != "help" }
  }

  private static func visible(_ json: JSON?) -> [JSON] {
    guard case .array(let elements) = json else { return [] }
    return elements.filter { $0.fields?["shouldDisplay"] != .bool(false) }
  }
}

extension CommandDeclaration.Argument {
  fileprivate init?(_ json: JSON) {
    guard let fields = json.fields, let kind = fields["kind"]?.text else { return nil }
    func texts(_ name: String) -> [JSON] { if case .array(let all) = fields[name] { all } else { [] } }
    (isPositional, isFlag) = (kind == "positional", kind == "flag")
    isOptional = fields["isOptional"] == .bool(true)
    isRepeating = fields["isRepeating"] == .bool(true)
    names = texts("names").compactMap { name in
      name.fields?["name"]?.text.map { (name.fields?["kind"]?.text == "long" ? "--" : "-") + $0 }
    }
    valueName = fields["valueName"]?.text ?? "value"
    abstract = fields["abstract"]?.text ?? ""
    values = texts("allValues").compactMap(\.text)
    defaultValue = fields["defaultValue"]?.text
    section = fields["sectionTitle"]?.text
  }
}
