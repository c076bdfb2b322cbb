// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import AccessoryProtocols
import Glibc
import TestSupport
import Testing

/// `console` at a terminal at which the test sits.
@Suite(.timeLimit(.minutes(Patience.minutes(10)))) struct ConsoleTests {
  private static let (up, left, f1) = ("\u{1B}[A", "\u{1B}[D", "\u{1B}OP")
  private static let (exit, prefix) = ("\u{1D}", "\u{14}")
  private static let ready = "Ctrl-T ? lists its keys"

  private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

  private func text(_ accessory: TestTerminal, _ count: Int) async throws -> String {
    text(try await accessory.read(count))
  }

  /// An accessory that is nothing but a line, with the test at its other end, and a console for it.
  private func withLine(
    _ arguments: String..., columns: Int = 100,
    _ body: (TerminalProgram, TestTerminal, Sandbox, _ settings: [UInt8]) async throws -> Void
  ) async throws {
    try await Sandbox.with { box in
      let accessory = try openPseudoTerminal(raw: true)
      let console = try box.sit(["console", accessory.path] + arguments, columns: columns)
      let settings = console.settings
      try await console.wait(for: Self.ready)
      #expect(console.settings != settings)
      try await body(console, accessory, box, settings)
      console.type(Self.exit)
      #expect(try await console.end() == 0)
      #expect(console.settings == settings)
    }
  }

  @Test func linesGoThereAndWhatComesIsShown() async throws {
    try await withLine { console, accessory, _, _ in
      console.type("helo\(Self.left)l\r")
      #expect(try await text(accessory, 6) == "hello\n")
      try await console.wait(for: "> hello")
      try await accessory.write(Array("temperature: 21\r\nlogin: ".utf8))
      try await console.wait(for: "temperature: 21")
      try await console.wait(for: "login: ")
      // An earlier line, once more.
      console.type("\(Self.up)!\r")
      #expect(try await text(accessory, 7) == "hello!\n")
      // Ctrl-C takes a line away; in an empty one it is sent.
      console.type("abc\u{3}\u{3}x\r")
      #expect(try await accessory.read(3) == [3, 0x78, 0x0A])
    }
  }

  /// Without --eol, the line end is that of the accessory's protocol.
  @Test(arguments: [("hm10", "AT"), ("elm327", "AT\r"), ("bluno", "AT\n")])
  func linesEndAsTheProtocolSays(driver: String, sent: String) async throws {
    try await Sandbox.with { box in
      let accessory = try openPseudoTerminal(raw: true)
      let line = Array("AT\nAT\n".utf8)
      try box.directory.write(line, to: "lines")
      // Raw bytes to an adapter at a car need both permissions. The profile is what `profile show` prints, with one word changed.
      let guarded = driver == "elm327"
      if guarded {
        mkdir(box.directory.path + "/profiles", 0o700)
        let shown = try await box.run("profile", "show", driver).outputText
        try box.directory.write(
          Array(shown.replacing("writes: refused", with: "writes: allowed").utf8), to: "profiles/mine.yaml")
      }
      let console = try box.start(
        ["console", accessory.path, "--driver", driver] + (guarded ? ["--write"] : []),
        prefix: ["/bin/sh", "-c", #"exec "$0" "$@" < lines"#])
      #expect(try await accessory.read(sent.utf8.count * 2) == Array((sent + sent).utf8))
      console.signal(SIGTERM)
      _ = try await console.end()
    }
  }

  @Test(arguments: ["none", "lf", "cr", "crlf"]) func linesEndAsTheOptionSays(eol: String) async throws {
    try await withLine("--eol", eol) { console, accessory, _, _ in
      console.type("AT\r")
      let expected = "AT" + ["none": "", "lf": "\n", "cr": "\r", "crlf": "\r\n"][eol]!
      let sent = try await text(accessory, expected.utf8.count)
      #expect(sent == expected)
    }
  }

  @Test func whatIsHostileIsMadeVisible() async throws {
    try await withLine { console, accessory, _, _ in
      try await accessory.write([0x1B, 0x5B, 0x32, 0x4A, 0x07, 0xFF, 0x9B] + Array("\u{202E}x\r\n".utf8))
      try await console.wait(for: "\\u{1b}[2J\\u{7}\\xff\\x9b\\u{202e}x")
      #expect(!console.state.value.output.contains(0x07))
    }
  }

  @Test func rawModeSendsEachKeyAtOnce() async throws {
    try await withLine("--raw", "--show", "as-is") { console, accessory, _, _ in
      console.type("a\(Self.up)\u{3}\r\(Self.prefix)\(Self.prefix)")
      #expect(try await accessory.read(7) == [0x61, 0x1B, 0x5B, 0x41, 0x03, 0x0D, 0x14])
      try await accessory.write(Array("\u{1B}[31mred".utf8))
      try await console.wait(for: "\u{1B}[31mred")
    }
  }

  @Test func arrowsDriveTheRobot() async throws {
    try await withLine("--keys", "--driver", "bluno", "--settle", "0s") { console, accessory, _, _ in
      console.type("\(Self.up)\(Self.left) \(Self.f1)13+?")
      #expect(try await text(accessory, 11) == "flsw02<144>")
      try await console.wait(for: "[keys] speed 144")
      console.type("\(Self.prefix)khi\r")
      #expect(try await text(accessory, 3) == "hi\n")
    }
  }

  /// Keys that were typed while it was being opened are not sent when it is open: a robot would drive off.
  @Test func keysTypedWhileOpeningAreNotSent() async throws {
    try await Sandbox.with { box in
      let accessory = try openPseudoTerminal(raw: true)
      let console = try box.sit("console", accessory.path, "--keys", "--driver", "bluno", "--settle", "200ms")
      console.type("\(Self.up)\r\(Self.up)")
      try await console.wait(for: "opening \(accessory.path), which takes 0.2 seconds to settle; keys typed")
      try await console.wait(for: Self.ready)
      console.type(" ")
      #expect(try await text(accessory, 1) == "s")
      console.type(Self.exit)
      #expect(try await console.end() == 0)
      #expect(accessory.received() == [])
    }
  }

  /// An HM-1X car gets frames: steering, acceleration, lights.
  @Test func arrowsDriveACar() async throws {
    try await withLine("--keys", "--driver", "hm1x", "--baud", "9600") { console, accessory, _, _ in
      console.type("\(Self.up)\(Self.left)\(Self.f1)9 ?")
      let frames: [[UInt8]] = [
        [0, 0, 51, 58], [1, 51, 51, 58], [17, 51, 51, 58], [25, 51, 127, 58], [16, 0, 0, 58],
      ]
      #expect(try await accessory.read(20) == frames.flatMap { $0 })
      try await console.wait(for: "[keys] steering 0, acceleration 0, headlights")
    }
  }

  @Test func anEscapeKeyIsNoSequence() async throws {
    try await withLine { console, accessory, _, _ in
      console.type("ab\u{1B}")
      // The decoder can't know before time has passed; what is typed then is itself.
      try await console.wait(for: "> ab")
      console.type("c\r")
      let line = try await accessory.read(4)
      #expect(text(line) == "abc\n")
    }
  }

  @Test func bytesAreTypedAndShownInHexadecimal() async throws {
    try await withLine("--show", "hex", "--input", "hex", "--timestamps") { console, accessory, _, _ in
      console.type("0f F0:01\r")
      #expect(try await accessory.read(3) == [0x0F, 0xF0, 0x01])
      console.type("xyz\r")
      try await console.wait(for: "not hexadecimal: type two digits")
      try await accessory.write(Array("hello\u{1B}".utf8))
      try await console.wait(for: "] <  68 65 6c 6c 6f 1b")
      try await console.wait(for: "|hello.|")
    }
  }

  @Test func keysChangeHowTheConsoleWorks() async throws {
    try await withLine { console, accessory, _, _ in
      console.type("\(Self.prefix)?")
      try await console.wait(for: "Ctrl-T d  shows received bytes as text, frames or hex")
      console.type("\(Self.prefix)d\(Self.prefix)d")
      try await console.wait(for: "received bytes are shown as hex")
      console.type("\(Self.prefix)e")
      try await console.wait(for: "sent lines end with cr")
      console.type("\(Self.prefix)t")
      try await console.wait(for: "times are shown")
      console.type("\(Self.prefix)r")
      try await console.wait(for: "each key is sent at once")
      console.type("q")
      #expect(try await text(accessory, 1) == "q")
      console.type("\(Self.prefix)j")
      try await console.wait(for: "Ctrl-T with this key is not a command")
      console.type("\(Self.prefix)r")
      try await console.wait(for: "Enter sends the line")
    }
  }

  /// The line that is typed is as wide as the window, whatever width that has.
  @Test func aLongLineFitsTheWindow() async throws {
    try await withLine(columns: 80) { console, accessory, _, _ in
      let line = String(repeating: "0123456789", count: 12)
      console.type(line)
      try await console.wait(for: "> " + line.suffix(76))
      let seen = console.state.value.output.count
      console.resize(columns: 40)
      try await console.wait(for: "> " + line.suffix(36), from: seen)
      console.type("\r")
      #expect(try await text(accessory, 121) == line + "\n")
    }
  }

  @Test func theLogHasWhatWasSentAndReceived() async throws {
    try await withLine("--log", "con.log") { console, accessory, box, _ in
      console.type("hi\r")
      _ = try await accessory.read(3)
      try await accessory.write(Array("yes\n".utf8))
      try await console.wait(for: "yes")
      let lines = text(try SmallFile.read(box.directory.path + "/con.log", limit: 10_000)).split(separator: "\n")
      #expect(lines.count == 3)
      #expect(lines[0].contains("Z connected \(accessory.path) at \(accessory.path)"))
      #expect(lines[1].hasSuffix("Z sent 3 bytes 68690a |hi.|"))
      #expect(lines[2].hasSuffix("Z received 4 bytes 7965730a |yes.|"))
    }
  }

  /// Whatever ends it, the terminal is as it was.
  @Test(arguments: [SIGTERM, SIGHUP, SIGINT, SIGSEGV, SIGABRT, SIGTRAP])
  func anySignalLeavesTheConsolesTerminalAsItWas(by signal: CInt) async throws {
    try await Sandbox.with { box in
      let accessory = try openPseudoTerminal(raw: true)
      let console = try box.sit("console", accessory.path)
      let settings = console.settings
      try await console.wait(for: Self.ready)
      #expect(console.settings != settings)
      console.signal(signal)
      let status = try await console.end()
      #expect(status == ([SIGSEGV, SIGABRT, SIGTRAP].contains(signal) ? 128 + signal : 0))
      #expect(console.settings == settings)
    }
  }

  @Test func aStoppedConsoleGoesOnWhereItWas() async throws {
    try await withLine { console, accessory, _, settings in
      let raw = console.settings
      console.type("ab")
      try await console.wait(for: "> ab")
      console.signal(SIGTSTP)
      try await eventually("the console to stop") { console.isStopped }
      #expect(console.settings == settings)
      let seen = console.state.value.output.count
      console.signal(SIGCONT)
      try await console.wait(for: "> ab", from: seen)
      #expect(console.settings == raw)
      console.type("c\r")
      #expect(try await text(accessory, 4) == "abc\n")
    }
  }

  // MARK: - Accessories that come and go

  @Test func theConsoleWaitsForAnUnpluggedAccessory() async throws {
    try await Sandbox.with { box in
      let accessory = try await box.simulate("--link", "./acc")
      let console = try box.sit("console", "SIM0001", "--input", "hex")
      let start = try await console.wait(for: Self.ready)
      try await accessory.stop()
      try await console.wait(for: "SIM0001 is gone: waiting for it to come back", from: start)
      try await console.wait(for: "(gone) hex> ", from: start)
      console.type("00\r")
      try await console.wait(for: "not connected: nothing was sent", from: start)
      let again = try await box.simulate("--link", "./acc")
      try await console.wait(for: "SIM0001 is connected at \(again.path)", from: start)
      // BATTERY #1, and its reply decoded.
      console.type("0ff01103010000002600\r")
      try await console.wait(for: "reply BATTERY #1  high, 100 %", from: start)
      console.type(Self.exit)
      #expect(try await console.end() == 0)
      try await again.stop()
    }
  }

  /// The service lends it, and has it back; it is taken up again when the service is killed.
  @Test func theConsoleIsLentTheLineByTheService() async throws {
    try await Sandbox.with { box in
      let accessory = try await box.simulate("--link", "./acc")
      let service = try await box.serve()
      try await service.errors(containing: "SIM0001 is attached at")
      let console = try box.sit("console", "SIM0001", "--input", "hex")
      let settings = console.settings
      let start = try await console.wait(for: "lent by")
      try await service.errors(containing: "SIM0001 is lent to process \(try #require(console.pid))")
      console.type("0ff01103010000002600\r")
      try await console.wait(for: "reply BATTERY #1", from: start)
      service.signal(SIGKILL)
      try await service.end()
      let gone = try await console.wait(for: "SIM0001 is gone: waiting for it to come back", from: start)
      let back = try await console.wait(for: "SIM0001 is connected at \(accessory.path)", from: gone)
      console.type("0ff01103010000002600\r")
      try await console.wait(for: "reply BATTERY #1", from: back)
      console.type(Self.exit)
      #expect(try await console.end() == 0)
      #expect(console.settings == settings)
      try await accessory.stop()
    }
  }

  @Test func theConsoleGivesTheAccessoryBack() async throws {
    try await Sandbox.with { box in
      let accessory = try await box.simulate("--link", "./acc")
      let service = try await box.serve()
      try await service.errors(containing: "SIM0001 is attached at")
      let console = try box.sit("console", "SIM0001")
      try await console.wait(for: "lent by")
      console.type(Self.exit)
      #expect(try await console.end() == 0)
      try await service.errors(containing: "SIM0001 is attached at", times: 2)
      #expect(try await box.run("battery", "SIM0001").status == 0)
      try await accessory.stop()
    }
  }

  // MARK: - Without a terminal

  @Test func theConsoleSendsWhatAPipeGives() async throws {
    try await Sandbox.with { box in
      let accessory = try await box.simulate("--link", "./acc")
      try box.directory.write(Array("0f f0 11 03 01 00 00 00 26 00\n0ff01101ffff0000d1b6".utf8), to: "lines")
      // Each time the whole reply, though the input ends at once; from a file, which can't be waited for, and a pipe.
      for how in [
        "\"$0\" console ./acc --input hex --linger 2s < lines",
        "cat lines | \"$0\" console ./acc --input hex --linger 2s",
      ] {
        let ended = try await box.run(["--version"], prefix: ["/bin/sh", "-c", how])
        #expect(ended.status == 0, "\(ended.errorText)")
        #expect(ended.outputText.contains("reply BATTERY #1  high, 100 %"))
        #expect(ended.outputText.contains("reply IDENTIFY #65535"))
      }
      let json = try await box.run(
        ["--version"], prefix: ["/bin/sh", "-c", "\"$0\" console ./acc --input hex --linger 2s --json < lines"])
      let events = try json.lines.map { try JSON($0)["event"]?.text }
      #expect(events.first == "connected" && events.contains("sent") && events.contains("received"))
      let wrong = try await box.run(
        ["--version"], prefix: ["/bin/sh", "-c", "echo xyz | \"$0\" console ./acc --input hex"])
      #expect(wrong.status == 64 && wrong.errorText.contains("is not hexadecimal"))
      try await accessory.stop()
    }
  }

  /// Nobody is there to wait.
  @Test func anUnplugEndsAConsoleThatReadsAPipe() async throws {
    try await Sandbox.with { box in
      let accessory = try await box.simulate("--link", "./acc", "--unplug-after", "1")
      let ended = try await box.run(
        ["--version"],
        prefix: [
          "/bin/sh", "-c", "echo 0ff01103010000002600 | \"$0\" console ./acc --input hex --linger 60s",
        ])
      #expect(ended.status == 69 && ended.errorText.contains("disconnected"))
      try await accessory.program.end()
    }
  }

  /// Unless it is to be waited for; what is for it stays in the pipe.
  @Test func aPipesBytesWaitForTheAccessory() async throws {
    try await Sandbox.with { box in
      let accessory = try await box.simulate("--link", "./acc")
      let console = try box.start(
        ["console", "SIM0001", "--input", "hex", "--reconnect", "--linger", "2s", "--json"],
        prefix: ["/bin/sh", "-c", #"mkfifo input && exec "$0" "$@" <>input"#])
      try await console.line(containing: #""event":"connected""#)
      try await accessory.stop()
      try await console.line(containing: #""event":"disconnected""#)
      let battery = try await box.run(
        ["--version"], prefix: ["/bin/sh", "-c", "echo 0ff01103010000002600 > input"])
      #expect(battery.status == 0)
      let again = try await box.simulate("--link", "./acc")
      try await console.line(containing: #""event":"received""#)
      console.signal(SIGTERM)
      let ended = try await console.end()
      let events = try ended.lines.map { try JSON($0)["event"]?.text }
      #expect(events.prefix(5) == ["connected", "disconnected", "connected", "sent", "received"])
      try await again.stop()
    }
  }

  /// A line that an unplug cuts off isn't sent a second time; the next one is sent when the accessory is back.
  @Test func anInterruptedLineIsNotRepeated() async throws {
    try await Sandbox.with { box in
      let link = box.directory.path + "/acc"
      let accessory = try openPseudoTerminal(raw: true)
      try #require(symlink(accessory.path, link) == 0)
      let line = [UInt8](repeating: UInt8(ascii: "x"), count: 1 << 19)
      try box.directory.write(line + Array("\nsecond\n".utf8), to: "lines")
      let console = try box.start(
        ["console", "./acc", "--reconnect", "--linger", "60s"], prefix: ["/bin/sh", "-c", #"exec "$0" "$@" < lines"#])
      #expect(try await accessory.read(1_000) == Array(line.prefix(1_000)))
      accessory.unplug()
      try await console.transcript.wait { $0.status != nil || $0.errorText.contains("while bytes were sent") }
      let again = try openPseudoTerminal(raw: true)
      unlink(link)
      try #require(symlink(again.path, link) == 0)
      #expect(try await text(again, 7) == "second\n")
      console.signal(SIGTERM)
      _ = try await console.end()
    }
  }

  @Test func wrongUseOfTheConsoleIsAnError() async throws {
    try await Sandbox.with { box in
      for arguments in [
        ["--raw", "--keys"], ["--show", "as-is"], ["--eol", "x"], ["--keys"], ["--log", "no/such/folder"],
      ] {
        let ended = try await box.run(["console", "./nothing"] + arguments)
        #expect(ended.status != 0 && ended.status != 70, "\(arguments)")
      }
      #expect(try await box.run("console", "./nothing").status == 66)
    }
  }
}
