// SPDX-License-Identifier: Apache-2.0

import AccessoryControl

/// The manual's pages, made from the commands' declarations: one for the program, and one for each command.
package struct ManualPages {
  /// A manual page.
  package struct Page: Sendable, Hashable {
    /// The file's name: "bridge-cli-battery.1".
    package let file: String
    /// The page in mdoc(7).
    package let text: String
  }

  private let root: CommandDeclaration
  private let usages: [String: String]
  private let date: String

  /// Parses the output of `--experimental-dump-help`. `topics` are such outputs for help topics, which get pages like commands.
  /// `usages` are the usage texts that commands declare themselves, by command name ("bridge-cli request"). `date` has the form that
  /// mdoc(7) requires, for example "November 22, 2026". Nil if `document` has an unexpected form.
  package init?(_ document: JSON, topics: [JSON] = [], usages: [String: String], date: String) {
    guard let root = CommandDeclaration(document, topics: topics) else { return nil }
    (self.root, self.usages, self.date) = (root, usages, date)
  }

  /// All pages, the program's first.
  package var pages: [Page] { Self.all(root).map { Page(file: Self.name($0) + ".1", text: text($0)) } }

  private static func all(_ command: CommandDeclaration) -> [CommandDeclaration] {
    [command] + command.commands.flatMap(all)
  }

  private static func name(_ command: CommandDeclaration) -> String { command.path.joined(separator: "-") }

  // MARK: - A page

  private func text(_ command: CommandDeclaration) -> String {
    let isProgram = command.path.count == 1
    let (paragraphs, sections) = Self.parts(command.discussion)
    var lines = [".Dd \(date)", ".Dt \(Self.name(command).uppercased()) 1", ".Os", ".Sh NAME"]
    lines.append(".Nm \(Self.name(command))")
    lines.append(".Nd " + ManualText.lines(Self.lowered(command.abstract)).joined(separator: " "))
    lines += [".Sh SYNOPSIS"] + synopsis(command)
    lines += [".Sh DESCRIPTION"] + ManualText.lines(command.abstract)
    for paragraph in paragraphs { lines += [".Pp"] + paragraph }
    lines += Self.options(command)
    lines += Self.list("COMMANDS", command.commands.map { (Self.reference($0), ManualText.lines($0.abstract)) })
    for title in sections.keys.sorted() where !["ENVIRONMENT", "EXIT STATUS", "EXAMPLES"].contains(title) {
      lines += Self.section(title, sections)
    }
    // The order of sections that mdoc(7) prescribes.
    lines += Self.section("ENVIRONMENT", sections)
    if sections["EXIT STATUS"] != nil {
      lines += Self.section("EXIT STATUS", sections)
    } else if !isProgram {
      lines += [".Sh EXIT STATUS", "0 on success; the others are in", ".Xr \(root.path[0]) 1 ."]
    }
    lines += Self.section("EXAMPLES", sections)
    return (lines + seeAlso(command)).joined(separator: "\n") + "\n"
  }

  private func synopsis(_ command: CommandDeclaration) -> [String] {
    let name = command.path.joined(separator: " ")
    if let usage = usages[name] {
      let lines = usage.split(separator: "\n").map { $0.drop { $0 == " " } }
      return ManualText.literal(lines).map { $0 == ".Bd -literal -offset indent" ? ".Bd -literal" : $0 }
    }
    var lines = [".Nm \(ManualText.argument(name))"]
    if command.arguments.contains(where: { !$0.isPositional }) { lines.append(".Op Ar options") }
    for argument in command.arguments where argument.isPositional {
      let word = ManualText.argument(argument.valueName) + (argument.isRepeating ? " ..." : "")
      lines.append(argument.isOptional ? ".Op Ar \(word)" : ".Ar \(word)")
    }
    if !command.commands.isEmpty { lines.append(".Ar command") }
    return lines
  }

  private static func options(_ command: CommandDeclaration) -> [String] {
    let own = command.arguments.filter { $0.section == nil }
    var lines = list("ARGUMENTS", own.filter(\.isPositional).map(entry))
    lines += list("OPTIONS", own.filter { !$0.isPositional }.map(entry))
    var titles: [String] = []
    for case let title? in command.arguments.map(\.section) where !titles.contains(title) { titles.append(title) }
    for title in titles {
      lines += list(title.uppercased(), command.arguments.filter { $0.section == title }.map(entry))
    }
    return lines
  }

  private static func entry(_ argument: CommandDeclaration.Argument) -> (String, [String]) {
    let value = argument.isFlag ? "" : "Ar " + ManualText.argument(argument.valueName)
    // The macro `Fl` prints a dash itself.
    let names = argument.names.map { "Fl " + ManualText.argument($0.dropFirst()) }.joined(separator: " , ")
    var lines = ManualText.lines(argument.abstract)
    if !argument.values.isEmpty {
      lines += ManualText.lines("Values: \(argument.values.joined(separator: ", ")).")
    }
    if let defaultValue = argument.defaultValue { lines += ManualText.lines("Default: \(defaultValue).") }
    return (names.isEmpty ? value : names + (value.isEmpty ? "" : " " + value), lines)
  }

  private func seeAlso(_ command: CommandDeclaration) -> [String] {
    guard command.path.count > 1 else { return [] }
    let parents = (1..<command.path.count).map { command.path.prefix($0).joined(separator: "-") }
    let references = parents.map { ".Xr \($0) 1" }
    return [".Sh SEE ALSO"] + references.dropLast().map { $0 + " ," } + references.suffix(1)
  }

  private static func reference(_ command: CommandDeclaration) -> String { "Xr \(name(command)) 1" }

  // MARK: - Parts of a page

  private static func list(_ title: String, _ entries: [(head: String, lines: [String])]) -> [String] {
    guard !entries.isEmpty else { return [] }
    return [".Sh \(title)", ".Bl -tag -width Ds"] + entries.flatMap { [".It \($0.head)"] + $0.lines } + [".El"]
  }

  /// A section of a discussion. Two columns become a list, except in examples, which are printed literally.
  private static func section(_ title: String, _ sections: [String: [Substring]]) -> [String] {
    guard let lines = sections[title] else { return [] }
    let texts = lines.map { $0.drop { $0 == " " } }
    guard title != "EXAMPLES" else { return [".Sh \(title)"] + ManualText.literal(texts) }
    let entries = texts.map { text -> (String, [String]) in
      let label = text.prefix { $0 != " " }
      return ("Li " + ManualText.argument(label), ManualText.lines(text.dropFirst(label.count)))
    }
    return list(title, entries)
  }

  /// Splits a discussion into paragraphs, and sections by their headings, which are lines in capitals.
  private static func parts(_ discussion: String) -> (paragraphs: [[String]], sections: [String: [Substring]]) {
    var paragraphs: [[String]] = []
    var sections: [String: [Substring]] = [:]
    var blocks: [[Substring]] = [[]]
    for line in discussion.split(separator: "\n", omittingEmptySubsequences: false) {
      if line.allSatisfy({ $0 == " " }) { blocks.append([]) } else { blocks[blocks.count - 1].append(line) }
    }
    for block in blocks {
      guard let first = block.first else { continue }
      if first.allSatisfy({ $0.isUppercase || $0 == " " }) {
        sections[String(first), default: []] += block.dropFirst()
      } else if first.hasPrefix(" ") {
        paragraphs.append(ManualText.literal(block.map { $0.drop { $0 == " " } }))
      } else {
        paragraphs.append(ManualText.lines(block.joined(separator: " ")))
      }
    }
    return (paragraphs, sections)
  }

  /// The abstract for a table of contents: "shows an accessory's battery".
  private static func lowered(_ abstract: String) -> String {
    abstract.prefix(1).lowercased() + (abstract.last == "." ? abstract.dropFirst().dropLast() : abstract.dropFirst())
  }
}
