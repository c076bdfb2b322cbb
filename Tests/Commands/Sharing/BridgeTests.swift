// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryLink
import Glibc
import TestSupport
import Testing

/// `bridge`: one accessory, and other programs that use its line.
@Suite(.timeLimit(.minutes(Patience.minutes(10)))) struct BridgeTests {
  /// A bridge that runs, and where it listens.
  private struct Bridge {
    let program: Program
    let port: UInt16
    var place: String { "tcp:127.0.0.1:\(port)" }

    /// Waits for a line of standard error.
    func errors(containing text: String) async throws {
      try await program.transcript.wait { $0.status != nil || $0.errorText.contains(text) }
      #expect(program.transcript.value.errorText.contains(text), "\(program.transcript.value.errorText)")
    }

    func end() async throws -> Program.Transcript {
      program.signal(SIGINT)
      return try await program.end()
    }
  }

  private func bridge(_ box: Sandbox, _ device: String, _ arguments: String...) async throws -> Bridge {
    let program = try box.start(
      ["bridge", device, "--driver", "framed", "--tcp", "0"] + arguments, limit: Sandbox.longLife)
    let line = try await program.line(containing: "tcp:127.0.0.1:")
    let digits = line.dropFirst("tcp:127.0.0.1:".count).prefix { $0.isNumber }
    return Bridge(program: program, port: try #require(UInt16(digits)))
  }

  @Test func everyEndpointLeadsToTheAccessory() async throws {
    try await Sandbox.with { box in
      let simulator = try await box.simulate("--link", "./acc", "--percent", "57")
      let bridge = try await bridge(box, "./acc", "--unix", "./line.sock", "--pty", "./tty", "--rfc2217", "0")
      let port = String(try await bridge.program.line(containing: "rfc2217:127.0.0.1:").prefix { $0 != " " })
      try await bridge.program.line(containing: "./tty leads to /dev/pts/")
      try await bridge.errors(containing: "is open")
      for name in [bridge.place, port, "unix:./line.sock", "./tty"] {
        let battery = try await box.run("battery", name, "--driver", "framed", "--json")
        #expect(battery.status == 0, "\(name): \(battery.errorText)")
        #expect(try battery.json()["battery"]?["percent"] == 57)
      }
      let ended = try await bridge.end()
      #expect(ended.status == 0 && ended.errorText.contains("./tty is connected"))
      #expect(!box.directory.names(in: "").contains("line.sock") && !box.directory.names(in: "").contains("tty"))
      try await simulator.stop()
    }
  }

  @Test func anUnplugDisconnectsAndTheBridgeGoesOn() async throws {
    try await Sandbox.with { box in
      var simulator = try await box.simulate("--link", "./acc", "--serial", "A1")
      let bridge = try await bridge(box, "./acc", "--pty", "./tty")
      try await bridge.errors(containing: "is open")
      let client = try await DescriptorTransport.open(NetworkAddress(host: "127.0.0.1", port: bridge.port))
      try await bridge.errors(containing: "is connected")
      try await simulator.stop()
      let ending = try await InputReader(client.input).readToEnd()
      #expect(ending.error?.kind == .disconnected)
      await client.close()
      try await bridge.errors(containing: "waiting for it")
      simulator = try await box.simulate("--link", "./acc", "--serial", "A1", "--percent", "12")
      try await bridge.program.transcript.wait {
        $0.status != nil || $0.errorText.split(separator: ") is open").count > 2
      }
      for name in [bridge.place, "./tty"] {
        let battery = try await box.run("battery", name, "--driver", "framed", "--json")
        #expect(try battery.json()["battery"]?["percent"] == 12)
      }
      _ = try await bridge.end()
      try await simulator.stop()
    }
  }

  @Test func clientsMayWaitForTheAccessory() async throws {
    try await Sandbox.with { box in
      let bridge = try await bridge(box, "./acc", "--on-unplug", "keep", "--by", "bytes")
      try await bridge.errors(containing: "waiting for it")
      let client = try await DescriptorTransport.open(NetworkAddress(host: "127.0.0.1", port: bridge.port))
      let session = AccessorySession(client)
      var simulator = try await box.simulate("--link", "./acc")
      try await bridge.errors(containing: "is open")
      try await simulator.stop()
      try await bridge.errors(containing: "the accessory is gone")
      simulator = try await box.simulate("--link", "./acc")
      try await bridge.program.transcript.wait {
        $0.status != nil || $0.errorText.split(separator: ") is open").count > 2
      }
      // A request for the battery, by hand: the connection is the one of before.
      let battery = try await box.run("battery", bridge.place, "--driver", "framed")
      #expect(battery.status == 0)
      var bytes: [UInt8] = []
      for try await piece in session.input {
        bytes += piece
        if bytes.count >= 4 { break }
      }
      #expect(!bytes.isEmpty)
      await session.close()
      _ = try await bridge.end()
      try await simulator.stop()
    }
  }

  @Test func aPipeGetsItsAnswer() async throws {
    try await Sandbox.with { box in
      let simulator = try await box.simulate(kind: "hm10", "--link", "./radio")
      let ended = try await box.run(
        [], prefix: ["sh", "-c", "printf AT | \"$0\" bridge ./radio --driver hm10 --stdio"])
      #expect(ended.status == 0, "\(ended.errorText)")
      #expect(ended.outputText == "OK")
      try await simulator.stop()
    }
  }

  @Test func anEndWithTheAccessory() async throws {
    try await Sandbox.with { box in
      let simulator = try await box.simulate("--link", "./acc")
      let bridge = try await bridge(box, "./acc", "--on-unplug", "end")
      try await bridge.errors(containing: "is open")
      try await simulator.stop()
      #expect(try await bridge.program.end().status == EX_UNAVAILABLE)
    }
  }

  @Test func wrongUseOfBridgeIsAnError() async throws {
    try await Sandbox.with { box in
      func expect(_ status: CInt, _ text: String, _ arguments: String...) async throws {
        let ended = try await box.run(["bridge"] + arguments)
        #expect(ended.status == status, "\(arguments): \(ended.errorText)")
        #expect(ended.errorText.contains(text), "\(arguments): \(ended.errorText)")
      }
      try await expect(EX_USAGE, "name at least one endpoint", "./acc")
      try await expect(EX_USAGE, "--allow 192.168.1.0/24", "./acc", "--tcp", "0.0.0.0:7000")
      try await expect(EX_USAGE, "a port, or a host and a port", "./acc", "--tcp", "seven")
      try await expect(EX_USAGE, "a network or an address", "./acc", "--tcp", "[::]:0", "--allow", "10.0.0.0/33")
      try await expect(EX_USAGE, "4K to 64M", "./acc", "--tcp", "0", "--buffer", "12")
      try box.directory.write([], to: "file")
      try await expect(EX_CONFIG, "is not a socket", "./acc", "--unix", "./file")
      try await expect(EX_CANTCREAT, "is not a link to a terminal", "./acc", "--pty", "./file")
      try await expect(EX_USAGE, "is not a device", "./file", "--pty", "./tty")
      #expect(!box.directory.names(in: "").contains("tty"))
    }
  }
}
