// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import Glibc
import TestSupport
import Testing

/// The recorded conversations of Tests/Data/Recordings: what they say, and that commands of now hold them once more.
@Suite(.timeLimit(.minutes(Patience.minutes(10)))) struct RecordingsTests {
  private static let folder =
    ProjectFolder.path + "/Tests/Data/Recordings"

  /// Each recording without its ending.
  private static let names = Directory.names(in: folder).filter { $0.hasSuffix(".trace") }.map {
    String($0.dropLast(6))
  }
  .sorted()

  private static func text(_ file: String) throws -> String {
    String(decoding: try SmallFile.read("\(folder)/\(file)", limit: 1 << 20), as: UTF8.self)
  }

  @Test func thereAreRecordingsOfAllKinds() throws {
    #expect(Self.names.count >= 60)
    let kinds = Set(Self.names.map { String($0.prefix { $0 != "-" }) })
    let known = [
      "framed", "ev3", "hm10", "bluno", "hm1x", "mavlink", "jbd", "daly", "jk", "pylontech", "vedirect", "megatec",
      "pi30",
      "vesc", "elm327", "epever", "sdm120", "renogy", "srne",
    ]
    #expect(kinds == Set(known))
    // README.md has a line for each, which says whose program was at one end.
    let lines = try Self.text("README.md").split(separator: "\n").filter { $0.hasPrefix("| `") }
    #expect(Set(lines.map { String($0.dropFirst(3).prefix { $0 != "`" }) }) == Set(Self.names))
    #expect(lines.count { !$0.contains("| bridge-cli |") } >= 30)
  }

  @Test(arguments: names) func everyRecordingDecodesToItsText(name: String) async throws {
    try await Sandbox.with { box in
      let trace = try await box.run("trace", "\(Self.folder)/\(name).trace")
      #expect(trace.status == 0)
      #expect(trace.outputText == (try Self.text("\(name).txt")))
    }
  }

  /// The accessory of a recording, with the commands that were recorded.
  @Test(arguments: [
    ("framed-battery", [["battery"], ["info"]]), ("framed-refusal", [["request", "0x55"]]),
    ("ev3-battery", [["battery"], ["info"]]), ("jbd-battery", [["battery"]]), ("jbd-pieces", [["battery"]]),
    ("megatec-battery", [["battery"]]), ("sdm120-values", [["values"]]), ("hm10-info", [["battery"], ["info"]]),
  ])
  func commandsSayWhatTheySaid(name: String, commands: [[String]]) async throws {
    try await Sandbox.with { box in
      let replay = try box.start(
        ["replay", "\(Self.folder)/\(name).trace", "--link", "line"], limit: Sandbox.longLife)
      try await replay.line(containing: " is plugged in at ")
      for command in commands {
        let ended = try await box.run([command[0], "./line"] + command.dropFirst())
        #expect(ended.status == 0 || command[0] == "request", "\(ended.errorText)")
      }
      let ended = try await replay.end()
      #expect(ended.status == 0, "\(ended.outputText) \(ended.errorText)")
    }
  }
}
