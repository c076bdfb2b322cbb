// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// A pretended module and the commands that speak with it, each a process of its own.
@Suite(.timeLimit(.minutes(Patience.minutes(10)))) struct HM10CommandTests {
  @Test func theCommonCommandsWorkWithAModule() async throws {
    try await Sandbox.with { box in
      let module = try await box.simulate(kind: "hm10", "--link", "./hm", "--percent", "57", "--battery-form", "new")
      let battery = try await box.run("battery", "--json").json()
      #expect(battery["battery"]?["percent"] == 57 && battery["device"]?["driver"] == "hm10")
      let status = try await box.run("status", "--json").json()
      #expect(status["identity"]?["firmware"] == "HMSoft V540" && status["status"]?["state"] == "idle")
      // Named by a path, the driver's profile has its line's speed.
      let info = try await box.run("info", module.path, "--driver", "hm10", "--json")
      #expect(try info.json()["line"]?["baud"] == 9_600, "\(info.errorText)")
      let request = try await box.run("request", "./hm", "role", "+", "power", "+", "at", "command=AT+ADDR?")
      #expect(request.lines == ["peripheral", "0 dBm", "OK+ADDR:0017EA090001"])
      #expect(try await box.run("request", "./hm", "set-role", "role=king").status == 64)
      #expect(try await box.run("request", "./hm", "at", "command=hello").status == 64)
      // Bluno has commands of the same names, with other values.
      for (words, part) in [
        (["./hm", "set-role", "role=ROLE_CENTRAL"], "role must be one of peripheral, central, not ROLE_CENTRAL"),
        (["set-power", "power=4"], "power must be one of -23, -6, 0, 6, not 4"),
        (["./hm", "st-power", "power=6"], "did you mean set-power?"),
        (["st-power", "power=6"], "did you mean set-power?"),
        (["./hm", "rol"], "rol is not a command: did you mean role?"),
        (["./hm", "echoo", "00"], "echoo is not a command: --list shows all"),
      ] {
        let wrong = try await box.run(["request"] + words)
        #expect(wrong.status == 64 && wrong.errorText.contains(part), "\(wrong.errorText)")
      }
      let own = try await box.run("request", "--list")
      #expect(own.lines.first == "hm10" && !own.lines.contains("bluno"))
      let list = try await box.run("request", "--list", "--driver", "hm10")
      #expect(list.lines.contains("  set-speed speed=9600|19200|38400|57600|115200|4800|2400|1200|230400 (bit/s)"))
      try await module.stop()
    }
  }

  @Test func scanListsNeighboursAsTextAndDocuments() async throws {
    try await Sandbox.with { box in
      let module = try await box.simulate(
        kind: "hm10", "--central", "--neighbours", "40", "--scan-time", "500ms", "--seed", "3")
      let scan = try await box.run("scan", "--timeout", "2s")
      #expect(scan.status == 0, "\(scan.errorText)")
      #expect(scan.lines.count == 41)
      #expect(!scan.output.contains(0x1B) && !scan.output.contains(7), "nothing that a terminal would act on")
      #expect(scan.outputText.contains("\\u{1b}[31mred"))
      let json = try await box.run("scan", "--timeout", "2s", "--json")
      let events = try json.lines.map { try JSON($0) }
      #expect(events.count > 41 && events.dropLast().allSatisfy { $0["event"] == "found" })
      let devices = try #require(events.last?["neighbours"])
      let strengths = (0..<40).compactMap { devices[$0]?["rssi_dbm"]?.double }
      #expect(strengths.count == 40 && strengths == strengths.sorted(by: >))
      try await module.stop()
    }
  }

  /// On a terminal the list is drawn again in its place.
  @Test func scanRedrawsItsListOnATerminal() async throws {
    try await Sandbox.with { box in
      let module = try await box.simulate(kind: "hm10", "--central", "--neighbours", "5", "--scan-time", "300ms")
      let scan = try await box.run(["scan", "--timeout", "1s"], output: .terminal)
      #expect(scan.status == 0)
      #expect(scan.outputText.contains("\u{1B}[6A"), "up six lines")
      #expect(scan.outputText.contains("\u{1B}[38;5;"), "a signal has a colour")
      #expect(!scan.outputText.contains("\u{1B}[31mred"))
      let plain = try await box.run(["scan", "--timeout", "1s"], environment: ["NO_COLOR": "1"], output: .terminal)
      #expect(!plain.outputText.contains("\u{1B}[38;5;"))
      try await module.stop()
    }
  }

  @Test func connectPassesDataBothWays() async throws {
    try await Sandbox.with { box in
      let module = try await box.simulate(kind: "hm10", "--central", "--scan-time", "200ms")
      // By address, which is searched for; then by the number of a scan.
      let echo = try await box.run(
        ["connect", "00:17:EA:00:00:02"],
        prefix: ["/bin/sh", "-c", #"printf 'hello, you there at the end' | "$0" "$@""#])
      #expect(echo.status == 0, "\(echo.errorText)")
      #expect(echo.outputText == "hello, you there at the end")
      _ = try await box.run("scan", "--timeout", "1s")
      let number = try await box.run(
        ["connect", "3", "--json"], prefix: ["/bin/sh", "-c", #"printf hi | "$0" "$@""#])
      let events = try number.lines.map { try JSON($0) }
      #expect(events.map { $0["event"] } == ["connected", "received"])
      #expect(events.last?["hex"] == "6869")
      let nobody = try await box.run("connect", "4")
      #expect(nobody.status == 66 && nobody.errorText.contains("there is no number 4"))
      let stranger = try await box.run("connect", "00:00:00:00:00:01", "--timeout", "500ms", "--json")
      #expect(stranger.status == 66)
      #expect(try stranger.json()["error"]?["kind"] == "not_found")
      #expect(try await box.run("connect", "nobody").status == 64)
      try await module.stop()
    }
  }

  @Test func connectByNumberNeedsAScan() async throws {
    try await Sandbox.with { box in
      let module = try await box.simulate(kind: "hm10", "--central")
      let connect = try await box.run("connect", "1")
      #expect(connect.status == 66 && connect.errorText.contains("bridge-cli bluetooth scan"))
      try await module.stop()
    }
  }

  /// Standard input is a pipe that nobody writes to, and that has no end: the program itself could write to it.
  private static let withInputWithoutEnd = ["/bin/sh", "-c", #"mkfifo input && exec "$0" "$@" <>input"#]

  /// The module is busy while another program is connected by it.
  @Test func aConnectedModuleIsBusyForOthers() async throws {
    try await Sandbox.with { box in
      let module = try await box.simulate(kind: "hm10", "--central", "--scan-time", "200ms")
      let first = try box.start(
        ["connect", "00:17:EA:00:00:01", "--json"], prefix: Self.withInputWithoutEnd)
      try await first.line(containing: #""event":"connected""#)
      let second = try await box.run("connect", "00:17:EA:00:00:01", "--json")
      #expect(second.status == 69)
      #expect(try second.json()["error"]?["kind"] == "busy")
      first.signal(SIGKILL)
      try await module.stop()
    }
  }

  /// A person at a terminal, which is as it was afterwards, whatever ends the connection or stops it.
  @Test(arguments: [nil, SIGTERM, SIGHUP, SIGSEGV, SIGTSTP])
  func connectLeavesTheTerminalAsItWas(signal: CInt?) async throws {
    try await Sandbox.with { box in
      let module = try await box.simulate(kind: "hm10", "--central", "--scan-time", "200ms")
      let connect = try box.sit("connect", "00:17:EA:00:00:01")
      let settings = connect.settings
      let start = try await connect.wait(for: "connected to 00:17:EA:00:00:01; Ctrl-] ends it")
      let raw = connect.settings
      #expect(raw != settings)
      connect.type("hello\u{3}")
      try await connect.wait(for: "hello\\u{3}", from: start)
      switch signal {
      case SIGTSTP?:
        connect.signal(SIGTSTP)
        try await eventually("it to stop") { connect.isStopped }
        #expect(connect.settings == settings)
        connect.signal(SIGCONT)
        try await eventually("the terminal raw again") { connect.settings == raw }
        connect.type("\u{1D}")
      case let signal?: connect.signal(signal)
      case nil: connect.type("\u{1D}")
      }
      let status = try await connect.end()
      #expect(status == (signal == SIGSEGV ? 128 + SIGSEGV : 0))
      #expect(connect.settings == settings)
      try await module.stop()
    }
  }

  /// What the other side sends makes the terminal do nothing, unless that is asked for.
  @Test(arguments: [false, true]) func textOfTheOtherSideIsEscapedUnlessRaw(isRaw: Bool) async throws {
    try await Sandbox.with { box in
      let module = try await box.simulate(kind: "hm10", "--central", "--scan-time", "200ms")
      let connect = try box.sit(["connect", "00:17:EA:00:00:01"] + (isRaw ? ["--raw"] : []))
      let start = try await connect.wait(for: "connected to 00:17:EA:00:00:01; Ctrl-] ends it")
      // The other side echoes.
      connect.type("\u{1B}[31mred\u{7}\u{202E}end")
      if isRaw {
        try await connect.wait(for: "\u{1B}[31mred\u{7}\u{202E}end", from: start)
      } else {
        try await connect.wait(for: "\\u{1b}[31mred\\u{7}\\u{202e}end", from: start)
        #expect(!connect.state.value.output[start...].contains { $0 == 0x1B || $0 == 7 })
      }
      connect.type("\u{1D}")
      #expect(try await connect.end() == 0)
      try await module.stop()
    }
  }

  @Test func connectMakesALostConnectionAgain() async throws {
    try await Sandbox.with { box in
      let module = try await box.simulate(kind: "hm10", "--central", "--scan-time", "200ms")
      let connect = try box.start(
        ["connect", "00:17:EA:00:00:01", "--json", "--reconnect-interval", "100ms"],
        prefix: Self.withInputWithoutEnd)
      try await connect.line(containing: #""event":"connected""#)
      module.program.signal(SIGUSR1)
      try await connect.line(containing: #""event":"lost""#)
      try await connect.line(containing: #""event":"connected_again""#)
      // For good, when the module goes.
      try await module.stop()
      try await connect.line(containing: #""event":"gave_up""#)
      connect.signal(SIGKILL)
    }
  }

  /// Three tries and no more.
  @Test func connectGivesUpAfterFourAttempts() async throws {
    try await Sandbox.with { box in
      let module = try await box.simulate(kind: "hm10", "--central", "--scan-time", "200ms", "--refuse", "100")
      let failed = try await box.run("connect", "00:17:EA:00:00:01", "--json", "--retry-interval", "50ms")
      let events = try failed.lines.map { try JSON($0) }
      #expect(
        events.map { $0["event"] } == ["attempt_failed", "attempt_failed", "attempt_failed", "attempt_failed", nil])
      #expect(failed.status == 69)
      let once = try await box.run("connect", "00:17:EA:00:00:01", "--json", "--retry-tries", "off")
      #expect(once.lines.count == 2)
      try await module.stop()
    }
  }

  @Test func wrongUseWithAModuleIsAnError() async throws {
    try await Sandbox.with { box in
      for arguments in [
        ["simulate", "hm10", "--percent", "101"], ["simulate", "hm10", "--name", "much too long a name"],
        ["simulate", "hm10", "--neighbours", "-1"], ["simulate", "hm10", "--address", "x"],
        ["scan", "--timeout", "0"], ["connect"], ["connect", "a", "b", "c"], ["connect", "0"],
      ] {
        #expect(try await box.run(arguments).status == 64, "\(arguments)")
      }
      let framed = try await box.simulate("--link", "./acc")
      let scan = try await box.run("scan", "./acc")
      #expect(scan.status == 69 && scan.errorText.contains("--driver hm10"))
      try await framed.stop()
    }
  }
}
