// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import Glibc
import TestSupport
import Testing

/// A board whose profile names its reset, shared by a service and by a bridge to that.
@Suite(.timeLimit(.minutes(Patience.minutes(10)))) struct ProfileResetTests {
  /// The beginning of esptool's sequence for the boot loader, after telnet's agreement: DTR off, RTS on, DTR on.
  private static let sequence: [UInt8] =
    [0xFF, 0xFB, 0x2C] + [9, 11, 8].flatMap { [0xFF, 0xFA, 0x2C, 5, $0, 0xFF, 0xF0] as [UInt8] }

  @Test(arguments: [[], ["--reset", "none"], ["--reset", "arduino"]] as [[String]])
  func theProfilesResetIsRunUnlessTheCommandSaysOtherwise(options: [String]) async throws {
    try await Sandbox.with { box in
      #expect(mkdir(box.directory.path + "/profiles", 0o755) == 0)
      try box.directory.write(
        Array("name: board\nmatch: {serial: NONE}\nreset: esp\n".utf8), to: "profiles/board.yaml")
      let plug = try box.start(["simulate", "loopback", "--rfc2217", "0"], limit: Sandbox.longLife)
      let line = try await plug.line(containing: "is plugged in at ")
      let place = String(line.split(separator: " at ").last ?? "")
      let service = try box.start(["serve", "--device", place + "=board"], limit: Sandbox.longLife)
      try await service.errors(containing: " is attached at ")
      let bridge = try box.start(["bridge", place, "--rfc2217", "0"] + options, limit: Sandbox.longLife)
      let open = try await bridge.line(containing: "rfc2217:127.0.0.1:")
      try await bridge.errors(containing: " is open")
      let port = try #require(UInt16(String(open.split(separator: ":").last?.prefix { $0.isNumber } ?? "")))
      let client = try await DescriptorTransport.open(NetworkAddress(host: "127.0.0.1", port: port))
      #expect(client.output.offer(Self.sequence) == .accepted)
      switch options.last {
      case nil: try await bridge.errors(containing: "started a reset: the line runs boot loader")
      case "arduino": try await bridge.errors(containing: "started a reset: the line runs reset")
      default:
        // Each change is made: no script raises both.
        try await plug.line(containing: "DTR RTS after")
        #expect(!bridge.transcript.value.errorText.contains("started a reset"))
      }
      await client.close()
      bridge.signal(SIGINT)
      _ = try await bridge.end()
      service.signal(SIGINT)
      _ = try await service.end()
    }
  }

  @Test func wrongResetsAreReportedByTheChecks() async throws {
    try await Sandbox.with { box in
      try box.directory.write(Array("name: a\nmatch: {serial: x}\nreset: esp33\n".utf8), to: "a.yaml")
      let wrong = try await box.run("profile", "check", "a.yaml")
      #expect(wrong.status == EX_CONFIG && wrong.outputText.contains("a.yaml:3:8: reset "), "\(wrong.outputText)")
      try box.directory.write(Array("device: A1\nrfc2217: 0\nreset: esp33\n".utf8), to: "b.yaml")
      let share = try await box.run("share", "check", "b.yaml")
      #expect(
        share.status == EX_CONFIG && share.outputText.contains("b.yaml:3:8: reset must be esp, arduino, none"),
        "\(share.outputText)")
    }
  }
}
