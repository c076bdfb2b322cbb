// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandOutput
import TestSupport
import Testing

@testable import FleetCommands
@testable import bridge_cli

/// Whatever help and pages show is a command line that the programs understand: their own parser reads it here, with all checks that
/// precede the first look at a device.
@Suite("Examples are understood", .timeLimit(.minutes(Patience.minutes(5)))) struct ExampleTests {
  private static let programs: Set = ["bridge-cli", "bridge-fleet"]

  /// What a program says against its words; nil where it understands them.
  private static func problem(_ command: [String]) -> String? {
    // An ellipsis stands for what a reader fills in.
    let words = command.dropFirst().filter { $0 != "…" && $0 != "..." }
    let isOfFleet = command[0] == "bridge-fleet"
    if !isOfFleet, HelpTopic.wanted(words) != nil { return nil }
    do {
      if isOfFleet {
        _ = try BridgeFleet.parseAsRoot(words)
      } else {
        _ = try BridgeCLI.parseAsRoot(HistoryOptions.completed(SimulatedKinds.named(words)))
      }
      return nil
    } catch {
      // Help and the version are no failures.
      let code = isOfFleet ? BridgeFleet.exitCode(for: error) : BridgeCLI.exitCode(for: error)
      return code == .success ? nil : isOfFleet ? BridgeFleet.message(for: error) : BridgeCLI.message(for: error)
    }
  }

  /// `isText`: it stands in a sentence, where a command may be named without its arguments, and words in capitals stand for values.
  private static func expectUnderstood(_ text: some StringProtocol, in place: String, isText: Bool = false) -> Int {
    let commands = ShellWords.commands(text, of: programs)
    for command in commands {
      if let problem = problem(command), !isText || isOfWords(problem) {
        Issue.record("\(place): \(command.joined(separator: " ")): \(problem)")
      }
    }
    return commands.count
  }

  /// Whether a problem is that there is no such command, option or value; else, that something is missing or stands for something.
  private static func isOfWords(_ problem: String) -> Bool {
    if let value = problem.firstMatch(of: #/The value '([^']+)' is invalid/#) {
      return value.output.1.contains(where: \.isLowercase)
    }
    return ["Unknown option", "nexpected", "there is no", "can't be used"].contains { problem.contains($0) }
  }

  /// The lines below EXAMPLES in a command's help; what an example is for stands behind it.
  private static func examples(_ discussion: String) -> [String] {
    let lines = discussion.split(separator: "\n", omittingEmptySubsequences: false)
    return lines.drop { $0 != "EXAMPLES" }.dropFirst().prefix { !$0.isEmpty }.map { line in
      let text = line.drop { $0 == " " }
      return String(text.firstRange(of: "   ").map { text[..<$0.lowerBound] } ?? text)
    }
  }

  @Test func everyExampleOfHelpIsUnderstood() throws {
    var count = 0
    var without: [String] = []
    func look(_ command: JSON, _ path: String) {
      let name = path + " " + (command["commandName"]?.text ?? "")
      let examples = Self.examples(command["discussion"]?.text ?? "")
      if examples.isEmpty { without.append(name) }
      for example in examples { count += Self.expectUnderstood(example, in: "the help of" + name) }
      for next in command["subcommands"]?.elements ?? [] { look(next, name) }
    }
    let declarations = [BridgeCLI._dumpHelp(), BridgeFleet._dumpHelp()] + HelpTopic.allCases.map(\.declaration)
    for declaration in declarations { if let command = try JSON(declaration)["command"] { look(command, "") } }
    #expect(count > 200, "\(count) examples")
    print("commands without an example: \(without)")
  }

  private static let pages = ((try? Page.all(in: "Documentation", ".md").map(\.name)) ?? []) + ["README.md"]

  /// All that is shown between fences, and what stands in a line of text as a command.
  @Test(arguments: pages) func everyCommandOfAPageIsUnderstood(_ name: String) throws {
    let page = try Page(name)
    for block in page.blocks where block.kind == "sh" || block.kind == "console" {
      // Where some lines are typed, the others are printed.
      let isTyped = block.lines.contains { $0.hasPrefix("$ ") || $0.hasPrefix("# ") }
      var lines: [Substring] = []
      for line in block.lines {
        let goesOn = lines.last.map { $0.hasSuffix("\\") || $0.hasSuffix("|") } ?? false
        if isTyped, !goesOn, !line.hasPrefix("$ "), !line.hasPrefix("# ") { continue }
        lines.append(isTyped && !goesOn ? line.dropFirst(2) : line)
      }
      _ = Self.expectUnderstood(lines.joined(separator: "\n").replacing("|\n", with: "| "), in: name)
    }
    var isBlock = false
    for line in page.lines {
      if line.drop(while: { $0 == " " }).hasPrefix("```") { isBlock.toggle() }
      guard !isBlock else { continue }
      for match in line.matches(of: #/`((?:sudo )?bridge-(?:cli|fleet) [^`]+)`/#) {
        _ = Self.expectUnderstood(match.output.1.replacing("\\|", with: "|"), in: name, isText: true)
      }
    }
  }

  /// These would not be found if the check were none.
  @Test(arguments: [
    "bridge-cli battery --wach", "sudo bridge-cli simulate framed --usb --tty --flat", "bridge-cli batery | jq .",
    "X=1 bridge-fleet list --broker", "bridge-cli setup --show web,moon",
    "bridge-cli check a.yaml && bridge-cli trace --poll 5",
  ])
  func aWrongExampleIsFound(_ line: String) throws {
    let commands = ShellWords.commands(line, of: Self.programs)
    #expect(commands.contains { Self.problem($0) != nil }, "\(commands)")
  }

  @Test func wordsAreReadAsAShellReadsThem() {
    func words(_ line: String) -> [[String]] { ShellWords.commands(line, of: ["a", "b"]) }
    #expect(words("a 'b c' \"d \\\" e\" f\\ g # h") == [["a", "b c", "d \" e", "f g"]])
    #expect(words("sudo -n a x > file 2>/dev/null | b y && c a") == [["a", "x"], ["b", "y"]])
    #expect(words("X=1 /usr/bin/a x \\\n  y\nif ! b; then a & fi") == [["a", "x", "y"], ["b"], ["a"]])
    #expect(words("c $(a x) b") == [["a", "x"], ["b"]])
  }
}
