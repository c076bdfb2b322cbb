// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// `trace`: frames as they pass, and recordings of them.
@Suite(.timeLimit(.minutes(Patience.minutes(10)))) struct TraceCommandTests {
  @Test func aRecordingOfASessionWithFaultsDecodesToWhatWasShownLive() async throws {
    try await Sandbox.with { box in
      _ = try await box.simulate("--drop", "0.1", "--corrupt", "0.3", "--seed", "5")
      let trace = try box.start("trace", "--poll", "20ms", "--record", "session.trace", "--json")
      _ = try await trace.lines(60)
      trace.signal(SIGINT)
      let live = try await trace.end()
      #expect(live.status == 0)
      #expect(live.outputText.contains("\"payload_damaged\"") && live.outputText.contains("\"noise\""))
      let again = try await box.run("trace", "session.trace", "--json")
      #expect(again.status == 0)
      #expect(again.outputText == live.outputText)
      // A second trace is appended, and a file that is no recording is left alone.
      let second = try box.start("trace", "--poll", "20ms", "--record", "session.trace")
      _ = try await second.lines(4)
      second.signal(SIGINT)
      _ = try await second.end()
      let both = try await box.run("trace", "session.trace", "--json")
      #expect(both.lines.count > again.lines.count)
      let onto = try await box.run("trace", "--record", "/etc/passwd")
      #expect(onto.status == EX_CANTCREAT)
      let foreign = try await box.run("trace", "/etc/passwd")
      #expect(foreign.status == EX_DATAERR)
    }
  }

  @Test func aListeningTraceOnlyShowsEvents() async throws {
    try await Sandbox.with { box in
      _ = try await box.simulate("--percent", "90", "--drain", "5")
      let trace = try box.start("trace", "--listen", "--json")
      let lines = try await trace.lines(3)
      trace.signal(SIGINT)
      let ended = try await trace.end()
      #expect(ended.status == 0)
      #expect(lines.allSatisfy { $0.contains("\"kind\":\"event\"") })
    }
  }

  /// Without a service a trace has the port for itself: it says so, and so does the error of who comes second.
  @Test(arguments: ["megatec", "jbd"]) func watchesUnlessItIsAsked(kind: String) async throws {
    try await Sandbox.with { box in
      let simulator = try await box.simulate(kind: "--profile", kind, "--serial", "UPS-1")
      let trace = try box.start("trace", "UPS-1", "--json")
      let note = "only listening: waiting for what UPS-1 (\(simulator.path)) sends by itself. --ask asks it for"
      try await trace.errors(containing: note)
      let battery = try await box.run("battery", "UPS-1")
      #expect(battery.status == EX_UNAVAILABLE)
      #expect(
        battery.errorText.contains(
          "is in use by bridge-cli (pid \(trace.pid)): end that command, or let bridge-cli serve"),
        "\(battery.errorText)")
      trace.signal(SIGINT)
      let ended = try await trace.end()
      #expect(ended.status == 0 && ended.outputText.isEmpty, "\(ended.outputText)")
      let asking = try box.start("trace", "UPS-1", "--ask")
      try await asking.line(containing: ">  request")
      asking.signal(SIGINT)
      #expect(try await asking.end().status == 0)
    }
  }

  /// Who asks what can't be answered is told that nothing was asked.
  @Test func whatCannotBeAskedIsSaid() async throws {
    try await Sandbox.with { box in
      let text = """
        protocol: lamp
        version: 1
        framings:
          line: {layout: [data, end: "\\n"], max: 32}
        messages:
          any: {framing: line, pattern: "!{text}", pushed: true}

        """
      try box.directory.write(Array(text.utf8), to: "lamp.yaml")
      let terminal = try openPseudoTerminal(raw: true)
      let trace = try box.start("trace", terminal.path, "--driver", "./lamp.yaml", "--ask")
      try await trace.errors(containing: ": waiting for what it sends by itself")
      let told = trace.transcript.value.errorText
      #expect(told.contains("can't be asked for its ") && told.contains("battery"), "\(told)")
      trace.signal(SIGINT)
      #expect(try await trace.end().status == 0)
      #expect(terminal.received().isEmpty)
      let both = try await box.run("trace", terminal.path, "--driver", "./lamp.yaml", "--ask", "--listen")
      #expect(both.status == EX_USAGE)
    }
  }

  @Test func framesComeBeforeTheErrorTheyLedTo() async throws {
    try await Sandbox.with { box in
      _ = try await box.simulate("--unplug-after", "2")
      let trace = try await box.run("trace", "--ask", "--once")
      #expect(trace.status == EX_UNAVAILABLE)
      #expect(trace.lines.contains { $0.contains("reply IDENTIFY") })
      #expect(trace.errorText.contains("was disconnected"))
    }
  }
}

