// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// The examples in the help of all commands are typed as they are printed, by somebody who has the accessories and files that they
/// name.
@Suite("Examples in help", .timeLimit(.minutes(Patience.minutes(20)))) struct HelpExampleTests {
  /// What the examples of a command take for granted: the arguments of `simulate` for each accessory. Other commands need none.
  private static let stages = [
    "": ["framed --link ./ttyUSB0"], "list": ["framed"], "info": ["framed --link ./ttyACM0"],
    "status": ["framed --link ./acc"],
    "battery": ["framed --serial SIM0001", "jbd --link ./ttyUSB0"], "values": ["ev3"],
    "history": ["framed --serial SIM0001"],
    "request": ["ev3", "jk02 --serial PACK1", "framed --link ./acc"], "set": ["ev3", "jk02 --serial PACK1"],
    "file": ["ev3", "framed --serial ACC0042"],
    "console": ["hm10 --link ./ttyUSB0", "bluno --link ./robot", "framed --link ./acc"],
    "trace": ["framed --link ./acc --percent 90 --drain 1"], "bridge": ["framed --link ./ttyUSB0 --serial SIM0001"],
    "attach": ["framed --serial SIM0001"],
    "export": ["framed"], "bluetooth": ["hm10 --link ./ttyUSB0"], "reset": ["framed --link ./ttyUSB0"],
    "doctor": ["framed --link ./ttyUSB0"], "profile": ["./mine.yaml --link ./ttyUSB0"],
  ]

  /// Examples that use a service.
  private static let served = [
    "info --service", "history", "export metrics --once", "attach SIM0001 --end",
  ]

  /// Examples that end in another way than with success here, and why.
  private static let others: [(begin: String, status: CInt, reason: String)] = [
    ("bluetooth scan --ble", EX_UNAVAILABLE, "there is no D-Bus"),
    ("bluetooth pair", EX_UNAVAILABLE, "there is no D-Bus"),
    ("bluetooth unpair", EX_UNAVAILABLE, "there is no D-Bus"), ("bluetooth trust", EX_UNAVAILABLE, "there is no D-Bus"),
    ("info usb:2341:0043", EX_NOINPUT, "no such device is plugged in"),
    ("reset /dev/ttyUSB0", EX_UNAVAILABLE, "a pseudo-terminal has no DTR and RTS"),
    ("export metrics --textfile", EX_NOINPUT, "the folder is another program's"),
    ("notify", EX_CONFIG, "nobody has configured a way to tell anybody"),
    ("set PACK1 charge=off --write", EX_NOPERM, "its profile doesn't allow writes"),
    ("simulate ups", EX_UNAVAILABLE, "it needs vhci-hcd"),
    ("profile udev-rules --profile my-gadget", EX_NOINPUT, "nobody has written that profile"),
  ]

  /// Parts of examples that need root, another machine, a person who answers, or another program: their commands have tests of their own.
  private static let notTyped = [
    "sudo ", "10.0.0.7", "0.0.0.0", "wireshark", "--ble Robot", "bridge-cli setup", "bridge-cli profile identify /dev",
    "--write",
    "serve --device", "bridge-cli name ", "bridge-cli forget ",
  ]

  /// Commands that run until they are interrupted.
  private static let running = [
    "top", "watch", "console", "serve", "web", "export nut", "export metrics --listen", "export home-assistant",
    "replay",
    "trace ./acc", "trace /dev", "attach",
    "bridge", "simulate", "bluetooth connect",
  ]

  /// The help of these commands has the examples, by the first word.
  private static let groups = [
    "", "list", "top", "watch", "info", "status", "battery", "values", "history", "request", "set", "file", "console",
    "trace",
    "replay", "bridge", "attach", "serve", "web", "export", "notify", "reset", "bluetooth", "doctor", "drivers",
    "profile", "check",
    "simulate", "demo", "setup", "name", "forget",
  ]

  @Test(arguments: groups) func theExamplesWork(group: String) async throws {
    try await Sandbox.with { box in
      var examples = try await Self.examples(of: group, box)
      if group == "file" {
        // The folder and the file are there before somebody looks.
        let order = ["mkdir", "send", "ls", "get", "rm"]
        func place(_ example: String) -> Int { order.firstIndex { example.contains("file " + $0) } ?? 0 }
        examples = order.indices.flatMap { at in examples.filter { place($0) == at } }
      }
      // What nobody has asked is no recording of the accessory.
      if group == "profile" { examples.removeAll { $0.contains("check mine.yaml --recording") } }
      try await Self.stage(group, box)
      for example in examples where !Self.isServed(example) { try await Self.type(example, box) }
      guard examples.contains(where: Self.isServed) else { return }
      let service = try await box.serve()
      try await service.errors(containing: " is attached at")
      for example in examples where Self.isServed(example) { try await Self.type(example, box) }
    }
  }

  /// No command is left out.
  @Test func everyCommandIsInAGroup() async throws {
    try await Sandbox.with { box in
      let root = try JSON(try await box.run("--experimental-dump-help").outputText)["command"]
      let commands = (root?["subcommands"]?.elements ?? []).compactMap { $0["commandName"]?.text }
      #expect(commands.count > 20 && Set(commands).subtracting(Self.groups + ["help"]).isEmpty, "\(commands)")
    }
  }

  private static func isServed(_ example: String) -> Bool { served.contains { example.hasPrefix("bridge-cli " + $0) } }

  private static func examples(of group: String, _ box: Sandbox) async throws -> [String] {
    let root = try JSON(try await box.run("--experimental-dump-help").outputText)["command"]
    var found: [String] = []
    func collect(_ command: JSON, isWhole: Bool) {
      let lines = (command["discussion"]?.text ?? "").split(separator: "\n", omittingEmptySubsequences: false)
      for line in lines.drop(while: { $0 != "EXAMPLES" }).dropFirst().prefix(while: { !$0.isEmpty }) {
        let text = line.drop { $0 == " " }
        // What an example is for stands behind it.
        found.append(String(text.firstRange(of: "   ").map { text[..<$0.lowerBound] } ?? text))
      }
      guard isWhole else { return }
      for next in command["subcommands"]?.elements ?? [] { collect(next, isWhole: true) }
    }
    let own = root?["subcommands"]?.elements.first { $0["commandName"]?.text == group }
    if let command = group.isEmpty ? root : own { collect(command, isWhole: !group.isEmpty) }
    return found.filter { example in !notTyped.contains { example.contains($0) } }
  }

  /// Makes the files, and plugs in the accessories.
  private static func stage(_ group: String, _ box: Sandbox) async throws {
    try box.directory.write(
      Array(
        """
        protocol: mine
        version: 1
        framings:
          line: {layout: [data, end: "\\n"]}
        messages:
          state: {pattern: "T{temperature}", types: {temperature: {type: number, unit: °C}}}
        requests:
          state: {send: line, data: "T", reply: state}
        plan:
          poll: [{requests: [state]}]
        """.utf8), to: "mine.yaml")
    try box.directory.write([0x55, 0xAA], to: "firmware.bin")
    try box.directory.write([1, 2, 3], to: "tst.rbf")
    for (name, text, mode) in [
      ("on-event.sh", "#!/bin/sh\n", 0o755), ("token", "0123456789abcdef0123456789abcdef\n", 0o600),
      ("nut.users", "[admin]\n  password = secret\n", 0o600),
    ] as [(String, String, mode_t)] {
      try box.directory.write(Array(text.utf8), to: name)
      chmod(box.directory.path + "/" + name, mode)
    }
    if ["trace", "replay", "profile", "check"].contains(group) { try await record(box) }
    for words in stages[group] ?? [] {
      let program = try box.start(["simulate"] + words.split(separator: " ").map(String.init), limit: Sandbox.longLife)
      try await program.line(containing: " is plugged in at ")
    }
  }

  /// Records `session.trace`, of an accessory that mine.yaml describes.
  private static func record(_ box: Sandbox) async throws {
    let gadget = try await box.simulate(kind: "./mine.yaml", "--set", "temperature=21.5", "--serial", "GADGET")
    for name in ["session.trace", "old.trace"] {
      let recorder = try box.start(
        "trace", "GADGET", "--driver", "./mine.yaml", "--poll", "50ms", "--record", name)
      _ = try await recorder.lines(12)
      recorder.signal(SIGINT)
      try await recorder.end()
    }
    try await gadget.stop()
  }

  private static func type(_ example: String, _ box: Sandbox) async throws {
    let line = example.replacing(#//dev/(tty(?:USB|ACM)[0-9])/#) { "./\($0.output.1)" }.replacing(
      " ttyUSB0", with: " ./ttyUSB0")
    let words = example.replacing("bridge-cli ", with: "")
    let isList = !Set(["--help", "--list", "--end", "--once", "--show-key"]).isDisjoint(
      with: line.split(separator: " ").map(String.init))
    let isPiped = line.contains(" | ")
    let staysRunning =
      !isList && (line.contains("--watch") || words == "trace" || running.contains { words.hasPrefix($0) })
      && (!isPiped || line.contains("watch"))
    let command = line.hasSuffix(" &") ? String(line.dropLast(2)) : line
    // What was sent isn't here any more when it is fetched.
    if command.contains("file get") { unlink(box.directory.path + "/tst.rbf") }
    let program = try box.sit(
      shell: (staysRunning && !isPiped ? "exec " : "") + command, environment: environment(box), columns: 120)
    if staysRunning {
      // Something happens, so that it has something to say.
      let event = words.hasPrefix("watch") ? try await box.simulate("--serial", "EVENT") : nil
      defer { event?.program.signal(SIGINT) }
      _ = try await program.state.wait {
        $0.status != nil || $0.text.contains { $0 == "\n" || $0 == "\r\n" || $0 == "\u{1B}" }
      }
      // An error is printed before the program ends by itself.
      if !program.state.value.text.contains("bridge-cli: ") {
        if isPiped { program.end(by: SIGINT) } else { program.signal(SIGINT) }
      }
    }
    let status = try await program.end()
    let expected = others.first { words.hasPrefix($0.begin) }?.status ?? 0
    #expect(
      status == expected || staysRunning && (status == 128 + SIGINT || isPiped && status == -1),
      "\(line) ended with \(status): \(program.state.value.text)")
  }

  private static func environment(_ box: Sandbox) -> [String: String] {
    var variables = box.variables(["HOME": box.directory.path, "NO_COLOR": "1", "LANG": "C.UTF-8", "TERM": "xterm"])
    let folder = Sandbox.command.split(separator: "/").dropLast().joined(separator: "/")
    variables["PATH"] = "/\(folder):/usr/bin:/bin"
    return variables
  }
}
