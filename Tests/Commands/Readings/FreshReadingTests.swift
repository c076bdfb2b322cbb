// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryIO
import Glibc
import TestSupport
import Testing

/// `--fresh`: no earlier reading is shown.
@Suite(.timeLimit(.minutes(Patience.minutes(10)))) struct FreshReadingTests {
  private static let commands = ["battery", "status", "values"]

  /// With a service and without one it is the same, and the same as without the option; a lent accessory is busy.
  @Test func anAccessoryIsAskedNow() async throws {
    try await Sandbox.with { box in
      let simulator = try await box.simulate("--percent", "57")
      var alone: [String: String] = [:]
      for command in Self.commands {
        let fresh = try await box.run(command, "--fresh")
        #expect(fresh.status == 0 && fresh.errorText == "")
        #expect(fresh.outputText == (try await box.run(command).outputText))
        alone[command] = fresh.outputText
      }
      let service = try await box.serve()
      try await service.errors(containing: "SIM0001 is attached at")
      for command in Self.commands {
        let fresh = try await box.run(command, "SIM0001", "--fresh")
        #expect(fresh.status == 0 && fresh.errorText == "" && fresh.outputText == alone[command])
      }
      #expect(try await box.run("battery", "--fresh", "--json").json()["age_ms"] == 0)
      #expect(try await box.run("battery", "--all", "--fresh").outputText.contains("57 %"))
      let (_, transport) = try await ControlClient.connect(to: box.socket).upgrade(Bridge.Open())
      for command in Self.commands {
        let lent = try await box.run(command, "--fresh")
        #expect(lent.status == EX_UNAVAILABLE && lent.outputText == "", "\(lent.errorText)")
        #expect(lent.errorText.contains("it is lent to process"), "\(lent.errorText)")
        let last = try await box.run(command)
        #expect(last.status == 0 && last.errorText.contains("the accessory is used by"), "\(last.errorText)")
      }
      await transport.close()
      service.signal(SIGTERM)
      _ = try await service.end()
      try await simulator.stop()
    }
  }

  /// A service that is too old for it is named, and what to do; nothing older is shown in its place.
  @Test(arguments: commands) func anOlderServiceIsNamed(command: String) async throws {
    try await Sandbox.with { box in
      let place = box.directory.path + "/socket"
      let name = command.prefix(1).uppercased() + command.dropFirst()
      let unknown = #"!{"error":"org.varlink.service.InvalidParameter","parameters":{"parameter":"fresh"}}"#
      let accessory =
        #"{"device":{"id":"X1","path":"/dev/pts/1","source":"simulator","serial":"X1","links":[],"ways":[],"#
        + #""initialized":true},"state":"attached","tries":0,"driver":"framed"}"#
      let service = try CannedService(
        at: place,
        [
          "List": [#"{"accessories":[\#(accessory)]}"#], "\(name) fresh": [unknown],
          "GetInfo": [#"{"vendor":"","product":"Accessory Bridge","version":"0.1.0","url":"","interfaces":[]}"#],
        ])
      defer { service.close() }
      let ended = try await box.run([command, "X1", "--fresh"], environment: ["ACCESSORY_BRIDGE_SOCKET": place])
      #expect(ended.status != 0 && ended.outputText == "")
      #expect(
        ended.errorText.contains("(Accessory Bridge 0.1.0) doesn't know fresh") && ended.errorText.contains("restart"),
        "\(ended.errorText)")
    }
  }

  @Test(arguments: ["battery", "values"]) func itIsNotForTheHistory(command: String) async throws {
    try await Sandbox.with { box in
      let ended = try await box.run(command, "X1", "--fresh", "--history")
      #expect(ended.status == EX_USAGE && ended.errorText.contains("--fresh can't be used with --history"))
    }
  }
}
