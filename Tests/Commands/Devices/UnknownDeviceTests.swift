// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// A device that no driver is known for: nothing is sent to it but what the user writes.
@Suite(.timeLimit(.minutes(Patience.minutes(10)))) struct UnknownDeviceTests {
  /// A command that takes a DEVICE, with the port in place of PORT.
  struct Call: Sendable, CustomTestStringConvertible {
    var testDescription: String { words.joined(separator: " ") }
    var words: [String]
    /// How it ends; nil for one that goes on until it is interrupted.
    var status: CInt? = EX_CONFIG
  }

  static let calls = [
    Call(words: ["battery", "PORT"]), Call(words: ["battery", "PORT", "--watch"]),
    Call(words: ["battery", "PORT", "--json"]), Call(words: ["status", "PORT"]),
    Call(words: ["info", "PORT"], status: 0), Call(words: ["info", "PORT", "--passive"], status: 0),
    Call(words: ["values", "PORT"]), Call(words: ["request", "PORT", "identify"]),
    Call(words: ["request", "PORT", "echo", "00"]),
    Call(words: ["request", "PORT", "0x7E", "00"]), Call(words: ["request", "PORT", "stop"]),
    Call(words: ["request", "PORT", "motor-start", "ports=A"]),
    Call(words: ["request", "PORT", "--list"], status: 0), Call(words: ["file", "ls", "PORT"]),
    Call(words: ["file", "get", "PORT", "a", "b"]), Call(words: ["file", "send", "PORT", "/etc/hostname"]),
    Call(words: ["file", "rm", "PORT", "a"]), Call(words: ["file", "mkdir", "PORT", "a"]),
    Call(words: ["bluetooth", "scan", "PORT"]),
    Call(words: ["bluetooth", "connect", "PORT", "00:17:EA:00:00:01"]),
    Call(words: ["trace", "PORT", "--poll", "10ms"]),
    Call(words: ["doctor", "PORT"], status: 0), Call(words: ["attach", "--end", "PORT"], status: EX_UNAVAILABLE),
    // Nobody has agreed to what it would send.
    Call(words: ["profile", "identify", "PORT"], status: EX_USAGE),
    Call(words: ["profile", "identify", "PORT", "--dry-run"], status: 0),
    // Its input is /dev/null.
    Call(words: ["console", "PORT", "--linger", "10ms"], status: 0),
    Call(words: ["bridge", "PORT", "--stdio"], status: 0),
    Call(words: ["trace", "PORT"], status: nil), Call(words: ["set", "PORT", "a=1"]),
    Call(words: ["trace", "PORT", "--listen"], status: nil), Call(words: ["attach", "PORT"], status: nil),
  ]

  /// Commands that open no device that their user names.
  private static let others = [
    "list", "top", "watch", "history", "reset", "serve", "profile", "check", "drivers", "simulate", "replay", "export",
    "web", "notify", "demo", "help", "name", "forget", "setup",
  ]

  /// Every command, by the list of commands itself, so that none is forgotten.
  @Test func everyCommandIsTried() async throws {
    try await Sandbox.with { box in
      let help = try await box.run("help")
      let lines = help.outputText.split(separator: "\n", omittingEmptySubsequences: false)
      let start = try #require(lines.firstIndex(of: "SUBCOMMANDS:"))
      let names = lines[(start + 1)...].prefix { !$0.isEmpty }.filter { $0.hasPrefix("  ") && !$0.hasPrefix("   ") }
        .compactMap { $0.split(separator: " ").first.map(String.init) }
      #expect(names.count > 15)
      let tried = Set(Self.calls.map { $0.words[0] })
      for name in names { #expect(tried.contains(name) || Self.others.contains(name), "\(name)") }
    }
  }

  /// Has the device say something again and again until `body` returns: what is said before a port is open is lost.
  private func say(_ bytes: [UInt8], on recorder: TestTerminal, until body: () async throws -> Void) async throws {
    let talk = Task {
      while !Task.isCancelled {
        _ = try recorder.writeSome(bytes)
        try? await Task.sleep(for: .milliseconds(20))
      }
    }
    defer { talk.cancel() }
    try await body()
  }

  @Test(arguments: calls) func noCommandSendsToAnUnknownDevice(call: Call) async throws {
    try await Sandbox.with { box in
      let recorder = try openPseudoTerminal(raw: true)
      let words = call.words.map { $0 == "PORT" ? recorder.path : $0 }
      let program = try box.start(words, prefix: ["/bin/sh", "-c", #"exec "$0" "$@" < /dev/null"#])
      if call.status == nil {
        // It has the port open, and has had time to say the first thing: it shows what comes, or says that it is held.
        if words[0] == "attach" {
          try await program.errors(containing: "is attached at \(recorder.path) without a driver")
          let battery = try await box.run("battery", recorder.path)
          #expect(battery.status == EX_CONFIG, "\(battery.errorText)")
          #expect(battery.errorText.contains("bridge-cli setup \(recorder.path)"))
          let trace = try box.start("trace", recorder.path)
          try await say(Array("heard".utf8), on: recorder) { try await trace.line(containing: "|heard") }
          trace.signal(SIGINT)
          #expect(try await trace.end().status == 0)
        } else {
          if !words.contains("--listen") { try await program.errors(containing: "only listening") }
          try await say([0x48, 0x49, 0x1B], on: recorder) { try await program.line(containing: "48491b") }
          #expect(program.transcript.value.outputText.contains("|HI."))
        }
        program.signal(SIGINT)
      }
      let ended = try await program.end()
      #expect(ended.status == call.status ?? 0, "\(words): \(ended.outputText)\(ended.errorText)")
      if call.status == EX_CONFIG {
        let text = ended.outputText + ended.errorText
        #expect(text.contains("the protocol of \(recorder.path) is unknown"), "\(words): \(text)")
        #expect(text.contains("bridge-cli setup \(recorder.path) sets it up"), "\(words): \(text)")
        #expect(
          text.contains("bridge-cli profile identify \(recorder.path) finds out") && !text.contains("jbd"), "\(text)")
      }
      #expect(recorder.received() == [], "\(words)")
    }
  }

  /// What no accessory of a driver has is known before the device is opened, which resets some boards: that another program
  /// has it isn't even noticed.
  @Test(
    arguments: [
      ("battery PORT --driver bluno", "doesn't report its battery"),
      ("battery PORT --driver hm1x", "doesn't report its battery"),
      ("battery PORT --watch --driver sdm120", "report its battery"),
      ("ls PORT --driver hm10", "has no files"),
      ("request PORT 0x7E --driver ev3", "takes no requests by number"), ("values PORT --driver bluno", nil),
    ] as [(String, String?)]) func whatADriverLacksIsKnownBeforeOpening(words: String, reason: String?) async throws
  {
    try await Sandbox.with { box in
      let recorder = try openPseudoTerminal(raw: true)
      let holder = try box.start("trace", recorder.path, "--listen", "--json")
      try await say([1, 2, 3], on: recorder) { _ = try await holder.lines(1) }
      let words = words.split(separator: " ").map { $0 == "PORT" ? recorder.path : String($0) }
      let ended = try await box.run(words)
      #expect(ended.status == EX_UNAVAILABLE)
      #expect(ended.errorText.contains("is in use by") == (reason == nil), "\(ended.errorText)")
      if let reason { #expect(ended.errorText.contains(reason), "\(ended.errorText)") }
    }
  }

  /// What the user writes is what is sent.
  @Test func theConsoleSendsUnknownDevicesWhatIsTyped() async throws {
    try await Sandbox.with { box in
      let recorder = try openPseudoTerminal(raw: true)
      let console = try await box.run(
        ["console", recorder.path, "--linger", "10ms"], prefix: ["/bin/sh", "-c", #"echo AT | "$0" "$@""#])
      #expect(console.status == 0)
      #expect(recorder.received() == Array("AT\n".utf8))
      // Which robot it is must be known: what one takes for a stop makes another drive.
      let keys = try box.sit("console", recorder.path, "--keys")
      try await keys.wait(for: "--keys drives robots with a Bluno board (--driver")
      keys.type(" ")
      #expect(try await keys.end() == EX_CONFIG)
      #expect(recorder.received() == [])
    }
  }

  /// A simulator of a later version.
  @Test func anUnknownAnnouncedDriverIsExplained() async throws {
    try await Sandbox.with { box in
      let recorder = try openPseudoTerminal(raw: true)
      #expect(try await box.run("list").status == 0)
      let name = "accessory-bridge/simulated/later.json"
      try box.runtime.write(Array(#"{"path":"\#(recorder.path)","driver":"later","serial":"L1"}"#.utf8), to: name)
      let lock = open(box.runtime.path + "/" + name, O_RDONLY | O_CLOEXEC)
      defer { close(lock) }
      try #require(lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) == 0)
      let battery = try await box.run("battery", "L1")
      #expect(battery.status == EX_CONFIG)
      #expect(
        battery.errorText.contains(
          "L1 (\(recorder.path)) was announced with the driver later, which this version doesn't have"))
      let json = try await box.run("battery", "L1", "--json").json()
      #expect(json["error"]?["kind"] == "misconfigured" && json["error"]?["exit_status"] == 78)
      #expect(recorder.received() == [])
    }
  }

  /// A recording of a line that speaks something else says so, and is shown as it was.
  @Test func aRecordingOfUnknownBytesIsReadBack() async throws {
    try await Sandbox.with { box in
      let recorder = try openPseudoTerminal(raw: true)
      let trace = try box.start("trace", recorder.path, "--listen", "--json", "--record", "bytes.trace")
      try await say([1, 2, 3], on: recorder) { _ = try await trace.lines(2) }
      trace.signal(SIGINT)
      let live = try await trace.end()
      #expect(live.status == 0)
      let first = try JSON(try #require(live.lines.first))
      #expect(first["kind"] == "bytes" && first["payload"]?["hex"]?.text?.hasPrefix("010203") == true)
      #expect(try await box.run("trace", "bytes.trace", "--json").lines == live.lines)
    }
  }
}
