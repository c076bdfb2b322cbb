// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// Wrong usage ends with 64 and says what is expected; help and version end with 0.
@Suite(.timeLimit(.minutes(Patience.minutes(10)))) struct UsageTests {
  /// Swift would replace what can't be read, and answer on another socket, or open another file, than was named.
  @Test func namesThatAreNotUTF8AreRefused() async throws {
    try await Sandbox.with { box in
      func run(_ script: String) async throws -> Program.Transcript {
        try await box.run(["--version"], prefix: ["/bin/sh", "-c", script])
      }
      let name = #"$(printf 'a\377b')"#
      for words in ["serve --socket", "battery", "trace --record", "attach --socket"] {
        let ended = try await run("exec timeout 20 \"$0\" \(words) \"\(name)\"")
        #expect(ended.status == EX_USAGE, "\(words): \(ended.errorText)")
        #expect(ended.errorText.contains("is not UTF-8"), "\(words)")
      }
      let variable = try await run("ACCESSORY_BRIDGE_SOCKET=\"\(name)\" exec timeout 20 \"$0\" serve")
      #expect(variable.status == EX_CONFIG && variable.errorText.contains("the variable ACCESSORY_BRIDGE_SOCKET"))
      #expect(box.directory.names() == [])
    }
  }

  @Test(
    arguments: [
      (["frobnicate"], "there is no command bridge-cli frobnicate"),
      (["batery"], "did you mean bridge-cli battery?"),
      (["help", "batery"], "did you mean bridge-cli battery?"),
      (["help", "battery", "now"], "bridge-cli battery --help"),
      (["profile", "shw"], "did you mean bridge-cli profile show?"),
      (["help", "lin"], "did you mean bridge-cli help line?"),
      (["A1", "battery"], "the command comes first: bridge-cli battery A1"),
      (["--fresh", "battery", "A1"], "the command comes first: bridge-cli battery --fresh A1"),
      (["request", "statsu"], "did you mean bridge-cli request status?"),
      (["hist"], "did you mean bridge-cli list or bridge-cli history?"),
      (["simulate", "jdb"], "there is no kind jdb: did you mean jbd?"),
      (["simulate", "framd"], "there is no kind framd: did you mean framed?"),
      (["simulate", "--profile", "jdb"], "there is no kind jdb: did you mean jbd?"),
      (["simulate", "--percent", "5", "jdb"], "there is no kind jdb: did you mean jbd?"),
      (["simulate", "--percent", "5", "framed"], "write the kind before its options: bridge-cli simulate framed"),
      (["simulate", "jbd", "--profile", "jbd"], "name the kind once"),
      (["battery", "--watch", "--alarm", "batery < 20 %"], "did you mean battery?"),
      (["battery", "--watch", "--alarm", "cell spreed > 20 mV"], "did you mean cell spread?"),
      (["battery", "--driver", "jdb"], "there is no driver jdb: did you mean jbd?"),
      (["battery", "--driver", "nothing-like-it"], "bridge-cli profile identify PORT"),
      (["profile", "identify", "/dev/null", "--only", "jdb"], "there is no kind jdb: did you mean jbd?"),
      (["battery", "/etc/passwd"], "/etc/passwd is not a device: it is a file"),
      (["battery", "/"], "/ is not a device: it is a folder"),
      (["battery", "a", "b"], "Unexpected argument 'b'"),
      (["battery", "--baud", "0"], "9600"),
      (["battery", "--baud", "fast"], "Bits per second"),
      (["battery", "--data-bits", "9"], "5, 6, 7 or 8"),
      (["battery", "-b", "fast"], "Bits per second"),
      (["battery", "-d9"], "5, 6, 7 or 8"),
      (["battery", "-p", "x"], "'none', 'odd', 'even'"),
      (["battery", "-f", "rts"], "'none', 'hardware' or 'software'"),
      (["doctor", "-b", "9600"], "Unknown option '-b'"),
      (["battery", "--settle", "5"], "200ms"),
      (["request"], "identify, status, battery, echo"),
      (["request", "./acc"], "expected a command after ./acc"),
      (["request", "./acc", "0x100"], "from 0x00 to 0xFF"),
      (["request", "echo", "zz"], "two digits a byte"),
      (["request", "echo", "abc"], "two digits a byte"),
      (["request", "./acc", "echo", "00", "11"], "expected one payload"),
      (["request", "set-power", "power=5", "--driver", "hm10"], "hm10: power must be one of -23, -6, 0, 6, not 5"),
      (["request", "X", "st-power", "power=6", "--driver", "bluno"], "did you mean set-power?"),
      (["simulate", "framed", "--percent", "101"], "0 to 100"),
      (["simulate", "framed", "--percent", "much"], "0 to 100"),
      (["simulate", "framed", "--voltage", "70000"], "65535"),
      (["simulate", "framed", "--level", "medium"], "'low', 'normal', 'high' or 'unknown'"),
      (["simulate", "framed", "--charge", "maybe"], "'discharging'"),
      (["simulate", "framed", "--drop", "2"], "from 0 to 1"),
      (["simulate", "framed", "--corrupt", "-1"], "--corrupt"),
      (["simulate", "framed", "--delay", "5"], "200ms"),
      (["simulate", "framed", "--delay", "-5ms"], "--delay"),
      (["simulate", "framed", "--unplug-after", "soon"], "number of requests"),
      (["simulate", "framed", "--reboot-after", "0"], "number of requests"),
      (["simulate", "framed", "--replug-after", "2"], "200ms"),
      (["simulate", "framed", "--battery-payload", "2"], "two digits a byte"),
      (["simulate", "framed", "--name", String(repeating: "x", count: 257)], "256 bytes"),
      (["simulate", "framed", "--link", ""], "./acc"),
      (["simulate", "toaster"], "toaster"),
    ] as [([String], String)])
  func aWrongArgumentIsAUsageError(arguments: [String], expectation: String) async throws {
    try await Sandbox.with { box in
      let ended = try await box.run(arguments)
      #expect(ended.status == EX_USAGE)
      #expect(ended.outputText == "")
      #expect(ended.errorText.contains(expectation))
      #expect(box.announcements == [])
    }
  }

  /// Programs that asked for JSON get it for this too.
  @Test(arguments: [
    ["battery", "--json", "--baud", "fast"], ["request", "--json"], ["list", "--json", "--wrong"],
    ["simulate", "framed", "--json", "--drop", "2"],
  ])
  func aWrongArgumentIsADocumentWithJSON(arguments: [String]) async throws {
    try await Sandbox.with { box in
      let ended = try await box.run(arguments)
      #expect(ended.status == EX_USAGE)
      #expect(ended.errorText == "")
      let error = try ended.json()["error"]
      #expect(
        error?.without("message")
          == ["kind": "usage", "errno": nil, "libusb": nil, "refusal": nil, "exit_status": 64])
      #expect(error?["message"]?.text?.isEmpty == false)
    }
  }

  /// Whatever commands there are, each tells how it is used and gives an example to copy.
  @Test func everyCommandHasHelpWithExamples() async throws {
    try await Sandbox.with { box in
      let pending = Watched<[[String]]>([[]])
      var seen: [[String]] = []
      while let command = pending.update({ $0.popLast() }) {
        seen.append(command)
        let help = try await box.run(command + ["--help"])
        #expect(help.status == 0)
        #expect(help.errorText == "")
        #expect(help.outputText.contains("EXAMPLES"), "help of \(command)")
        let name = (["bridge-cli"] + command).joined(separator: " ")
        #expect(help.lines.contains { $0.trimmed.hasPrefix(name) }, "an example of \(command)")
        let subcommands = Self.subcommands(in: help.lines).map { command + [$0] }
        pending.update { $0 += subcommands }
      }
      for command in ["list", "watch", "info", "status", "battery", "request", "simulate", "demo"] {
        #expect(seen.contains([command]))
      }
      #expect(seen.contains(["simulate", "framed"]))
    }
  }

  private static func subcommands(in help: Lines) -> [String] {
    help.drop { $0 != "SUBCOMMANDS:" }.dropFirst().prefix { !$0.isEmpty }
      .filter { $0.hasPrefix("  ") && !$0.hasPrefix("   ") }
      .compactMap { $0.split(separator: " ").first.map(String.init) }
  }

  /// The options of the line are shown once, by `help line`; a command that takes them says so in one line.
  @Test func optionsOfTheLineStandApart() async throws {
    try await Sandbox.with { box in
      func headings(_ words: String...) async throws -> [String] {
        try await box.run(words + ["--help"]).lines.filter { line in
          line.last == ":" && line.dropLast().allSatisfy { $0.isUppercase || $0 == " " }
        }
      }
      for words in ["battery", "console", "bridge", "doctor"] {
        #expect(try await headings(words) == ["ARGUMENTS:", "OPTIONS:"], "\(words)")
      }
      for words in [["list"], ["battery"], ["watch"], ["console"], ["serve"], ["profile", "list"], ["udev-rules"]] {
        let help = try await box.run(words + ["--help"]).outputText
        #expect(!help.contains("\n  --baud") && !help.contains("\n  --transport"), "\(words)")
        let isForLines = ["battery", "console"].contains(words[0])
        #expect(help.contains("--driver") == isForLines && help.contains("help line") == isForLines, "\(words)")
      }
      let topic = try await box.run("help", "line")
      #expect(topic.status == 0 && topic.errorText == "")
      for option in ["--transport", "--endpoints", "--baud", "--parity", "--settle", "--driver"] {
        #expect(topic.outputText.contains("  \(option) ") || topic.outputText.contains(", \(option) "), "\(option)")
      }
      #expect(topic.outputText.contains("TRANSPORT OPTIONS:") && topic.outputText.contains("LINE OPTIONS:"))
      // Whoever wants all of a command's options gets them.
      #expect(try await box.run("battery", "--help-hidden").outputText.contains("--baud"))
    }
  }

  /// As in picocom: one letter, and its value behind it or beside it.
  @Test(arguments: [
    ["-b", "9600", "-d", "7", "-s", "2", "-f", "x"], ["-b9600", "-d7", "-s2", "-fx"],
    ["--baud", "9600", "--data-bits", "7", "--stop-bits", "2", "--flow", "software"],
  ])
  func optionsOfTheLineHaveLetters(options: [String]) async throws {
    try await Sandbox.with { box in
      // Nobody is at the other end, and nobody is asked.
      let accessory = try openPseudoTerminal(raw: true)
      let info = try await box.run(["info", accessory.path] + options)
      #expect(info.status == 0, "\(info.errorText)")
      // A pseudo-terminal always has eight data bits.
      #expect(info.outputText.contains("9600 baud, 8 data bits, no parity, 2 stop bits"), "\(info.outputText)")
      #expect(info.lines.contains { $0.hasPrefix("Flow control") && $0.hasSuffix("software") })
      // Its number stays its own until here.
      withExtendedLifetime(accessory) {}
    }
  }

  @Test func theVersionIsPrintedAsTextAndDocument() async throws {
    try await Sandbox.with { box in
      let version = try await box.run("--version")
      #expect(version.status == 0)
      #expect(version.lines.count == 1)
      #expect(version.outputText.split(separator: ".").count == 3)
      let json = try await box.run("--version", "--json")
      #expect(json.status == 0 && json.errorText == "")
      #expect(try json.json()["version"] == .string(version.lines[0]))
    }
  }

  /// Help and version are quick to get: nothing is looked for, nothing is made.
  @Test func helpMakesNoFiles() async throws {
    try await Sandbox.with { box in
      _ = try await box.run("--help")
      _ = try await box.run("battery", "--help")
      #expect(box.runtime.names() == [])
    }
  }
}
