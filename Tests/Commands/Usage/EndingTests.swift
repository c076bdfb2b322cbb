// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import AccessoryProtocols
import FamilyAF1
import Glibc
import TestSupport
import Testing

/// Commands that go on until they are told to end, and what they leave behind.
@Suite(.timeLimit(.minutes(Patience.minutes(10)))) struct EndingTests {
  @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
  func aSimulatorLeavesNothingBehind(signal: CInt) async throws {
    try await Sandbox.with { box in
      let simulator = try await box.simulate("--link", "acc")
      #expect(linkTarget(box.directory.path + "/acc") == simulator.path)
      #expect(box.announcements.count == 1)
      simulator.program.signal(signal)
      let ended = try await simulator.program.end()
      #expect(ended.status == 0)
      #expect(ended.errorText == "")
      #expect(box.directory.names() == [])
      #expect(box.runtime.names(in: "accessory-bridge/simulated") == [])
    }
  }

  @Test func anInterruptedWatchEndsWithSuccess() async throws {
    try await Sandbox.with { box in
      _ = try await box.simulate()
      let watch = try box.start("watch")
      _ = try await watch.lines(1)
      watch.signal(SIGINT)
      #expect(try await watch.end().status == 0)
    }
  }

  /// As `stty` would show it before and after.
  @Test(arguments: [SIGINT, SIGTERM]) func batteryWatchPutsThePortBack(signal: CInt) async throws {
    let accessory = ScriptedAccessory { $0.command == .battery ? .reply([2]) : .silence }
    let terminal = try await accessory.onPseudoTerminal()
    let port = Glibc.open(terminal.path, O_RDWR | O_NOCTTY | O_CLOEXEC)
    defer { close(port) }
    try setCooked(port)
    let before = try settings(port)
    try await Sandbox.with { box in
      let battery = try box.start("battery", terminal.path, "--driver", "framed", "--watch")
      _ = try await battery.lines(1)
      #expect(try settings(port) != before)
      battery.signal(signal)
      #expect(try await battery.end().status == 0)
      let after = try settings(port)
      #expect(after == before)
      var exclusive: CInt = 1
      #expect(ioctl(port, 0x8004_5440, &exclusive) == 0)
      #expect(exclusive == 0)
    }
    await terminal.transport.close()
  }

  /// Signals that a command ends by, those that kill, and a second one for who doesn't want to wait.
  @Test(arguments: [
    [SIGINT], [SIGTERM], [SIGHUP], [SIGPIPE], [SIGQUIT], [SIGABRT], [SIGINT, SIGINT], [SIGTERM, SIGHUP],
  ])
  func everySignalButSIGKILLPutsThePortBack(_ signals: [CInt]) async throws {
    let terminal = try openPseudoTerminal()
    let before = try terminal.termios2()
    try await Sandbox.with { box in
      // Else the runtime starts a program that prints where it was, and outlives this one.
      let trace = try box.start(["trace", terminal.path, "--listen"], environment: ["SWIFT_BACKTRACE": "enable=no"])
      try await speak(on: terminal, to: trace)
      _ = try await trace.lines(1)
      #expect(try terminal.termios2() != before)
      for signal in signals { trace.signal(signal) }
      let ended = try await trace.end()
      switch signals {
      case [SIGPIPE], [SIGQUIT], [SIGABRT]: #expect(ended.status == -signals[0])
      case let signals where signals.count == 1: #expect(ended.status == 0)
      default: #expect(([0] + signals.map { 128 + $0 }).contains(ended.status))
      }
      #expect(try terminal.termios2() == before)
      #expect(try !terminal.isExclusive())
    }
  }

  /// As `trace DEVICE | head -1`, and as where the disk is full.
  @Test(arguments: [
    // Told of the end by the kernel, or by a write that fails: which is first differs.
    ("{ \"$0\" \"$@\"; echo $? > status; } | head -n 1", [0, EX_IOERR, 128 + SIGPIPE]),
    ("\"$0\" \"$@\" > /dev/full; echo $? > status", [EX_IOERR]),
  ])
  func anOutputThatFailsPutsThePortBack(script: String, statuses: [CInt]) async throws {
    let terminal = try openPseudoTerminal()
    let before = try terminal.termios2()
    try await Sandbox.with { box in
      let shell = try box.start(
        ["trace", terminal.path, "--listen"], prefix: ["/bin/sh", "-c", script])
      try await speak(on: terminal, to: shell)
      try await shell.end()
      let written = try SmallFile.read(box.directory.path + "/status", limit: 10)
      #expect(statuses.map { "\($0)\n" }.contains(String(decoding: written, as: UTF8.self)))
      #expect(try terminal.termios2() == before)
      #expect(try !terminal.isExclusive())
    }
  }

  /// Sends something again and again while a program runs.
  private func speak(on terminal: TestTerminal, to program: Program) async throws {
    var bytes: [UInt8] = []
    try AF1Codec(maximumPayload: 16).encode(.event(.battery, number: 1), payload: [90], into: &bytes)
    Task { [bytes] in
      while program.transcript.value.status == nil {
        _ = try terminal.writeSome(bytes)
        await IOThread.shared.sleep(for: .milliseconds(10))
      }
    }
  }

  /// Interrupted before there was a result: no success. The slow line makes for a time limit of minutes.
  @Test func aRequestInterruptedBeforeItsAnswerIsNoSuccess() async throws {
    let accessory = ScriptedAccessory { _ in .silence }
    let terminal = try await accessory.onPseudoTerminal()
    try await Sandbox.with { box in
      let request = try box.start("request", terminal.path, "0x40", "--baud", "300", "--driver", "framed")
      try await accessory.requests.wait { $0.count == 2 }
      request.signal(SIGINT)
      let ended = try await request.end()
      #expect(ended.status == 128 + SIGINT)
      #expect(ended.outputText == "")
    }
    await terminal.transport.close()
  }

  @Test func aLinkIsNotMadeOverAFile() async throws {
    try await Sandbox.with { box in
      try box.directory.write(Array("precious".utf8), to: "acc")
      let simulator = try await box.run("simulate", "framed", "--link", "acc")
      #expect(simulator.status == EX_CANTCREAT)
      #expect(simulator.errorText.contains("acc exists"))
      #expect(try SmallFile.read(box.directory.path + "/acc", limit: 100) == Array("precious".utf8))
      #expect(box.announcements == [])
    }
  }

  @Test(arguments: ["/etc/hostname", "nowhere"]) func aLinkToSomethingElseIsNotReplaced(target: String) async throws {
    try await Sandbox.with { box in
      #expect(symlink(target, box.directory.path + "/acc") == 0)
      let simulator = try await box.run("simulate", "framed", "--link", "acc", "--json")
      #expect(simulator.status == EX_CANTCREAT)
      #expect(try simulator.json()["error"]?["kind"] == "misconfigured")
      #expect(linkTarget(box.directory.path + "/acc") == target)
    }
  }

  @Test func aLinkThatAKilledSimulatorLeftIsReplaced() async throws {
    try await Sandbox.with { box in
      let killed = try await box.simulate("--link", "acc")
      killed.program.signal(SIGKILL)
      try await killed.program.end()
      #expect(linkTarget(box.directory.path + "/acc") == killed.path)
      // The terminal's number must not happen to be the same again.
      let other = try await PseudoTerminal.open()
      let next = try await box.simulate("--link", "acc")
      #expect(linkTarget(box.directory.path + "/acc") == next.path)
      #expect(try await box.run("battery", "acc").status == 0)
      await other.transport.close()
    }
  }

  @Test func aLinkInAMissingDirectoryIsRefused() async throws {
    try await Sandbox.with { box in
      let simulator = try await box.run("simulate", "framed", "--link", "missing/acc")
      #expect(simulator.status == EX_NOINPUT)
      #expect(simulator.errorText.contains("missing/acc"))
      #expect(box.announcements == [])
    }
  }

  @Test func demoStopsAtCtrlC() async throws {
    try await Sandbox.with { box in
      let demo = try box.start("demo")
      try await demo.line(containing: "connected")
      demo.signal(SIGINT)
      let ended = try await demo.end()
      #expect(ended.status == 128 + SIGINT)
      #expect(ended.errorText == "" && !ended.outputText.contains("End of the demo"))
      #expect(box.announcements == [])
    }
  }

  /// Whatever is waited for: an interrupted wait is no success.
  @Test(arguments: [
    ["list", "--wait", "60s"], ["battery", "--driver", "framed", "--settle", "60s", "PORT"],
    ["status", "--driver", "framed", "--baud", "300", "PORT"], ["values", "--driver", "ev3", "PORT"],
    ["info", "--settle", "60s", "PORT"], ["scan", "--driver", "hm10", "--baud", "300", "PORT"],
    ["console", "--settle", "60s", "PORT"], ["trace", "--settle", "60s", "PORT"],
    ["ls", "--driver", "ev3", "PORT"], ["request", "--driver", "framed", "--settle", "60s", "PORT", "identify"],
  ]) func anInterruptedWaitIsNoSuccess(words: [String]) async throws {
    try await Sandbox.with { box in
      let terminal = try openPseudoTerminal(raw: true)
      let waiting = try box.sit(words.map { $0 == "PORT" ? terminal.path : $0 })
      try await waiting.wait(for: words[0] == "console" ? "to settle" : "waiting for ")
      waiting.signal(SIGINT)
      #expect(try await waiting.end() == 128 + SIGINT)
    }
  }

  @Test func anInterruptedScanEndsWithItsSignal() async throws {
    try await Sandbox.with { box in
      _ = try await box.simulate(kind: "hm10", "--central", "--neighbours", "5", "--scan-time", "100ms")
      let scan = try box.start("scan", "--timeout", "60s", "--json")
      _ = try await scan.lines(1)
      scan.signal(SIGINT)
      #expect(try await scan.end().status == 128 + SIGINT)
    }
  }

  /// A service leaves the demo's accessory alone, and so do other commands.
  @Test func theDemoRunsBesideAService() async throws {
    try await Sandbox.with { box in
      let service = try await box.serve()
      let demo = try await box.run("demo")
      #expect(demo.status == 0 && demo.errorText == "", "\(demo.errorText)")
      #expect(demo.outputText.contains("End of the demo"))
      #expect(!service.transcript.value.errorText.contains("DEMO-"))
      #expect(box.runtime.names(in: "accessory-bridge").allSatisfy { !$0.hasPrefix("demo-") })
    }
  }

  @Test func demoEndsByItself() async throws {
    try await Sandbox.with { box in
      let demo = try await box.run("demo")
      #expect(demo.status == 0)
      #expect(demo.errorText == "")
      for text in ["connected", "identity", "status        idle", "event", "was disconnected", "disconnected  DEMO-"] {
        #expect(demo.outputText.contains(text), "\(text)")
      }
      #expect(box.announcements == [])
    }
  }

  // MARK: - Terminal settings

  func settings(_ port: CInt) throws -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 44)
    let result = bytes.withUnsafeMutableBytes { ioctl(port, 0x802C_542A, $0.baseAddress!) }
    try #require(result == 0)
    return bytes
  }

  /// Lines edited and echoed, 9600 baud, 7 bits: as little raw as can be. Without HUPCL, which `--dtr keep` leaves cleared.
  func setCooked(_ port: CInt) throws {
    var settings = termios()
    try #require(tcgetattr(port, &settings) == 0)
    settings.c_iflag |= tcflag_t(ICRNL | IXON)
    settings.c_oflag |= tcflag_t(OPOST | ONLCR)
    settings.c_lflag |= tcflag_t(ICANON | ISIG)
    settings.c_cflag = settings.c_cflag & ~tcflag_t(CSIZE | HUPCL) | tcflag_t(CS7 | PARENB)
    cfsetspeed(&settings, speed_t(B9600))
    try #require(tcsetattr(port, TCSANOW, &settings) == 0)
  }
}
