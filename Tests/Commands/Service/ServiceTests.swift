// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import AccessorySimulator
import FamilyEV3
import FamilyEV3Simulator
import Glibc
import TestSupport
import Testing

extension Program {
  /// Waits until standard error has a text so many times.
  func errors(containing text: String, times: Int = 1) async throws {
    let state = try await transcript.wait { state in
      state.status != nil || state.errorText.split(separator: text, omittingEmptySubsequences: false).count > times
    }
    guard state.errorText.split(separator: text, omittingEmptySubsequences: false).count > times else {
      throw Hang("\(text), in what ended with \(state.status ?? 0):\n\(state.errorText)")
    }
  }
}

extension Sandbox {
  /// Starts the service, and waits until it answers.
  func serve(_ arguments: String..., environment: [String: String] = [:]) async throws -> Program {
    let program = try start(["serve"] + arguments, environment: environment, limit: Self.longLife)
    try await program.errors(containing: "looking for accessories")
    return program
  }

  /// Runs commands without a service and with one that holds their accessory, and compares; returns the service.
  func expectTheSame(_ calls: [[String]], serial: String) async throws -> Program {
    var direct: [Program.Transcript] = []
    for call in calls { direct.append(try await run(call)) }
    let service = try await serve()
    try await service.errors(containing: "\(serial) is attached at")
    for (call, direct) in zip(calls, direct) { try Self.expectSame(try await run(call), direct, "\(call)") }
    return service
  }

  /// Compares what a command printed with a service and without one.
  static func expectSame(_ held: Program.Transcript, _ direct: Program.Transcript, _ question: String) throws {
    // How far a transfer is, and how fast, is never the same.
    let (through, alone) = try (held.results.compactMap(common), direct.results.compactMap(common))
    #expect(through == alone, "\(question)")
    #expect(held.errorText == direct.errorText, "\(question)")
    #expect(held.status == direct.status, "\(question)")
  }

  /// What a command prints with a service and without one: a document without what tells when it was printed, and what
  /// only a service says; nil for the rows that tell people that.
  private static func common(_ line: String) throws -> JSON? {
    guard line.hasPrefix("{") else {
      return ["Service ", "Profile ", "Writes "].contains { line.hasPrefix($0) } ? nil : .string(line)
    }
    let document = try JSON(line).without("time").without("alarms").without("age_ms").withoutAges("values")
    guard let device = document["device"] else { return document }
    return document.merging(["device": device.without("service")])
  }

  /// Where the service answers.
  var socket: String { runtime.path + "/accessory-bridge/bridge.socket" }
}

extension JSON {
  /// The object without the ages of the elements of a list.
  fileprivate func withoutAges(_ name: String) -> JSON {
    guard case .array(let elements)? = self[name] else { return self }
    return merging(.object([name: .array(elements.map { $0.without("age_ms") })]))
  }
}

