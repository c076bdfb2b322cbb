// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// What a console does to a line beside its bytes, and the pauses and ends of lines from a pipe.
@Suite(.timeLimit(.minutes(Patience.minutes(10)))) struct ConsoleLineTests {
  private static let (exit, prefix) = ("\u{1D}", "\u{14}")

  private func withConsole(
    _ arguments: String..., body: (TerminalProgram, TestTerminal) async throws -> Void
  ) async throws {
    try await Sandbox.with { box in
      let accessory = try openPseudoTerminal(raw: true)
      let console = try box.sit(["console", accessory.path] + arguments)
      try await console.wait(for: "Ctrl-T ? lists its keys")
      try await body(console, accessory)
      console.type(Self.exit)
      #expect(try await console.end() == 0)
    }
  }

  /// In whatever way keys are taken, the rate is typed as a line, and nothing of it is sent.
  @Test(arguments: ["line", "raw", "hex"]) func theBaudRateIsTypedAsALine(input: String) async throws {
    try await withConsole("--input", input, "--baud", "19200") { console, accessory in
      console.type("\(Self.prefix)L")
      try await console.wait(for: "--- 19200 baud, 8 data bits, no parity, 1 stop bit; no modem lines")
      console.type("\(Self.prefix)n96")
      try await console.wait(for: "baud> 96")
      console.type("00\r")
      try await console.wait(for: "--- 9600 baud, 8 data bits, no parity, 1 stop bit")
      for wrong in ["fast", "0", "99999999999"] {
        console.type("\(Self.prefix)n\(wrong)\r")
        try await console.wait(for: "\(wrong) is not a baud rate, like 9600 or 115200")
      }
      var seen = console.state.value.output.count
      console.type("\(Self.prefix)n\r")
      seen = try await console.wait(for: "the baud rate was not changed", from: seen)
      console.type("\(Self.prefix)n\u{3}")
      seen = try await console.wait(for: "the baud rate was not changed", from: seen)
      console.type("\(Self.prefix)L")
      try await console.wait(for: "--- 9600 baud", from: seen)
      console.type(input == "raw" ? "0" : "30\r")
      let sent = try await accessory.read(1)
      #expect(input == "line" ? sent == Array("3".utf8) : sent == Array("0".utf8))
    }
  }

  @Test func keysSendABreakAndSetModemLines() async throws {
    try await withConsole { console, accessory in
      console.type("\(Self.prefix)b")
      try await console.wait(for: "--- a break of 250 ms was sent")
      // A pseudo-terminal has no such lines; each is tried, and the console goes on.
      for key in ["D", "R"] {
        let seen = console.state.value.output.count
        console.type("\(Self.prefix)\(key)")
        try await console.wait(for: "--- ", from: seen)
      }
      try await accessory.write(Array("old\r\n".utf8))
      try await console.wait(for: "old")
      console.type("ab")
      try await console.wait(for: "> ab")
      let seen = console.state.value.output.count
      console.type("\(Self.prefix)l")
      try await console.wait(for: "\u{1B}[2J\u{1B}[H> ab", from: seen)
      console.type("\r")
      let line = try await accessory.read(3)
      #expect(line == Array("ab\n".utf8))
    }
  }

  /// Where nothing may be sent, the line isn't touched either; it may be looked at.
  @Test func withoutPermissionTheLineIsNotTouched() async throws {
    try await withConsole("--driver", "jbd") { console, accessory in
      for key in ["b", "D", "R", "n300\r"] {
        let seen = console.state.value.output.count
        console.type("\(Self.prefix)\(key)")
        try await console.wait(for: "so nothing was sent", from: seen)
      }
      console.type("\(Self.prefix)L")
      try await console.wait(for: "--- 9600 baud, 8 data bits, no parity, 1 stop bit; no modem lines")
      #expect(accessory.received() == [])
    }
  }

  /// Who changed the rate finds it as it was left.
  @Test func theBaudRateStaysOverAnUnplug() async throws {
    try await Sandbox.with { box in
      let accessory = try await box.simulate()
      let console = try box.sit("console", "SIM0001", "--input", "hex")
      try await console.wait(for: "Ctrl-T ? lists its keys")
      console.type("\(Self.prefix)n4800\r")
      let start = try await console.wait(for: "--- 4800 baud")
      try await accessory.stop()
      let gone = try await console.wait(for: "SIM0001 is gone: waiting for it to come back", from: start)
      // There is no line meanwhile.
      console.type("\(Self.prefix)b\(Self.prefix)n")
      try await console.wait(for: "not connected: nothing was changed", from: gone)
      let again = try await box.simulate()
      let back = try await console.wait(for: "SIM0001 is connected at \(again.path)", from: gone)
      console.type("\(Self.prefix)L")
      try await console.wait(for: "--- 4800 baud", from: back)
      console.type(Self.exit)
      #expect(try await console.end() == 0)
      try await again.stop()
    }
  }

  // MARK: - From a pipe

  private static func typing(_ text: String) -> [String] {
    ["/bin/sh", "-c", "printf '\(text)' | \"$0\" \"$@\""]
  }

  /// A reply that ends no line has one of its own all the same.
  @Test func eachReplyHasItsLine() async throws {
    try await Sandbox.with { box in
      let accessory = try openPseudoTerminal(raw: true)
      let console = try box.start(
        ["console", accessory.path, "--line-delay", "2s", "--linger", "2s"], prefix: Self.typing(#"one\ntwo\nlast"#))
      for (line, reply) in [("one\n", "OK"), ("two\n", "20 C\r\n"), ("last\n", "done")] {
        let sent = try await accessory.read(line.utf8.count)
        #expect(sent == Array(line.utf8))
        try await accessory.write(Array(reply.utf8))
      }
      let ended = try await console.end()
      #expect(ended.status == 0, "\(ended.errorText)")
      #expect(ended.outputText == "OK\n20 C\ndone\n")
    }
  }

  @Test func linesAreSentWithPausesBetween() async throws {
    try await Sandbox.with { box in
      let accessory = try openPseudoTerminal(raw: true)
      let console = try await box.run(
        ["console", accessory.path, "--line-delay", "300ms", "--linger", "50ms", "--json"],
        prefix: Self.typing(#"1\n2\n3"#))
      #expect(console.status == 0, "\(console.errorText)")
      let sent = try console.lines.map { try JSON($0) }.filter { $0["event"] == "sent" }
      #expect(sent.map { $0["text"]?.text } == ["1\n", "2\n", "3\n"])
      let times = sent.compactMap { $0["time"]?.double }
      for (time, next) in zip(times, times.dropFirst()) { #expect(next - time > 0.28) }
      #expect(accessory.received() == Array("1\n2\n3\n".utf8))
      let wrong = try await box.run("console", accessory.path, "--raw", "--line-delay", "1s")
      #expect(wrong.status == 64 && wrong.errorText.contains("--line-delay is for lines"))
    }
  }
}
