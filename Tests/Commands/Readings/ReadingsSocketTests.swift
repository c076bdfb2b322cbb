// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryIO
import Glibc
import TestSupport
import Testing

extension Sandbox {
  /// Where the service answers those who may only read.
  fileprivate var readingsSocket: String { runtime.path + "/accessory-bridge/readings.socket" }

  /// Writes the user's own configuration of the service.
  func configure(_ text: String) throws {
    for folder in ["/config", "/config/accessory-bridge"] { mkdir(directory.path + folder, 0o700) }
    try directory.write(Array(text.utf8), to: "config/accessory-bridge/service.yaml")
  }

  /// The answer to one call.
  fileprivate func call<Method: ControlMethod>(
    _ method: Method, at place: String? = nil
  ) async throws -> Method.Reply {
    try await ControlClient.connect(to: place ?? readingsSocket).call(method)
  }

  /// What a command by name ends with for somebody who may only read; nil when it was performed.
  fileprivate func performing(_ name: String, _ arguments: [String: String] = [:]) async -> AccessoryError? {
    do {
      _ = try await call(Bridge.Perform(commands: [.init(name, arguments)]))
      return nil
    } catch {
      return (error as? ControlError)?.accessoryError ?? error as? AccessoryError
    }
  }
}

/// `serve` answers on a second socket, for those who may read but not act.
@Suite(.timeLimit(.minutes(Patience.minutes(10)))) struct ReadingsSocketTests {
  @Test func theServiceAnswersOnBoth() async throws {
    try await Sandbox.with { box in
      let simulator = try await box.simulate("--percent", "57")
      let service = try await box.serve()
      try await service.errors(containing: "SIM0001 is attached at")
      #expect(service.transcript.value.errorText.contains("answering read-only clients on \(box.readingsSocket)"))
      var file = stat()
      #expect(lstat(box.readingsSocket, &file) == 0 && file.st_mode == S_IFSOCK | 0o660)
      #expect(try await box.call(Bridge.GetBattery()).battery.percent == 57)
      // Without a configuration no command is permitted, also none that reads.
      #expect(try await box.call(Bridge.GetCommands()).commands.isEmpty)
      #expect(await box.performing("battery")?.kind == .permissionDenied)
      let refusal = await #expect(throws: ControlError.self) { try await box.call(Bridge.Request(command: "echo")) }
      #expect(refusal?.accessoryError.message.contains("call it on \(box.socket)") == true)
      let shown = try await box.run("service")
      #expect(shown.lines.contains("Readings     \(box.readingsSocket)"), "\(shown.outputText)")
      for place in [box.socket, box.readingsSocket] {
        let document = try await box.run("service", "--json", "--socket", place).json()
        #expect(document["readings_socket"] == .string(box.readingsSocket), "\(place)")
        #expect(document["socket"] == .string(box.socket), "\(place)")
      }
      // Commands use the one for everything.
      #expect(try await box.run("request", "echo", "00").status == 0)
      try await simulator.stop()
      service.signal(SIGTERM)
      #expect(try await service.end().status == 0)
      #expect(!exists(box.readingsSocket))
    }
  }

  /// Where it is: beside the other, where the option or the variable says, or nowhere.
  @Test func thePlaceOfTheReadingsSocketCanBeChosen() async throws {
    try await Sandbox.with { box in
      func place(_ arguments: [String], _ environment: [String: String] = [:]) async throws -> JSON? {
        let service = try box.start(["serve", "--json"] + arguments, environment: environment, limit: Sandbox.longLife)
        let line = try await service.line { $0.contains(#""event":"serving""#) }
        service.signal(SIGTERM)
        try await service.end()
        return try JSON(line)["readings_socket"]
      }
      let folder = box.directory.path
      #expect(try await place(["--socket", folder + "/a.socket"]) == .string(folder + "/a-readings.socket"))
      #expect(try await place(["--socket", folder + "/bridge.socket"]) == .string(folder + "/readings.socket"))
      #expect(try await place(["--readings-socket", folder + "/r"]) == .string(folder + "/r"))
      #expect(try await place(["--readings-socket", "none"]) == .null)
      let variable = "ACCESSORY_BRIDGE_READINGS_SOCKET"
      #expect(try await place([], [variable: folder + "/v"]) == .string(folder + "/v"))
      #expect(try await place([], [variable: "none"]) == .null)
      #expect(try await place(["--readings-socket", folder + "/r"], [variable: "none"]) == .string(folder + "/r"))
      #expect(try await place([]) == .string(box.readingsSocket))
      #expect(!exists(box.readingsSocket))
      // Another service's is not taken away from it.
      let first = try await box.serve("--readings-socket", folder + "/r")
      let second = try await box.run("serve", "--socket", folder + "/s", "--readings-socket", folder + "/r")
      #expect(second.status == EX_CONFIG && second.errorText.contains("another service answers on \(folder)/r"))
      #expect(try await box.call(Bridge.List(), at: folder + "/r").accessories.isEmpty)
      #expect(first.transcript.value.status == nil)
    }
  }

  /// Its file comes back, too, when somebody removes it.
  @Test func itsFileComesBack() async throws {
    try await Sandbox.with { box in
      let service = try await box.serve()
      #expect(unlink(box.readingsSocket) == 0)
      try await service.errors(containing: "the socket \(box.readingsSocket) or its lock was removed")
      _ = try await box.call(Bridge.List())
      _ = try await box.call(Bridge.List(), at: box.socket)
    }
  }

  /// Commands of a user who isn't permitted to use the other socket go through this one, and read.
  @Test(.enabled(if: geteuid() == 0, "only root can be others"))
  func commandsOfOtherUsersReadThroughTheReadingsSocket() async throws {
    try await Sandbox.with { box in
      let simulator = try await box.simulate("--percent", "57")
      chmod(box.directory.path, 0o711)
      let folder = box.directory.path + "/public"
      // What is made in it gets its group.
      #expect(mkdir(folder, 0o755) == 0 && chown(folder, 0, 65_533) == 0 && chmod(folder, 0o2755) == 0)
      let place = folder + "/bridge.socket"
      let service = try await box.serve("--socket", place)
      try await service.errors(containing: "SIM0001 is attached at")
      #expect(chmod(place, 0o600) == 0)
      func run(_ words: String...) async throws -> Program.Transcript {
        try await box.start(
          words, environment: ["ACCESSORY_BRIDGE_SOCKET": place, "ACCESSORY_BRIDGE_SOURCES": "none"],
          prefix: ["setpriv", "--reuid=65534", "--regid=65533", "--clear-groups"]
        ).end()
      }
      let battery = try await run("battery", "SIM0001")
      #expect(battery.status == 0 && battery.outputText.hasPrefix("57 %"), "\(battery.errorText)")
      #expect(try await run("status", "SIM0001").status == 0)
      let request = try await run("request", "SIM0001", "echo", "00")
      #expect(request.status == EX_NOPERM && request.errorText.contains("call it on \(place)"), "\(request.errorText)")
      try await simulator.stop()
    }
  }

  // MARK: - The configuration

  @Test func theConfigurationPermitsCommands() async throws {
    try await Sandbox.with { box in
      try box.configure(
        """
        commands:
        - accessory: SIM0001
          command: echo
          arguments: {payload: {allowed: ["0102", aabb]}}
          at_most: 2 every 1h
        - {driver: framed, command: command, arguments: {number: {min: 66, max: 70}}}
        """)
      let simulator = try await box.simulate()
      let service = try await box.serve()
      try await service.errors(containing: "SIM0001 is attached at")
      #expect(service.transcript.value.errorText.contains("service.yaml permits 2 commands to read-only clients"))
      let commands = try await box.call(Bridge.GetCommands()).commands
      #expect(commands.map(\.name) == ["echo", "command"])
      #expect(commands.first?.arguments.first?.kind == .choice(["0102", "aabb"]))
      #expect(commands.last?.arguments.map(\.name) == ["number"])
      #expect(commands.last?.arguments.first?.kind == .whole(66...70))
      #expect(await box.performing("battery")?.kind == .permissionDenied)
      #expect(await box.performing("echo", ["payload": "0103"])?.kind == .permissionDenied)
      #expect(await box.performing("command", ["number": "65"])?.kind == .permissionDenied)
      #expect(await box.performing("command", ["number": "66", "payload": ""])?.kind == .permissionDenied)
      #expect(await box.performing("echo", ["payload": "AABB"]) == nil)
      let reply = try await box.call(Bridge.Perform(commands: [.init("echo", ["payload": "0102"])]))
      #expect(reply.replies.first?.values.first == .bytes([1, 2]))
      let tooOften = await box.performing("echo", ["payload": "0102"])
      #expect(tooOften?.kind == .busy && tooOften?.message.contains("2 every 1h at most: try again in") == true)
      // On the other socket nothing of that counts.
      #expect(try await box.run("request", "echo", "0103").status == 0)

      // Read again, it permits something else; a mistake in it leaves things as they were.
      try box.configure("commands: [{driver: framed, command: battery}]")
      service.signal(SIGHUP)
      try await service.errors(containing: "service.yaml permits 1 command to")
      #expect(await box.performing("battery") == nil)
      #expect(await box.performing("echo", ["payload": "0102"])?.kind == .permissionDenied)
      try box.configure("commands: [{driver: framed, command: batery}]")
      service.signal(SIGHUP)
      try await service.errors(containing: "the changed configuration is not used, and the old one stays in effect: ")
      #expect(await box.performing("battery") == nil)
      try await simulator.stop()
    }
  }

  /// With a mistake in the usual file the service runs, and permits nothing; in one that is named, it doesn't run.
  @Test func mistakesInTheServicesConfigurationPermitNothing() async throws {
    try await Sandbox.with { box in
      try box.configure("commands:\n- {driver: framed, comand: battery}\n")
      let place = box.directory.path + "/config/accessory-bridge/service.yaml"
      let message = "service.yaml:2:20: unknown key \"comand\": did you mean command?"
      let checked = try await box.run("service", "check")
      #expect(checked.status == EX_CONFIG && checked.outputText.contains(place) && checked.outputText.contains(message))
      let document = try await box.run("service", "check", place, "--json").json()
      #expect(document["files"]?[0]?["problems"]?[0]?["line"] == .number(2))
      #expect(document["files"]?[0]?["ok"] == .bool(false))
      let simulator = try await box.simulate()
      let service = try await box.serve()
      try await service.errors(containing: "SIM0001 is attached at")
      #expect(service.transcript.value.errorText.contains("configuration not used: \(place):2:20: "))
      #expect(try await box.call(Bridge.GetCommands()).commands.isEmpty)
      #expect(await box.performing("battery")?.kind == .permissionDenied)
      service.signal(SIGTERM)
      try await service.end()
      let named = try await box.run("serve", "--config", place)
      #expect(named.status == EX_CONFIG && named.errorText.contains(message), "\(named.errorText)")
      let missing = try await box.run("serve", "--config", "missing.yaml")
      #expect(missing.status == EX_NOINPUT && missing.errorText.contains("missing.yaml"), "\(missing.errorText)")
      // Of several files each is checked.
      try box.directory.write(Array("commands:\n- {driver: framed, command: battery}\n".utf8), to: "good.yaml")
      let both = try await box.run("service", "check", "good.yaml", place)
      #expect(both.status == EX_CONFIG && both.lines.first == "good.yaml: fine, it permits 1 command")
      #expect(try await box.run("service", "check", "good.yaml").status == 0)
      let running = try await box.serve("--config", "good.yaml")
      try await running.errors(containing: "good.yaml permits 1 command to")
      try await running.errors(containing: "SIM0001 is attached at")
      #expect(await box.performing("battery") == nil)
      try await simulator.stop()
    }
  }
}
