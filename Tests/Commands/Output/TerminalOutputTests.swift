// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// Colour and bars are for people who look at a terminal that can show them.
@Suite(.timeLimit(.minutes(Patience.minutes(10)))) struct TerminalOutputTests {
  @Test(
    arguments: [
      ([:], true), (["NO_COLOR": "1"], false), (["NO_COLOR": ""], true), (["TERM": "dumb"], false),
    ] as [([String: String], Bool)])
  func colourFollowsTheEnvironment(environment: [String: String], isColoured: Bool) async throws {
    try await Sandbox.with { box in
      _ = try await box.simulate("--percent", "57")
      for command in ["battery", "list", "status"] {
        let ended = try await box.run([command], environment: environment, output: .terminal)
        #expect(ended.status == 0)
        #expect(ended.output.contains(0x1B) == isColoured, "\(command)")
      }
      let battery = try await box.run(["battery"], environment: environment, output: .terminal)
      #expect(battery.outputText.contains("███████████░░░░░░░░░"))
    }
  }

  @Test func aPipeGetsNeitherColoursNorBars() async throws {
    try await Sandbox.with { box in
      _ = try await box.simulate("--percent", "57")
      for command in ["battery", "list", "status", "info"] {
        let ended = try await box.run([command], environment: ["TERM": "xterm-256color"])
        #expect(!ended.output.contains(0x1B), "\(command)")
        #expect(!ended.outputText.contains("█"), "\(command)")
      }
    }
  }

  @Test func documentsAreTheSameOnATerminal() async throws {
    try await Sandbox.with { box in
      _ = try await box.simulate()
      let piped = try await box.run("battery", "--json").outputText
      let shown = try await box.run(["battery", "--json"], output: .terminal).outputText
      let documents = try [piped, shown.trimmed.replacing("\r\n", with: "\n")].map { try JSON($0).without("time") }
      #expect(documents[0] == documents[1] && shown.split(separator: "\n").count == 1)
    }
  }
}
