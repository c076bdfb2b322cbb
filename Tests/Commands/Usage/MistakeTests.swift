// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import Glibc
import TestSupport
import Testing

/// What a command says to a mistyped name, and its exit status where something isn't there or isn't running.
@Suite(.timeLimit(.minutes(Patience.minutes(10)))) struct MistakeTests {
  /// Devices, requests, values and their arguments, in the same words whether a service has the accessory open or not.
  @Test func aMistypedNameIsAskedAboutWithAndWithoutAService() async throws {
    try await Sandbox.with { box in
      for name in ["A1", "A3"] { _ = try await box.simulate("--serial", name) }
      _ = try await box.simulate(kind: "ev3", "--serial", "BRICK7")
      let mistakes: [(words: [String], status: CInt, question: String)] = [
        (["battery", "A2"], EX_NOINPUT, "there is no accessory A2: did you mean A1 or A3? bridge-cli list"),
        (["status", "brick8"], EX_NOINPUT, "there is no accessory brick8: did you mean BRICK7? bridge-cli list"),
        (["values", "nobody"], EX_NOINPUT, "there is no accessory nobody: bridge-cli list shows all accessories"),
        (
          ["request", "BRICK7", "motr-start", "ports=A"], EX_USAGE,
          "motr-start is not a command: did you mean motor-start?"
        ),
        (["request", "BRICK7", "motor-start", "port=A"], EX_USAGE, "has no argument port: did you mean ports?"),
        (["values", "BRICK7", "volum"], EX_USAGE, "there is no value volum: did you mean volume?"),
        (["set", "BRICK7", "volme=5"], EX_USAGE, "volme can't be set: did you mean volume?"),
      ]
      var direct: [String] = []
      for mistake in mistakes {
        let ended = try await box.run(mistake.words)
        #expect(ended.status == mistake.status && ended.errorText.contains(mistake.question), "\(ended.errorText)")
        direct.append(ended.errorText)
      }
      let service = try await box.serve()
      for name in ["A1", "A3", "BRICK7"] { try await service.errors(containing: "\(name) is attached at") }
      for (mistake, text) in zip(mistakes, direct) {
        let ended = try await box.run(mistake.words)
        #expect(ended.status == mistake.status && ended.errorText == text, "\(ended.errorText)\(text)")
      }
      let history = try await box.run("history", "A1", "batery.percent")
      #expect(
        history.status == EX_USAGE && history.errorText.contains("did you mean battery.percent?"),
        "\(history.errorText)")
    }
  }

  /// With several accessories and no name, all batteries are shown; what fails has its line and its exit status.
  @Test func batteryWithoutANameShowsAll() async throws {
    try await Sandbox.with { box in
      let first = try await box.simulate("--percent", "57", "--serial", "A")
      let alone = try await box.run("battery")
      #expect(alone.status == 0 && !alone.outputText.contains("ACCESSORY"))
      #expect(try await box.run("battery", "--json").json()["document"] == "battery")
      _ = try await box.simulate(kind: "jbd", "--percent", "12", "--serial", "B")
      let all = try await box.run("battery")
      #expect(all.status == 0 && all.lines.count == 3 && all.errorText == "", "\(all.outputText)\(all.errorText)")
      #expect(all.lines[0].hasPrefix("ACCESSORY") && all.lines.contains { $0.hasPrefix("B ") && $0.contains("12 %") })
      let document = try await box.run("battery", "--json").json()
      #expect(document["document"] == "battery_list" && document["batteries"]?.elements.count == 2)
      // Following and settings of a line are for one.
      for words in [["battery", "--watch"], ["battery", "--driver", "framed"], ["status"]] {
        let ended = try await box.run(words)
        #expect(ended.status == EX_USAGE && ended.errorText.contains("there are 2 accessories, say which"), "\(words)")
      }
      // A program that has the port of one.
      let holder = try box.start("bridge", first.path, "--tcp", "0")
      try await holder.errors(containing: " is open")
      let busy = try await box.run("battery")
      #expect(busy.status == EX_UNAVAILABLE && busy.outputText.contains("PROBLEM") && busy.outputText.contains("12 %"))
      let failed = try await box.run("battery", "--json")
      #expect(failed.status == EX_UNAVAILABLE)
      #expect(try failed.json()["batteries"]?.elements.contains { $0["error"]?["exit_status"] == 69 } == true)
    }
  }

  /// What isn't running is unavailable (69); a file that doesn't exist is no input (66).
  @Test(
    arguments: [
      ("history A1", EX_UNAVAILABLE), ("battery A1 --history", EX_UNAVAILABLE), ("info --service", EX_UNAVAILABLE),
      ("info --service --socket ./none.socket", EX_UNAVAILABLE), ("attach --end A1", EX_UNAVAILABLE),
      ("export metrics --once", EX_UNAVAILABLE), ("export metrics --once --socket ./none.socket", EX_UNAVAILABLE),
      ("battery ble:11:22:33:44:55:66", EX_UNAVAILABLE), ("bluetooth pair ble:11:22:33:44:55:66", EX_UNAVAILABLE),
      ("bluetooth scan --ble", EX_UNAVAILABLE), ("bridge A1 --tcp PORT", EX_UNAVAILABLE),
      ("bridge A1 --rfc2217 PORT", EX_UNAVAILABLE), ("web --listen 127.0.0.1:PORT", EX_UNAVAILABLE),
      ("export metrics --listen 127.0.0.1:PORT", EX_UNAVAILABLE),
      ("export nut --listen 127.0.0.1:PORT", EX_UNAVAILABLE),
      ("simulate ev3 --tcp 127.0.0.1:PORT", EX_UNAVAILABLE), ("simulate loopback --rfc2217 PORT", EX_UNAVAILABLE),
      ("battery tcp:127.0.0.1:1 --driver framed", EX_UNAVAILABLE),
      ("check none.yaml", EX_NOINPUT), ("simulate ./none.yaml", EX_NOINPUT),
      ("simulate --profile ./none.yaml", EX_NOINPUT),
      ("battery A1 --driver ./none.yaml", EX_NOINPUT), ("serve --config none.yaml", EX_NOINPUT),
      ("bridge --config none.yaml", EX_NOINPUT), ("trace ./none.trace", EX_NOINPUT), ("replay none.trace", EX_NOINPUT),
      ("file send A1 none.bin --kind firmware", EX_NOINPUT), ("profile new --from none.trace", EX_NOINPUT),
      ("web --token-file none", EX_NOINPUT), ("profile show none", EX_NOINPUT), ("battery none", EX_NOINPUT),
      ("battery ./none", EX_NOINPUT), ("reset A1 --reset none.yaml", EX_NOINPUT),
      ("serve --devices none.yaml", EX_NOINPUT),
      ("notify --config none.yaml", EX_NOINPUT),
    ] as [(String, CInt)])
  func whatIsMissingHasItsExitStatus(words: String, status: CInt) async throws {
    try await Sandbox.with { box in
      _ = try await box.simulate("--serial", "A1")
      let taken = try await NetworkListener.listen(at: "127.0.0.1", port: 0) { _ in }
      let words = words.split(separator: " ").map { $0.replacing("PORT", with: "\(taken.address.port)") }
      let ended = try await box.run(words.map(String.init))
      #expect(ended.status == status, "\(words): \(ended.outputText)\(ended.errorText)")
      #expect(!(ended.errorText + ended.outputText).isEmpty)
    }
  }

  /// Kind, driver, protocol and profile mean on the page what they mean in the help.
  @Test func fourWordsHaveOneMeaning() async throws {
    let page = try Page("Documentation/commands.md").lines.filter { $0.hasPrefix("- **") }.map {
      $0.replacing("*", with: "")
    }
    try await Sandbox.with { box in
      let help = try await box.run("help", "words").outputText.split { $0 == " " || $0 == "\n" }.joined(separator: " ")
      for word in ["kind", "driver", "protocol", "profile"] {
        let line = try #require(page.first { $0.hasPrefix("- \(word): ") })
        #expect(help.contains(line.dropFirst(2)), "\(help)")
      }
    }
  }

  /// The page on JSON has the table of the code, and so has the help.
  @Test func exitStatusesAreOneTable() async throws {
    let page = try Page("Documentation/json.md").lines.joined(separator: "\n")
    let rows = page.matches(of: #/\| (\d+) \| ([^|]+) \|/#).map { ("\($0.output.1)", "\($0.output.2)") }
    try await Sandbox.with { box in
      for program in ["bridge-cli"] {
        let help = try await box.run("--help").lines
        let shown = help.drop { $0 != "EXIT STATUS" }.dropFirst().prefix { !$0.isEmpty }
        #expect(shown.map { $0.trimmed } == rows.map { $0.0.padded(to: 4) + $0.1 }, "\(program)")
      }
    }
  }
}

extension String {
  fileprivate func padded(to count: Int) -> String { self + String(repeating: " ", count: max(0, count - self.count)) }
}
