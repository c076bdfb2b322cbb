// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import Glibc
import TestSupport
import Testing

/// `replay`: the accessory's side of a recording, and what is said of a host that differs.
@Suite(.timeLimit(.minutes(Patience.minutes(10)))) struct ReplayCommandTests {
  /// Records what commands say to a simulated accessory, through a bridge.
  private func record(_ box: Sandbox, _ kind: [String], _ commands: [[String]]) async throws {
    let simulator = try box.start(["simulate"] + kind + ["--link", "original"], limit: Sandbox.longLife)
    try await simulator.line(containing: " is plugged in at ")
    let driver = kind.first == "--profile" ? kind[1] : kind[0]
    let bridge = try box.start(
      ["bridge", "./original", "--driver", driver, "--by", "bytes", "--pty", "shared", "--record", "session.trace"],
      limit: Sandbox.longLife)
    try await bridge.errors(containing: "is open")
    for command in commands {
      let ended = try await box.run([command[0], "./shared", "--driver", driver] + command.dropFirst())
      #expect(ended.status == 0, "\(ended.errorText)")
    }
    bridge.signal(SIGINT)
    #expect(try await bridge.end().status == 0)
    simulator.signal(SIGINT)
    _ = try await simulator.end()
  }

  /// A replay that has been plugged in.
  private func replay(_ box: Sandbox, _ arguments: String...) async throws -> Program {
    let replay = try box.start(["replay", "session.trace"] + arguments, limit: Sandbox.longLife)
    try await replay.line { $0.contains("plugged in at") || $0.contains("plugged_in") }
    return replay
  }

  /// What a bridge has recorded of two commands: the replay tells them the same, and finds nothing different.
  @Test(arguments: [
    ["framed", "--percent", "57"], ["ev3", "--percent", "57"],
  ])
  func theSameCommandsGetTheSameAnswers(kind: [String]) async throws {
    try await Sandbox.with { box in
      try await record(box, kind, [["battery"], ["info"]])
      for way in [["--link", "again"], ["--link", "again", "--speed", "max"], ["--tcp", "127.0.0.1:0"]] {
        // Over the network a brick expects a greeting, which a serial line doesn't have.
        if way[0] == "--tcp", kind[0] == "ev3" { continue }
        let replay = try box.start(["replay", "session.trace"] + way, limit: Sandbox.longLife)
        let line = try await replay.line(containing: " is plugged in at ")
        #expect(line.hasPrefix("REPLAY1 "))
        // It announces itself, so no name is needed.
        let battery = try await box.run("battery", "--json")
        #expect(battery.status == 0, "\(battery.errorText)")
        #expect(try battery.json()["battery"]?["percent"] == 57)
        let info = try await box.run("info", "--json")
        #expect(info.status == 0, "\(info.errorText)")
        let ended = try await replay.end()
        #expect(ended.status == 0, "\(ended.outputText) \(ended.errorText)")
        #expect(ended.outputText.contains("replayed to the end"))
        #expect(box.announcements.isEmpty && !box.directory.names(in: "").contains("again"))
      }
    }
  }

  @Test func theFirstDifferenceIsShown() async throws {
    try await Sandbox.with { box in
      try await record(box, ["ev3"], [["battery"]])
      let replay = try await replay(box, "--link", "again")
      let host = try box.start("ls", "./again")
      let ended = try await replay.end()
      #expect(ended.status == EX_DATAERR)
      let lines = ended.lines.drop { !$0.hasPrefix("first difference: at offset ") }
      #expect(lines.count == 5, "\(ended.outputText)")
      #expect(lines.dropFirst().first?.hasPrefix("  expected  ") == true)
      #expect(lines.dropFirst(2).first?.contains("  request direct #") == true)
      #expect(lines.dropFirst(3).first?.hasPrefix("  got       ") == true)
      #expect(lines.last?.contains("  request LIST_FILES #") == true, "\(ended.outputText)")
      #expect(ended.errorText.contains("the host differs from session.trace at offset "))
      _ = try await host.end()
    }
  }

  @Test func aReplayIsReportedInDocuments() async throws {
    try await Sandbox.with { box in
      let hex = "0102ff"
      try box.directory.write(
        Array(
          """
          #accessory-bridge-recording 1 silence 0.050000000 frames none
          0.000000000 > \(hex)
          0.001000000 < 4142
          #unplugged 0.200000000
          #plugged 0.300000000
          0.400000000 > 03

          """.utf8), to: "session.trace")
      let replay = try await replay(box, "--link", "again", "--json", "--speed", "10")
      let console = try await box.run(
        ["console", "./again", "--raw", "--linger", "5s"],
        prefix: ["/bin/sh", "-c", #"printf '\001\002\377' | "$0" "$@""#])
      #expect(console.outputText == "AB\n")
      try await replay.line(from: 2) { $0.contains("plugged_in") }
      let second = try await box.run(
        ["console", "./again", "--raw", "--linger", "5s"],
        prefix: ["/bin/sh", "-c", #"printf '\004' | "$0" "$@""#])
      _ = second
      let ended = try await replay.end()
      #expect(ended.status == EX_DATAERR)
      let documents = try ended.lines.map { try JSON($0) }.filter { $0["event"] != nil }
      #expect(documents.map { $0["event"]?.text } == ["plugged_in", "unplugged", "plugged_in", "differed"])
      #expect(documents.last?["difference"]?["offset"] == 3 && documents.last?["host_bytes"] == 3)
      #expect(documents.last?["difference"]?["expected_hex"] == "03" && documents.last?["host_total_bytes"] == 4)
      #expect(documents.last?["difference"]?["got_hex"] == "04")
    }
  }

  @Test func aSilentHostIsGivenUp() async throws {
    try await Sandbox.with { box in
      try await record(box, ["ev3"], [["battery"]])
      let ended = try await box.run("replay", "session.trace", "--link", "again", "--patience", "100ms")
      #expect(ended.status == EX_TEMPFAIL)
      #expect(ended.outputText.contains("  expected  04") && ended.outputText.contains("  got       nothing"))
    }
  }

  @Test func replayRefusesWrongRecordingsAndOptions() async throws {
    try await Sandbox.with { box in
      try box.directory.write(Array("#accessory-bridge-recording 1 silence 0.050000000\n".utf8), to: "empty.trace")
      try box.directory.write(Array("#accessory-bridge-recording 1 silence 0.05\n".utf8), to: "bad.trace")
      for (words, status) in [
        (["empty.trace"], EX_CONFIG), (["bad.trace"], EX_DATAERR), (["none.trace"], EX_NOINPUT),
        (["empty.trace", "--tcp", "127.0.0.1:0", "--link", "x"], EX_USAGE),
        (["empty.trace", "--speed", "0"], EX_USAGE),
        (["empty.trace", "--tty"], EX_USAGE),
      ] {
        let ended = try await box.run(["replay"] + words)
        #expect(ended.status == status, "\(words): \(ended.errorText)")
      }
    }
  }

  @Test func interruptedItSaysHowFarItCame() async throws {
    try await Sandbox.with { box in
      try await record(box, ["ev3"], [["battery"]])
      let replay = try await replay(box, "--link", "again")
      replay.signal(SIGINT)
      let ended = try await replay.end()
      #expect(ended.status == 130)
      #expect(ended.outputText.contains("interrupted: the host sent 0 of "))
      #expect(box.announcements.isEmpty && !box.directory.names(in: "").contains("again"))
    }
  }

  /// A bridge's recording has the unplug, and so has its replay.
  @Test func anUnplugIsRecordedAndReplayed() async throws {
    try await Sandbox.with { box in
      var simulator = try await box.simulate("--link", "original", "--serial", "A1")
      let bridge = try box.start(
        [
          "bridge", "./original", "--driver", "framed", "--by", "bytes", "--pty", "shared", "--record", "session.trace",
        ],
        limit: Sandbox.longLife)
      try await bridge.errors(containing: "is open")
      #expect(try await box.run("battery", "./shared", "--driver", "framed").status == 0)
      try await simulator.stop()
      try await bridge.errors(containing: "waiting for it")
      simulator = try await box.simulate("--link", "original", "--serial", "A1")
      try await eventually("the terminal is back") {
        try await box.run("status", "./shared", "--driver", "framed").status == 0
      }
      bridge.signal(SIGINT)
      _ = try await bridge.end()
      let text = String(
        decoding: try SmallFile.read(box.directory.path + "/session.trace", limit: 65_536), as: UTF8.self)
      #expect(text.contains("\n#unplugged ") && text.contains("\n#plugged "))
      try await simulator.stop()
      let replay = try await replay(box, "--link", "again", "--open-end")
      let battery = try await box.run("battery", "./again")
      #expect(battery.status == 0, "\(battery.errorText)")
      try await replay.line(containing: "unplugged")
      try await replay.line(from: 2) { $0.contains("plugged in at") }
      let status = try await box.run("status", "./again")
      #expect(status.status == 0, "\(status.errorText)")
      #expect(try await replay.end().status == 0)
    }
  }
}
