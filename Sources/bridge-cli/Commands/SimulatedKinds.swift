// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import CommandOutput

/// The kinds of accessories that can be simulated, for `simulate --list`.
enum SimulatedKinds {
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
    var table = Table(["SIMULATE", "WHAT"], endsInText: true)
    for kind in commands + described {
      table.add([
        SafeText.escape(kind.arguments.joined(separator: " "), limit: 200),
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
