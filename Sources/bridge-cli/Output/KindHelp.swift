// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryProtocols
import AccessorySimulator
import CommandOutput
import Console
import Glibc

/// The help of `simulate KIND` for a described kind: what can be set in such an accessory, and which messages and requests faults can name.
enum KindHelp {
  /// The name of the kind whose help the command line asks for; nil when it asks for none.
  static func wanted(_ words: [String] = SimulatedKinds.named(OldSpellings.words)) -> String? {
    let words = words.first == "help" ? Array(words.dropFirst()) + ["--help"] : words
    guard words.first == "simulate", words.contains(where: { ["--help", "-h"].contains($0) }) else { return nil }
    let named = words.dropFirst().first { $0 != "described" } ?? ""
    // Kinds with a command of their own have its help.
    if !named.hasPrefix("-") {
      return !SimulatedKinds.commands.contains(named) && SimulatedKinds.isDescribed(named) ? named : nil
    }
    let option = "--profile"
    for (index, word) in words.enumerated() {
      if word == option, index + 1 < words.count, !words[index + 1].hasPrefix("-") { return words[index + 1] }
      if word.hasPrefix(option + "="), word.count > option.count + 1 { return String(word.dropFirst(option.count + 1)) }
    }
    return nil
  }

  /// The help for a kind, for the screen. Throws as `simulate KIND` does.
  static func text(_ kind: String) async throws -> String {
    let description = try await SimulateDescribed.described(kind).0.description
    let columns = TerminalSize.columns(of: STDOUT_FILENO) ?? 80
    let command = "\(BridgeCLI.name) simulate \(SafeText.escape(kind, limit: 200))"
    var lines = ["OVERVIEW: Simulates \(description.name): \(SafeText.escape(description.summary, limit: 200))."]
    lines += ["", "USAGE: \(command) [<options>]"]
    let device = try DescribedDevice(description, serialNumber: "")
    lines += section("FIELDS (--set FIELD=VALUE), with their values unless they are set:", fields(device))
    lines += section(
      "MESSAGES (--push, --surplus):", [(description.messages.map(\.name).joined(separator: ", "), "")])
    lines += section(
      "REQUESTS (--refuse, --unanswered):", [(description.requests.map(\.name).joined(separator: ", "), "")])
    let faults = [
      ("--percent, --drain", "the battery's charge, and how fast it is lost"),
      ("--link PATH", "a link to its terminal"),
      ("--unplug-after, --replug-after", "the cable is pulled, and plugged in again"),
      ("--delay, --drop, --corrupt", "late, lost and damaged replies"),
      ("--sleep, --pieces, --echo", "what real ones do"),
    ]
    lines += section("OPTIONS, described by simulate described --help and help simulators:", faults)
    lines += ["", "EXAMPLES", "  \(command) --percent 57", "  \(command) --sleep 2 --pieces 2"]
    return HelpLayout.text(lines.joined(separator: "\n"), columns: columns)
  }

  private static func section(_ title: String, _ rows: [(String, String)]) -> [String] {
    let rows = rows.filter { !$0.0.isEmpty }
    guard !rows.isEmpty else { return [] }
    let width = min(32, rows.filter { !$0.1.isEmpty }.map { TextWidth.of($0.0) }.max() ?? 0)
    return ["", title]
      + rows.map { name, text in
        let gap = String(repeating: " ", count: max(2, width + 2 - TextWidth.of(name)))
        return "  " + name + (text.isEmpty ? "" : gap + text)
      }
  }

  /// The fields that a user can set, in the description's order, each with its value and unit.
  private static func fields(_ device: DescribedDevice) -> [(String, String)] {
    var seen: Set<String> = []
    return device.description.messages.flatMap(\.fields).filter { seen.insert($0.name).inserted }.map { field in
      let unit = field.unit.map { " " + SafeText.escape($0, limit: 16) } ?? ""
      guard let value = device.values[field.name], value != .nothing else { return (field.name, "-" + unit) }
      return (field.name, ValueView.text(value) + unit)
    }
  }
}