/// `serve` as a process, and the commands that go through it.
@Suite(.timeLimit(.minutes(Patience.minutes(10)))) struct ServiceTests {
  /// In one terminal the service, in another simulators, in a third status and battery.
  @Test func answersAreTheSameBothWays() async throws {
    try await Sandbox.with { box in
      let simulator = try await box.simulate("--percent", "57", "--level", "normal", "--voltage", "3712", "--seed", "5")
      let calls = [
        ["battery"], ["battery", "--json"], ["status"], ["status", "--json", "SIM0001"], ["info"], ["info", "--json"],
        ["request", "echo", "616263"], ["request", "echo", "616263", "--json"], ["request", "0x42"],
        ["request", "0x42", "--json"], ["battery", simulator.path], ["battery", "nobody"], ["status", "SIM", "--json"],
      ]
      let service = try await box.expectTheSame(calls, serial: "SIM0001")
      #expect(service.transcript.value.status == nil)
      try await simulator.stop()
      try await service.errors(containing: "SIM0001 is no longer attached")
      #expect(try await box.run("request", "identify").status == EX_UNAVAILABLE)
      service.signal(SIGTERM)
      let ended = try await service.end()
      #expect(ended.status == 0)
      #expect(ended.outputText == "")
      #expect(!exists(box.socket))
    }
  }

  /// The same by name.
  @Test func commandsByNameAreTheSameBothWays() async throws {
    try await Sandbox.with { box in
      _ = try await box.simulate()
      let calls = [
        ["request", "SIM0001", "0x42"], ["request", "SIM0001", "--list"], ["request", "SIM0001", "--list", "--json"],
        ["request", "SIM0001", "echo", "payload=0102", "+", "echo", "payload=03"],
        ["request", "SIM0001", "command", "number=66"], ["request", "SIM0001", "echo", "payload=0", "+", "battery"],
        ["request", "SIM0001", "motor-start", "ports=A"], ["request", "SIM0001", "echo", "payload=01", "--json"],
        ["request", "SIM0001", "command", "number=64", "--no-reply", "--json"], ["ls", "SIM0001"],
        ["rm", "SIM0001", "x", "--json"], ["get-file", "SIM0001", "x"], ["send-file", "SIM0001", "/dev/null", "x"],
      ]
      _ = try await box.expectTheSame(calls, serial: "SIM0001")
    }
  }

  /// The same for a brick: commands by name and batches.
  @Test func aBricksAnswersAreTheSameBothWays() async throws {
    try await Sandbox.with { box in
      let brick = try box.start(["simulate", "ev3", "--link", "./ev3", "--percent", "57"], limit: Sandbox.longLife)
      try await brick.line(containing: " is plugged in at ")
      let calls = [
        ["battery", "--json"], ["status", "EV3", "--json"], ["info", "EV3"], ["info", "EV3", "--json"],
        ["request", "EV3", "--list"], ["request", "./ev3", "--list", "--json"], ["request", "EV3", "echo", "00"],
        ["request", "EV3", "motor-speed", "ports=A,B", "speed=-50", "+", "motor-start", "ports=A,B"],
        ["request", "EV3", "motor-stop", "ports=A,B", "--json"],
        ["request", "power", "+", "name", "+", "sensor-si", "port=4"],
        ["request", "EV3", "power", "+", "name", "--json"], ["request", "EV3", "led", "pattern=red", "--no-reply"],
        ["request", "EV3", "motor-start", "ports=E"], ["request", "EV3", "motor-start", "ports=A", "layer=1"],
        ["request", "EV3", "motor-start", "ports=A", "layer=1", "--json"], ["request", "EV3", "fly=1", "+"],
        ["request", "EV3"]
          + Array(repeating: ["draw-text", "x=1", "y=1", "text=0123456789"], count: 60).joined(
            separator: ["+"]),
      ]
      _ = try await box.expectTheSame(calls, serial: "001653000001")
    }
  }

  /// The same for a brick's files. What the first half does the second undoes.
  @Test func aBricksFilesAreTheSameBothWays() async throws {
    try await Sandbox.with { box in
      let brick = try box.start(["simulate", "ev3", "--link", "./ev3"], limit: Sandbox.longLife)
      try await brick.line(containing: " is plugged in at ")
      try box.directory.write((0..<20_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }, to: "data.bin")
      let path = "../prjs/x/data.bin"
      let calls = [
        ["mkdir", "EV3", "../prjs/x"], ["mkdir", "EV3", "../prjs/x"],
        ["send-file", "EV3", "data.bin", path], ["send-file", "EV3", "data.bin", path, "--json"],
        ["send-file", "EV3", "data.bin", "/etc/passwd"], ["send-file", "EV3", "nothing", "x"], ["ls", "EV3"],
        ["ls", "./ev3", "../prjs/x", "--json"], ["ls", "EV3", "/nowhere"], ["get-file", "EV3", path, "--force"],
        ["get-file", "EV3", path, "back.bin", "--force", "--json"], ["get-file", "EV3", path, "data.bin"],
        ["get-file", "EV3", "../prjs/none"], ["rm", "EV3", "../prjs/x"], ["rm", "EV3", path],
        ["rm", "EV3", path, "--json"],
        ["rm", "EV3", "../prjs/x"],
      ]
      let service = try await box.expectTheSame(calls, serial: "001653000001")
      #expect(try SmallFile.read(box.directory.path + "/back.bin", limit: 1 << 20).count == 20_000)
      #expect(service.transcript.value.status == nil)
    }
  }

  /// A file goes on when its brick is back, whoever has it open.
  @Test func aFileThroughTheServiceGoesOn() async throws {
    let bytes = (0..<50_000).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 8) }
    try await Sandbox.with { box in
      let brick = try box.start(
        "simulate", "ev3", "--link", "./ev3", "--unplug-after", "30", "--replug-after", "100ms")
      try await brick.line(containing: " is plugged in at ")
      try box.directory.write(bytes, to: "data.bin")
      let service = try await box.serve("--reconnect-tries", "forever")
      try await service.errors(containing: "001653000001 is attached at")
      let sent = try await box.run(
        "send-file", "EV3", "data.bin", "../prjs/data.bin", "--patience", "60s", "--json")
      #expect(sent.status == 0, "\(sent.errorText)")
      #expect(try sent.lastJSON()["resumptions"] == 1)
      #expect(sent.errorText.contains("EV3 is gone: waiting for it to come back"))
      let got = try await box.run("get-file", "EV3", "../prjs/data.bin", "back.bin", "--json")
      #expect(got.status == 0, "\(got.errorText)")
      #expect(try SmallFile.read(box.directory.path + "/back.bin", limit: 1 << 20) == bytes)
    }
  }

  @Test func startingTwiceIsHarmless() async throws {
    try await Sandbox.with { box in
      let service = try await box.serve()
      let second = try await box.run("serve")
      #expect(second.status == 0)
      #expect(
        second.errorText.contains("a service is running already: it, process \(service.pid), answers on \(box.socket)"))
      #expect(service.transcript.value.status == nil)
    }
  }

  /// What a killed service leaves behind is in nobody's way.
  @Test func aKilledServiceIsInNobodysWay() async throws {
    try await Sandbox.with { box in
      let simulator = try await box.simulate()
      let first = try await box.serve()
      try await first.errors(containing: "SIM0001 is attached at")
      first.signal(SIGKILL)
      try await first.end()
      #expect(exists(box.socket))
      // Commands open the device themselves.
      #expect(try await box.run("battery").status == 0)
      let second = try await box.serve()
      try await second.errors(containing: "SIM0001 is attached at \(simulator.path)")
      #expect(try await box.run("battery").status == 0)
      second.signal(SIGINT)
      #expect(try await second.end().status == 0)
    }
  }

  /// As `stty` would show it before and after.
  @Test(arguments: [SIGINT, SIGTERM]) func theServicePutsThePortBack(signal: CInt) async throws {
    let accessory = ScriptedAccessory { $0.command == .battery ? .reply([2]) : .silence }
    let terminal = try await accessory.onPseudoTerminal()
    let port = Glibc.open(terminal.path, O_RDWR | O_NOCTTY | O_CLOEXEC)
    defer { close(port) }
    try EndingTests().setCooked(port)
    let before = try EndingTests().settings(port)
    try await Sandbox.with { box in
      let attach = try box.start("attach", terminal.path, "--profile", "framed")
      try await attach.errors(containing: "is attached at")
      #expect(try EndingTests().settings(port) != before)
      #expect(try await box.run("battery", terminal.path).outputText == "normal\n")
      attach.signal(signal)
      #expect(try await attach.end().status == 0)
      #expect(try EndingTests().settings(port) == before)
    }
    await terminal.transport.close()
  }

  /// The accessory goes in the middle of a request, for a while: that request fails, the next one is answered.
  @Test func aRequestFailsOnlyWhileTheAccessoryIsAway() async throws {
    try await Sandbox.with { box in
      // The sixth request since it was plugged in: behind the service's first three, and hello.
      _ = try await box.simulate("--unplug-after", "6", "--replug-after", "300ms")
      let service = try await box.serve("--reconnect-interval", "200ms", "--reconnect-tries", "20")
      try await service.errors(containing: "SIM0001 is attached at")
      var failures: [CInt] = []
      var replies = 0
      while failures.isEmpty {
        let request = try await box.run("request", "echo", "61")
        if request.status == 0 { replies += 1 } else { failures.append(request.status ?? -1) }
        try #require(replies < 10)
      }
      #expect(failures == [EX_UNAVAILABLE])
      try await service.errors(containing: "was disconnected; try 1 of 20 in 200 ms")
      try await service.errors(containing: "SIM0001 is attached at", times: 2)
      #expect(try await box.run("request", "echo", "62").outputText == "62\n")
    }
  }

  /// As long as the service awaits it, however it is named: disconnected; and when the service has forgotten it: no such
  /// device.
  @Test(arguments: [SIGKILL, SIGINT]) func anAccessoryThatIsGoneIsDisconnectedOrForgotten(signal: CInt) async throws {
    try await Sandbox.with { box in
      let simulator = try await box.simulate("--link", "acc")
      let service = try await box.serve("--reconnect-interval", "100ms", "--reconnect-tries", "100000")
      try await service.errors(containing: "SIM0001 is attached at")
      simulator.program.signal(signal)
      try await service.errors(containing: "; try 1 of 100000 in")
      let names = [[], ["SIM0001"], [simulator.path], ["./acc"]]
      for number in 0..<3 {
        for name in names {
          let request = try await box.run(["request"] + name + ["identify"])
          #expect(request.status == EX_UNAVAILABLE, "\(number) \(name): \(request.errorText)")
        }
      }
      #expect(try await box.run("detach", "SIM0001").status == 0)
      for name in names.prefix(2) {
        #expect(try await box.run(["request"] + name + ["identify"]).status == EX_NOINPUT, "\(name)")
      }
    }
  }

  /// The service is killed: to who follows a battery, it is unavailable.
  @Test(arguments: [SIGKILL, SIGTERM]) func theServiceEndsUnderAFollower(signal: CInt) async throws {
    try await Sandbox.with { box in
      _ = try await box.simulate()
      let service = try await box.serve()
      try await service.errors(containing: "SIM0001 is attached at")
      let battery = try box.start("battery", "--watch", "--once")
      _ = try await battery.lines(1)
      service.signal(signal)
      let ended = try await battery.end()
      #expect(ended.status == EX_UNAVAILABLE, "\(ended.errorText)")
      #expect(ended.errorText.hasPrefix("bridge-cli: ") && !ended.errorText.contains("Usage"))
    }
  }

  @Test func anIdleServiceEnds() async throws {
    try await Sandbox.with { box in
      let simulator = try await box.simulate()
      let service = try await box.serve("--exit-idle", "100ms", "--reconnect-tries", "off")
      try await service.errors(containing: "SIM0001 is attached at")
      try await simulator.stop()
      let ended = try await service.end()
      #expect(ended.status == 0)
      #expect(ended.errorText.contains("nothing attached and no client for 100 ms: ending"))
    }
  }

  @Test func theServiceSaysThatTheSearchIsOver() async throws {
    try await Sandbox.with { box in
      let service = try await box.serve("--scan-timeout", "50ms")
      try await service.errors(containing: "the search has ended: no accessory")
      _ = try await box.simulate()
      try await service.errors(containing: "SIM0001 is attached at")
    }
  }

  @Test func theServiceReadsItsProfilesAgain() async throws {
    try await Sandbox.with { box in
      _ = try await box.simulate()
      let service = try await box.serve()
      try await service.errors(containing: "SIM0001 is attached at")
      try #require(mkdir(box.directory.path + "/profiles", 0o755) == 0)
      let profile = "name: framed\nmatch:\n  driver: framed\ndriver: framed\ntransport:\n  tty: {baud: 9600}\n"
      try box.directory.write(Array(profile.utf8), to: "profiles/framed.yaml")
      service.signal(SIGHUP)
      try await service.errors(containing: "SIM0001: its profile has changed")
      try await service.errors(containing: "SIM0001 is attached at", times: 2)
      #expect(try await box.run("info", "--json").json()["line"]?["baud"] == 9_600)
    }
  }

  /// For the journal each line has its level in front, and nothing else.
  @Test func theJournalGetsLevels() async throws {
    try await Sandbox.with { box in
      let log = box.directory.path + "/log"
      try box.directory.write([], to: "log")
      var file = stat()
      try #require(stat(log, &file) == 0)
      let service = try box.start(
        ["serve"], environment: ["JOURNAL_STREAM": "\(file.st_dev):\(file.st_ino)"],
        prefix: ["/bin/sh", "-c", "exec \"$@\" 2>\(log)", "sh"])
      try await eventually("the log") {
        try String(decoding: SmallFile.read(log, limit: 65_536), as: UTF8.self).contains("looking")
      }
      service.signal(SIGTERM)
      try await service.end()
      let lines = try String(decoding: SmallFile.read(log, limit: 65_536), as: UTF8.self).split(separator: "\n")
      #expect(lines.first == "<6>answering on \(box.socket)")
      #expect(lines.allSatisfy { $0.hasPrefix("<") && $0.dropFirst(2).first == ">" })
    }
  }

  @Test func batteryWatchWorksThroughTheService() async throws {
    try await Sandbox.with { box in
      let simulator = try await box.simulate("--percent", "100", "--drain", "4")
      let service = try await box.serve()
      try await service.errors(containing: "SIM0001 is attached at")
      let watch = try box.start("battery", "--watch", "--once", "--json")
      let lines = try await watch.lines(3)
      #expect(try lines.allSatisfy { try JSON($0)["battery"]?["percent"] != nil })
      try await simulator.stop()
      #expect(try await watch.end().status == EX_UNAVAILABLE)
    }
  }

  @Test func traceShowsWhatPassesTheService() async throws {
    try await Sandbox.with { box in
      _ = try await box.simulate()
      let service = try await box.serve()
      try await service.errors(containing: "SIM0001 is attached at")
      let trace = try box.start("trace", "--ask", "--json")
      try await trace.line(containing: #""command":"battery""#)
      let listening = try box.start("trace", "--json")
      // It doesn't say when it has begun.
      while !listening.transcript.value.outputText.contains("616263") {
        #expect(try await box.run("request", "echo", "616263").status == 0)
        try #require(listening.transcript.value.status == nil)
      }
      try await trace.line(containing: "616263")
      for program in [trace, listening] {
        program.signal(SIGINT)
        #expect(try await program.end().status == 0)
      }
    }
  }

  /// Who wants another line than the service has set is told what to do; `detach` is that.
  @Test func letGoForAnotherLine() async throws {
    try await Sandbox.with { box in
      _ = try await box.simulate()
      let service = try await box.serve()
      try await service.errors(containing: "SIM0001 is attached at")
      let refused = try await box.run("info", "--baud", "9600")
      #expect(refused.status == EX_UNAVAILABLE)
      #expect(refused.errorText.contains("bridge-cli attach --end"))
      #expect(try await box.run("detach").outputText == "SIM0001 is detached.\n")
      #expect(try await box.run("info", "--baud", "9600", "--json").json()["line"]?["baud"] == 9_600)
      #expect(try await box.run("detach").status == EX_NOINPUT)
      #expect(try await box.run("attach").outputText == "SIM0001 is attached: the service has it.\n")
      #expect(try await box.run("attach").outputText == "SIM0001 is attached already.\n")
      #expect(try await box.run("attach", "--json").json()["was_attached"] == true)
    }
  }

  @Test func accessoriesOverTheLimitAreNotAttached() async throws {
    try await Sandbox.with { box in
      let service = try await box.serve("--max-accessories", "1")
      _ = try await box.simulate("--serial", "A1")
      try await service.errors(containing: "A1 is attached at")
      _ = try await box.simulate("--serial", "A2")
      try await service.errors(containing: "A2 is not attached: 1 accessory is attached, which is the limit")
      let attach = try await box.run("attach", "A2")
      #expect(attach.status == EX_UNAVAILABLE)
      #expect(attach.errorText.contains("which is the limit"))
    }
  }

  /// Without a service, `attach` is one for its accessory alone.
  @Test func attachIsAServiceForOne() async throws {
    try await Sandbox.with { box in
      _ = try await box.simulate("--serial", "A1")
      _ = try await box.simulate("--serial", "A2")
      let attach = try box.start("attach", "A1")
      try await attach.errors(containing: "A1 is attached at")
      #expect(try await box.run("battery", "A1").status == 0)
      #expect(try await box.run("battery", "A2").status == 0)
      #expect(!attach.transcript.value.errorText.contains("A2"))
      attach.signal(SIGINT)
      #expect(try await attach.end().status == 0)
      #expect(try await box.run("attach", "nobody").status == EX_NOINPUT)
    }
  }

  /// A device that nothing fits is taken for what the user says.
  @Test(arguments: [true, false]) func attachOpensADeviceByTheNamedProfile(withService: Bool) async throws {
    try await Sandbox.with { box in
      var configuration = EV3Simulator.Configuration(seed: 1)
      configuration.isAnnounced = false
      configuration.device.percent = 57
      let brick = EV3Simulator(configuration)
      let path = try await brick.plugIn()
      let service = withService ? try await box.serve() : nil
      let wrong = try await box.run("attach", path, "--profile", "nothing")
      #expect(wrong.status == EX_CONFIG && wrong.errorText.contains("there is no profile nothing"))
      if withService {
        #expect(try await box.run("attach", path, "--profile", "ev3").status == 0)
        #expect(try await box.run("attach", path, "--profile", "ev3").outputText.contains("attached already"))
        let other = try await box.run("attach", path, "--profile", "framed")
        #expect(other.status == EX_UNAVAILABLE && other.errorText.contains("is attached with the profile ev3"))
        // Profiles that are read anew leave it what it is.
        service?.signal(SIGHUP)
        #expect(try await box.run("request", path, "name").outputText == "EV3\n")
      } else {
        let attach = try box.start("attach", path, "--profile", "ev3")
        try await attach.errors(containing: "is attached at \(path)")
      }
      let battery = try await box.run("battery", path, "--json")
      #expect(battery.status == 0, "\(battery.errorText)")
      #expect(try battery.json()["battery"]?["percent"] == 57)
      #expect(try await box.run("attach", "--udev", "--profile", "ev3").status == EX_USAGE)
      await brick.stop()
    }
  }

  /// udev's rule starts the service where none runs, and does nothing when the device goes.
  @Test func udevsRuleStartsTheServiceByAttach() async throws {
    try await Sandbox.with { box in
      let simulator = try await box.simulate()
      let place = box.directory.path + "/rule.socket"
      let variables = [
        "DEVNAME": simulator.path, "ACTION": "add", "ACCESSORY_BRIDGE_SOCKET": place, "ID_VENDOR_ID": "10C4",
        "ID_MODEL_ID": "ea60", "DEVPATH": "/devices/pci0000:00/usb1/1-1/1-1.4/1-1.4:1.0/ttyUSB0/tty/ttyUSB0",
      ]
      #expect(try await box.run("attach", "--udev").status == EX_USAGE)
      #expect(
        try await box.run(
          ["attach", "--udev", "--socket", place], environment: variables.merging(["ACTION": "remove"]) { $1 }
        ).status == 0)
      #expect(!exists(place))
      #expect(try await box.run(["attach", "--udev", "--socket", place], environment: variables).status == 0)
      try await eventually("the service") { exists(place) }
      let again = try await box.run(["attach", "--udev", "--socket", place], environment: variables)
      #expect(again.status == 0, "\(again.errorText)")
      #expect(try await box.run(["battery"], environment: variables).status == 0)
      let second = try await box.run(["serve"], environment: variables)
      let number = second.errorText.split(separator: "process ").last?.prefix { $0.isNumber }
      let process = try #require(number.flatMap { pid_t($0) })
      #expect(kill(process, SIGTERM) == 0)
      try await eventually("the service's end") { !exists(place) }
    }
  }

  /// Nothing that an accessory says of itself becomes anything but text.
  @Test(arguments: ["../../../tmp/evil", "$(touch evil)", "`touch evil`;\u{1b}[31m", "-rf", "--json"])
  func hostileSerialNumbersStayText(serial: String) async throws {
    try await Sandbox.with { box in
      _ = try await box.simulate("--serial=\(serial)")
      let service = try await box.serve()
      try await service.errors(containing: "is attached at")
      #expect(try await box.run(["battery", "--", serial]).status == 0)
      #expect(try await box.run("battery", "--json").json()["device"]?["serial"] == .string(serial))
      #expect(box.directory.names().filter { $0 != "state" } == [])
      #expect(!service.transcript.value.errorText.contains("\u{1b}[31m"))
    }
  }
}
