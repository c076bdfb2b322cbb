// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// Every command with `--json`: each document that it prints is one of those that the schema describes for it.
@Suite(.timeLimit(.minutes(Patience.minutes(10)))) struct EveryCommandTests {
  @Test func everyCommandPrintsDescribedDocuments() async throws {
    var seen = SeenDocuments(try DocumentSchema())
    try await Sandbox.with { try await Self.withoutDevice($0, &seen) }
    try await Sandbox.with { try await Self.framed($0, &seen) }
    try await Sandbox.with { try await Self.service($0, &seen) }
    try await Sandbox.with { try await Self.brick($0, &seen) }
    try await Sandbox.with { try await Self.module($0, &seen) }
    try await Sandbox.with { try await Self.described($0, &seen) }
    try await Sandbox.with { try await Self.simulators($0, &seen) }
    let all = try await Self.commands()
    #expect(all.filter { !seen.commands.contains($0) } == [], "each command is run here")
    // The list of a fleet needs a broker.
    // A Bluetooth adapter is only in the lab.
    #expect(
      seen.schema.documents.filter { !seen.kinds.contains($0) } == ["bluetooth_found", "bluetooth_scan", "fleet_list"],
      "each document is seen here")
    try seen.checkMutations()
  }

  /// The words of all commands that do something, as the command itself tells them.
  private static func commands() async throws -> [String] {
    var found: [String] = []
    func collect(_ command: JSON, _ words: [String]) {
      let others = command["subcommands"]?.elements ?? []
      if others.isEmpty { found.append(words.joined(separator: " ")) }
      for other in others { collect(other, words + [other["commandName"]?.text ?? ""]) }
    }
    try await Sandbox.with { box in
      let help = try await box.run("--experimental-dump-help")
      collect(try JSON(help.outputText)["command"] ?? nil, [])
    }
    return found.filter { $0 != "help" }
  }

  private static func withoutDevice(_ box: Sandbox, _ seen: inout SeenDocuments) async throws {
    try await seen.run(box, "list", as: ["device_list"])
    try await seen.run(box, "doctor", as: ["doctor"])
    try await seen.run(box, "battery", as: ["error"], status: 66)
    try await seen.run(box, "info", "--service", as: ["error"], status: 69)
    try await seen.run(box, "profile", "udev-rules", as: ["udev_rules"])
    try await seen.run(box, "drivers", as: ["driver_list"])
    try await seen.run(box, "simulate", "--list", as: ["simulator_list"])
    try await seen.run(box, "--version", as: ["version"])
    try await seen.run(box, "profile", "list", as: ["profile_list"])
    try await seen.run(box, "profile", "show", "framed", as: ["profile"])
    try box.directory.write(Array("name: x\nbaud: 7\n".utf8), to: "bad.yaml")
    try await seen.run(box, "check", "bad.yaml", as: ["profile_check"], status: 78)
    for old in ["profile", "service", "share"] {
      try await seen.run(box, old, "check", "bad.yaml", as: ["profile_check"], status: 78)
    }
    try await seen.run(box, "request", "--list", as: ["command_list"])
    try await seen.run(box, "profile", "identify", "--dry-run", as: ["identification"])
    try await seen.run(box, "setup", as: ["error"], status: 64)
    try await seen.run(box, "setup", "--undo", "nothing", as: ["error"], status: 66)
    for words in [
      ["show"], ["add-task", "Dance"], ["rename-task", "1", "Sing"], ["move-task", "4", "1"], ["remove-task", "2"],
      ["set-key", "up", "u"], ["end-lines", "on"], ["reset"],
    ] { try await seen.run(box, ["bluetooth", "remote"] + words, as: ["remote"]) }
    try await seen.run(box, "bluetooth", "remote", "remove-task", "77", as: ["error"], status: 64)
    try await seen.run(box, "demo", as: ["accessory_event"])
    // A screen, which has no documents but of errors.
    try await seen.run(box, "top", as: ["error"], status: 64)
    // Before there is a command.
    try await seen.run(box, "batery", as: ["error"], status: 64)
    try await seen.run(box, "list", "--nonsense", as: ["error"], status: 64)
    for wrong in [["file", "rm"], ["mkdir", "x"], ["serve", "--socket", "/nonexistent/x"], ["demo", "x"]] {
      let ended = try await box.run(wrong + ["--json"])
      #expect(ended.status != 0)
      try seen.check(ended.lines, as: ["error"], wrong)
    }
  }

  private static func framed(_ box: Sandbox, _ seen: inout SeenDocuments) async throws {
    let simulator = try box.start(
      [
        "simulate", "framed", "--percent", "57", "--drain", "0.3", "--window", "4", "--json", "--seed", "\(UInt64.max)",
      ],
      limit: Sandbox.longLife)
    let first = try JSON(try await simulator.line { _ in true })
    #expect(first["seed"] == .string("\(UInt64.max)"), "no reader of JSON holds that as a number")
    try await seen.run(box, "list", as: ["device_list"])
    try await seen.run(box, "info", as: ["information"])
    try await seen.run(box, "info", "--passive", as: ["information"])
    try await seen.run(box, "status", as: ["status"])
    try await seen.run(box, "battery", as: ["battery"])
    try await seen.run(box, "request", "echo", "00ff", as: ["request"])
    try await seen.run(box, "request", "status", as: ["request"])
    try await seen.run(box, "request", "command", "number=1", as: ["replies"])
    try await seen.run(box, "setup", "--yes", "--name", "lamp", as: ["setup"])
    try await seen.run(box, "setup", "--undo", "lamp", as: ["setup_undone"])
    try await seen.run(box, "request", "command", "number=1", "--dry-run", as: ["dry_run"])
    try await seen.run(box, "request", "0x55", as: ["error"], status: 76)
    try box.directory.write([UInt8](repeating: 7, count: 3_000), to: "file.bin")
    try await seen.run(box, "file", "send", "SIM0001", "file.bin", as: ["progress", "transfer"])
    try await seen.follow(box, ["battery", "--watch"], lines: 2, as: ["battery"])
    try await seen.follow(box, ["watch"], lines: 1, as: ["device_event"])
    try await seen.follow(
      box, ["watch", "--alarm", "battery <= 100 %"], lines: 2, as: ["device_event", "alarm_event"])
    try await seen.follow(box, ["bridge", "SIM0001", "--tcp", "0"], lines: 2, as: ["bridge_event"])
    try await seen.follow(box, ["trace", "--ask", "--record", "new.trace"], lines: 2, as: ["trace"])
    try await seen.run(box, "trace", "new.trace", as: ["trace"])
    // Of which the beginning is kept, and nobody sends anything.
    try await seen.run(
      box, "replay", "new.trace", "--tcp", "127.0.0.1:0", "--patience", "10ms", as: ["replay_event", "error"],
      status: 75)
    let old = try await box.run("trace", OldVersion.folder + "/recordings/framed.trace", "--json")
    try seen.check(old.lines, as: ["trace"], ["trace", "of version 0.1"])
    #expect(try JSON(old.lines.first ?? "")["time"] == JSON.null, "version 0.1 didn't keep when it was")
    let console = try await box.run(
      ["console", "SIM0001", "--raw", "--linger", "200ms", "--json"],
      prefix: ["/bin/sh", "-c", #"printf '\017\360\021\000' | "$0" "$@""#])
    try seen.check(console.lines, as: ["console_event"], ["console"])
    simulator.signal(SIGINT)
    try seen.check(try await simulator.end().lines, as: ["simulator_event"], ["simulate", "framed"])
  }

  private static func service(_ box: Sandbox, _ seen: inout SeenDocuments) async throws {
    let simulator = try await box.simulate("--percent", "57", "--drain", "10")
    let service = try box.start(["serve", "--json"], limit: Sandbox.longLife)
    try await service.line { $0.contains(#""event":"connected""#) }
    try await service.line { $0.contains(#""event":"battery""#) }
    try await seen.run(box, "serve", as: ["serving", "log"])
    try await seen.run(box, "info", "--service", as: ["service"])
    try await seen.run(box, "list", as: ["device_list"])
    try await seen.run(box, "info", as: ["information"])
    try await seen.run(box, "status", as: ["status"])
    try await seen.run(box, "battery", as: ["battery"])
    try await seen.run(box, "battery", "--all", as: ["battery_list"])
    try await seen.run(box, "battery", "--history", as: ["history"])
    try await seen.run(box, "history", as: ["history"])
    try await seen.run(box, "export", "metrics", "--once", as: ["metrics"])
    let messages = "messages: [{name: one, run: /bin/true}, {name: two, run: /bin/false}]"
    try box.directory.write(Array(messages.utf8), to: "messages.yaml")
    try await seen.run(
      box, "notify", "--test", "--config", "messages.yaml", as: ["message_test", "error"], status: nil)
    try await seen.run(box, "values", as: ["values", "error"], status: nil)
    for what in ["nut", "metrics", "home-assistant"] {
      try await seen.follow(box, ["export", what, "--listen", "127.0.0.1:0"], lines: 1, as: ["bridge_event"])
    }
    try await seen.run(box, "export", "home-assistant", "--show-key", as: ["key"])
    try await seen.follow(box, ["web", "--listen", "127.0.0.1:0"], lines: 1, as: ["bridge_event"])
    try await seen.run(box, "attach", "--end", as: ["detached"])
    try await seen.run(box, "attach", as: ["attached"])
    try await seen.run(box, "name", "SIM0001", "House battery", as: ["named"])
    service.signal(SIGINT)
    try seen.check(try await service.end().lines, as: ["serving", "log", "accessory_event"], ["serve"])
    // One that holds it alone.
    let holder = try box.start(["attach", "--json"], limit: Sandbox.longLife)
    try await holder.line { $0.contains(#""event":"connected""#) }
    holder.signal(SIGINT)
    try seen.check(try await holder.end().lines, as: ["serving", "log", "accessory_event"], ["attach"])
    try await simulator.stop()
    // The next service knows that it was there.
    let next = try await box.serve()
    try await next.errors(containing: "looking for accessories")
    try await seen.run(box, "list", as: ["device_list"])
    try await seen.run(box, "forget", "House battery", as: ["forgotten"])
  }

  private static func brick(_ box: Sandbox, _ seen: inout SeenDocuments) async throws {
    let simulator = try await box.simulate(kind: "ev3")
    try box.directory.write([UInt8](repeating: 7, count: 3_000), to: "file.bin")
    try await seen.run(box, "file", "mkdir", "EV3", "../prjs/new", as: ["folder_change"])
    try await seen.run(box, "file", "send", "EV3", "file.bin", "../prjs/new/f.bin", as: ["progress", "transfer"])
    try await seen.run(box, "file", "ls", "EV3", "../prjs/new", as: ["folder"])
    try await seen.run(box, "file", "get", "EV3", "../prjs/new/f.bin", "got.bin", as: ["progress", "transfer"])
    try await seen.run(box, "file", "rm", "EV3", "../prjs/new/f.bin", as: ["folder_change"])
    try await seen.run(box, "file", "rm", "EV3", "../prjs/new/f.bin", as: ["error"], status: 76)
    try await seen.run(box, "values", "EV3", as: ["values"])
    try await seen.run(box, "request", "EV3", "motor-read", "port=A", as: ["replies"])
    try await seen.run(box, "set", "EV3", "volume=50", "--dry-run", as: ["dry_run"])
    try await seen.run(box, "set", "EV3", "volume=50", as: ["replies"])
    try await simulator.stop()
  }

  private static func module(_ box: Sandbox, _ seen: inout SeenDocuments) async throws {
    let simulator = try await box.simulate(
      kind: "hm10", "--central", "--neighbours", "2", "--scan-time", "300ms", "--seed", "3")
    try await seen.run(box, "bluetooth", "scan", "--timeout", "1s", as: ["scan_found", "scan_ended"])
    // What they change, they change in this computer.
    for command in ["pair", "unpair", "trust"] {
      try await seen.run(box, "bluetooth", command, "/dev/null", as: ["error"], status: 64)
    }
    let connect = try await box.run(
      ["bluetooth", "connect", "1", "--linger", "200ms", "--json"],
      prefix: ["/bin/sh", "-c", #"printf on | "$0" "$@""#])
    try seen.check(connect.lines, as: ["connection_event", "error"], ["bluetooth", "connect"])
    try await simulator.stop()
  }

  private static func described(_ box: Sandbox, _ seen: inout SeenDocuments) async throws {
    let simulator = try await box.simulate(kind: "described", "--profile", "jbd")
    try await seen.run(box, "profile", "identify", "SIM0001", "--only", "jbd", "--yes", as: ["identification"])
    try await seen.run(box, "values", as: ["values"])
    try await seen.follow(box, ["trace", "--poll", "50ms", "--record", "jbd.trace"], lines: 60, as: ["trace"])
    try await seen.run(box, "profile", "new", "--from", "jbd.trace", as: ["profile_proposal"])
    let proposal = try await box.run("profile", "new", "--from", "jbd.trace")
    try box.directory.write(proposal.output, to: "new.yaml")
    try await seen.run(
      box, "check", "new.yaml", "--recording", "jbd.trace", as: ["profile_check"], status: nil)
    try await simulator.stop()
  }

  private static func simulators(_ box: Sandbox, _ seen: inout SeenDocuments) async throws {
    for words in [
      ["ev3"], ["hm10"], ["bluno"], ["hm1x"], ["mavlink"], ["loopback"], ["loopback", "--rfc2217", "0"],
      ["described", "--profile", "daly"],
    ] {
      try await seen.follow(box, ["simulate"] + words, lines: 1, as: ["simulator_event"])
    }
    // A UPS needs the kernel's virtual USB port, which the lab has.
    try await seen.run(box, "simulate", "ups", "--percent", "200", as: ["error"], status: 64)
    let plug = try box.start(["simulate", "loopback", "--rfc2217", "0"], limit: Sandbox.longLife)
    let place = try await plug.line { $0.contains("rfc2217:") }.split(separator: " ").first { $0.hasPrefix("rfc2217:") }
    try await seen.run(box, "reset", String(try #require(place)), "--reset", "esp", as: ["line_reset"])
  }
}

/// What commands have printed.
struct SeenDocuments {
  let schema: DocumentSchema
  private(set) var commands: Set<String> = []
  private(set) var kinds: Set<String> = []
  /// One document of each form: which fields it has, and which of them are null.
  private var forms: [String: JSON] = [:]

  init(_ schema: DocumentSchema) { self.schema = schema }

  /// Takes what a command has printed, which is of these kinds.
  mutating func check(
    _ lines: some Collection<String>, as kinds: [String], _ words: [String],
    _ location: SourceLocation = #_sourceLocation
  ) throws {
    commands.formUnion([words.prefix(1), words.prefix(2), words.prefix(3)].map { $0.joined(separator: " ") })
    #expect(!lines.isEmpty, "\(words) prints nothing", sourceLocation: location)
    for line in lines {
      let document = try JSON(line)
      let problems = try schema.problems(in: document, asOneOf: kinds)
      #expect(problems == [], "\(words): \(line.prefix(500))", sourceLocation: location)
      let kinds = try schema.kinds(of: document)
      #expect(kinds.count == 1 && kinds.first == document["document"]?.text, sourceLocation: location)
      self.kinds.formUnion(kinds)
      forms[DocumentMutations.form(document)] = document
    }
  }

  /// In each document that was seen, anything that becomes wrong is refused.
  func checkMutations() throws {
    for document in forms.values {
      let taken = try DocumentMutations.taken(of: document, by: schema)
      #expect(taken == [], "\(document["document"]?.text ?? "")")
    }
  }

  /// Runs a command to its end.
  mutating func run(
    _ box: Sandbox, _ words: [String], as kinds: [String], status: CInt? = 0,
    _ location: SourceLocation = #_sourceLocation
  ) async throws {
    let ended = try await box.run(words + ["--json"])
    if let status {
      #expect(ended.status == status, "\(words): \(ended.outputText)\(ended.errorText)", sourceLocation: location)
    }
    try check(ended.lines, as: kinds, words, location)
  }

  mutating func run(
    _ box: Sandbox, _ words: String..., as kinds: [String], status: CInt? = 0,
    _ location: SourceLocation = #_sourceLocation
  ) async throws { try await run(box, words, as: kinds, status: status, location) }

  /// Runs a command that goes on until it has printed so much.
  mutating func follow(
    _ box: Sandbox, _ words: [String], lines count: Int, as kinds: [String],
    _ location: SourceLocation = #_sourceLocation
  ) async throws {
    let program = try box.start(words + ["--json"])
    _ = try await program.lines(count)
    program.signal(SIGINT)
    try check(try await program.end().lines, as: kinds, words, location)
  }
}
