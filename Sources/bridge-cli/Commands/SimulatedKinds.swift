// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import CommandOutput

/// The kinds of accessories that can be simulated, for `simulate --list`.
enum SimulatedKinds {
  /// The kinds that have a command of their own.
  static var commands: [String] {
    Simulate.configuration.subcommands.filter { $0 != SimulateDescribed.self }.map { $0._commandName }
  }

  /// The words of a command line with `--profile KIND` as `KIND`, if the kind has a command of its own.
  static func named(_ words: [String]) -> [String] {
    var rest = words.dropFirst()
    guard words.first == "simulate", let option = rest.firstIndex(where: { $0.hasPrefix("--profile") }) else {
      return words
    }
    var kind = String(words[option].dropFirst("--profile=".count))
    rest.remove(at: option)
    if words[option] == "--profile", option < rest.endIndex { kind = rest.remove(at: option) }
    guard commands.contains(kind) else { return words }
    return ["simulate", kind] + (rest.first == "described" ? rest.dropFirst() : rest)
  }

  /// Whether the word names a described kind: a file, a protocol or a profile.
  static func isDescribed(_ word: String) -> Bool {
    KnownDrivers.isFile(word) || KnownDrivers.library.protocols.names.contains(word)
      || ProfileLibrary.load(protocols: KnownDrivers.library.protocols).store.profile(named: word) != nil
  }

  /// The error for a kind that can't be simulated.
  static func missing(_ word: String) -> UsageError {
    let known = commands + KnownDrivers.library.protocols.names
    let advice = NearestWord.advice(word, among: known, otherwise: "bridge-cli simulate --list shows all")
    return UsageError("there is no kind \(SafeText.escape(word, limit: 200)): \(advice)")
  }

  static func show(json: Bool) {
    let commands = Simulate.configuration.subcommands.filter { $0 != SimulateDescribed.self }.map {
      SimulatorListDocument.Kind(
        arguments: [$0.configuration.commandName ?? ""], description: about($0.configuration.abstract))
    }
    let library = KnownDrivers.library.protocols
    let described = library.names.map {
      SimulatorListDocument.Kind(
        arguments: ["--profile", $0], description: library.described($0)?.description.summary ?? "")
    }
    if json { return Output.json(SimulatorListDocument(kinds: commands + described)) }
    var table = Table(["KIND", "WHAT"], endsInText: true)
    for kind in commands + described {
      table.add([
        SafeText.escape(kind.arguments.last ?? "", limit: 200),
        SafeText.escape(kind.description.isEmpty ? "-" : kind.description, limit: 200),
      ])
    }
    table.lines(columns: Output.columns).forEach(Output.line)
  }

  /// A command's abstract without its verb and its options: "an accessory that speaks AF1".
  private static func about(_ abstract: String) -> String {
    let verb = abstract.hasPrefix("Simulates ") ? "Simulates " : ""
    let text = abstract.dropFirst(verb.count)
    let first = text.split(separator: ",", maxSplits: 1).first ?? ""
    return String(first.last == "." ? first.dropLast() : first)
  }
}

/// The kinds of accessories that can be simulated.
struct SimulatorListDocument: Encodable {
  struct Kind: Encodable {
    /// The words after `simulate`.
    let arguments: [String]
    let description: String
  }

  let document = DocumentKind.simulatorList
  let schema = DocumentSchema.name
  let kinds: [Kind]
}
