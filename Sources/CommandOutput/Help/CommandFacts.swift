// SPDX-License-Identifier: Apache-2.0

import AccessoryControl

/// What ArgumentParser tells of a command, as `--experimental-dump-help` prints it.
struct CommandFacts {
  /// An argument, an option or a flag.
  struct Argument {
    let isPositional, isFlag, isOptional, isRepeating: Bool
    /// With their dashes, as they are typed: "-b", "--baud".
    let names: [String]
    let valueName, abstract: String
    /// The only ones that are taken; empty where it may be any.
    let values: [String]
    let standard: String?
    /// The heading below which it stands; nil for a command's own.
    let section: String?
  }

  /// From the program's name to the command's.
  let path: [String]
  let abstract, discussion: String
  let arguments: [Argument]
  let commands: [CommandFacts]

  /// The program and all its commands; nil where this isn't such a document.
  init?(_ document: JSON) {
    guard let root = document.fields?["command"] else { return nil }
    self.init(root, below: [])
  }

  private init?(_ json: JSON, below parents: [String]) {
    guard let fields = json.fields, let name = fields["commandName"]?.text else { return nil }
    path = parents + [name]
    abstract = fields["abstract"]?.text ?? ""
    discussion = fields["discussion"]?.text ?? ""
    arguments = Self.visible(fields["arguments"]).compactMap(Argument.init)
    // `help` is ArgumentParser's own, and has nothing to tell.
    commands = Self.visible(fields["subcommands"]).compactMap { [path] in CommandFacts($0, below: path) }
      .filter { $0.path.last != "help" }
  }

  private static func visible(_ json: JSON?) -> [JSON] {
    guard case .array(let elements) = json else { return [] }
    return elements.filter { $0.fields?["shouldDisplay"] != .bool(false) }
  }
}

extension CommandFacts.Argument {
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
    standard = fields["defaultValue"]?.text
    section = fields["sectionTitle"]?.text
  }
}