/// `doctor`: what stands in the way of a port.
@Suite(.timeLimit(.minutes(Patience.minutes(10)))) struct DoctorTests {
  /// The project's own service is nobody's problem, also where it lends the accessory.
  @Test(arguments: [false, true]) func doctorDoesNotMindTheService(attach: Bool) async throws {
    try await Sandbox.with { box in
      let simulator = try await box.simulate()
      let service = attach ? try box.start("attach", "SIM0001") : try await box.serve()
      try await service.errors(containing: "SIM0001 is attached at")
      for name in [["SIM0001"], [simulator.path], []] {
        let brief = try await box.run(["doctor"] + name)
        #expect(brief.lines.last?.contains("he service has ") == true, "\(brief.outputText)")
        if !name.isEmpty { #expect(brief.lines.count == 1) }
        let doctor = try await box.run(["doctor", "--details"] + name)
        let own = doctor.lines.drop { $0 != simulator.path }.dropFirst().prefix { $0.hasPrefix("  ") }
        #expect(own.contains { $0.contains("ok") && $0.contains("the service at \(box.socket) has it open") })
        #expect(!own.contains { $0.contains("problem") || $0.contains("warning") }, "\(own)")
        if !name.isEmpty { #expect(doctor.status == 0) }
      }
      // At a terminal, where it waits for keys.
      _ = try box.sit("console", "SIM0001")
      try await eventually("lending") { try await box.run("list", "--json").outputText.contains("lent") }
      let doctor = try await box.run("doctor", "SIM0001")
      #expect(doctor.status == 0 && doctor.outputText.contains("and lends it to"))
    }
  }

  @Test func doctorReportsAMissingUSBDevice() async throws {
    try await Sandbox.with { box in
      let doctor = try await box.run("doctor", "usb:1209:0001")
      #expect(doctor.status == EX_NOINPUT)
      #expect(doctor.lines.first == "usb:1209:0001" && doctor.lines.last?.contains("lsusb") == true)
      let malformed = try await box.run("doctor", "usb:lamp")
      #expect(malformed.status == EX_USAGE)
    }
  }

  /// Who has a report is not told to ask for one.
  @Test func adviceIsNeverToAskAgain() async throws {
    try await Sandbox.with { box in
      let terminal = try openPseudoTerminal(raw: true)
      try #require(chmod(terminal.path, 0o600) == 0)
      try #require(chown(terminal.path, 65_534, 65_534) == 0 || geteuid() != 0)
      let prefix = geteuid() == 0 ? ["setpriv", "--clear-groups", "--bounding-set=-dac_override,-dac_read_search"] : []
      let doctor = try await box.run(["doctor", terminal.path], prefix: prefix)
      #expect(!doctor.outputText.contains("bridge-cli doctor"), "\(doctor.outputText)")
      #expect(geteuid() != 0 || doctor.status == EX_NOPERM, "\(doctor.errorText)")
    }
  }

  @Test func aHealthySimulatorHasNothingInItsWay() async throws {
    try await Sandbox.with { box in
      _ = try await box.simulate("--link", "acc")
      let doctor = try await box.run("doctor", "./acc")
      #expect(doctor.status == 0)
      #expect(!doctor.outputText.contains("problem") && !doctor.outputText.contains("warning"))
      #expect(doctor.lines.count == 1 && doctor.outputText.hasPrefix("Nothing stands in the way of "))
      let details = try await box.run("doctor", "./acc", "--details")
      #expect(details.lines.count > 3 && details.outputText.contains("ok       permission"))
    }
  }

  @Test func whoHoldsAPortIsNamed() async throws {
    try await Sandbox.with { box in
      _ = try await box.simulate("--link", "acc")
      let holder = try box.start("battery", "--watch")
      _ = try await holder.lines(1)
      let doctor = try await box.run("doctor", "./acc")
      #expect(doctor.status == EX_UNAVAILABLE)
      #expect(doctor.outputText.contains("(pid \(holder.pid)) has it open"))
    }
  }

  @Test func doctorReportsAMissingPort() async throws {
    try await Sandbox.with { box in
      let doctor = try await box.run("doctor", "/dev/ttyUSB99")
      #expect(doctor.status == EX_NOINPUT)
    }
  }
}
