// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// Command lines that are so plain that ArgumentParser doesn't read them. A `--` at the end changes nothing but that it does.
@Suite(.timeLimit(.minutes(Patience.minutes(10)))) struct PlainFormTests {
  private static let commands = [
    ["list"], ["battery"], ["status"], ["values"], ["battery", "EV3"], ["status", "EV3"], ["values", "EV3"],
  ]

  @Test func aPlainFormDoesWhatTheParserWouldDo() async throws {
    try await Sandbox.with { box in
      let brick = try await box.simulate(kind: "ev3")
      for command in Self.commands {
        for words in [command, command + ["--json"]] {
          let plain = try await box.run(words)
          let parsed = try await box.run(words + ["--"])
          #expect(plain.status == 0 && parsed.status == 0, "\(words): \(plain.errorText) \(parsed.errorText)")
          #expect(withoutAges(plain.outputText) == withoutAges(parsed.outputText) && plain.outputText != "")
          #expect(plain.errorText == parsed.errorText)
        }
      }
      // The order doesn't matter.
      let last = try await box.run("battery", "EV3", "--json")
      #expect(withoutAges(try await box.run("battery", "--json", "EV3").outputText) == withoutAges(last.outputText))
      try await brick.stop()
    }
  }

  @Test(arguments: [
    (["battery", "./none"], EX_NOINPUT), (["status", "./none"], EX_NOINPUT), (["values", "./none"], EX_NOINPUT),
    (["battery"], EX_NOINPUT), (["list", "more"], EX_USAGE), (["battery", "one", "two"], EX_USAGE),
    (["battery", "--wrong"], EX_USAGE), (["battery", ""], EX_NOINPUT),
  ])
  func errorsAreTheSame(words: [String], status: CInt) async throws {
    try await Sandbox.with { box in
      for words in [words, words + ["--json"]] {
        let plain = try await box.run(words)
        let parsed = try await box.run(words + ["--"])
        #expect(plain.status == status && parsed.status == status, "\(plain.errorText)")
        #expect(plain.outputText == parsed.outputText && plain.errorText == parsed.errorText)
      }
    }
  }

  /// Ages are measured.
  private func withoutAges(_ text: String) -> String {
    text.replacing(#/("[a-z_]*age_ms"|"time"):[0-9.]+/#) { "\($0.1)" }
  }
}
