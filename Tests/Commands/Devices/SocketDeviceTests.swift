// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import AccessorySimulator
import FamilyAF1
import FamilyAF1Simulator
import Glibc
import SystemPackage
import TestSupport
import Testing

/// A device that is a socket with a path: `unix:PATH`.
@Suite(.timeLimit(.minutes(Patience.minutes(10)))) struct SocketDeviceTests {
  /// A simulator that nobody is told of.
  private func simulator(percent: UInt8) -> AF1Simulator {
    var configuration = AF1Simulator.Configuration(seed: 1)
    configuration.isAnnounced = false
    configuration.device.battery.percent = percent
    return AF1Simulator(configuration)
  }

  /// Listens at `path`, and joins who connects with what is at a terminal.
  private func listen(at path: String, for place: String) throws -> SocketListener {
    try SocketListener(at: path) { client in
      Task {
        guard let terminal = try? await DescriptorTransport.open(TerminalConfiguration(path: place)) else {
          return client.beginClose()
        }
        client.pass(to: terminal)
        terminal.pass(to: client)
      }
    }
  }

  @Test func anAccessoryAnswersOverASocket() async throws {
    try await Sandbox.with { box in
      let simulator = simulator(percent: 57)
      let path = box.directory.path + "/lamp.sock"
      let listener = try listen(at: path, for: try await simulator.plugIn())
      for name in ["unix:" + path, "unix:lamp.sock", "unix:./lamp.sock"] {
        let battery = try await box.run("battery", name, "--driver", "framed", "--json")
        #expect(battery.status == 0, "\(battery.outputText)")
        #expect(try battery.json()["battery"]?["percent"] == 57)
        let device = try battery.json()["device"]
        #expect(device?["path"] == .string("unix:" + path) && device?["ways"] == ["unix"])
        #expect(device?["terminal"] == .some(nil) && device?["source"] == "named")
      }
      let echo = try await box.run("request", "unix:lamp.sock", "echo", "0102", "--driver", "framed")
      #expect(echo.status == 0 && echo.outputText.contains("0102"))
      // Nothing is sent to what nobody knows.
      let unknown = try await box.run("battery", "unix:lamp.sock")
      #expect(unknown.status == EX_CONFIG && unknown.errorText.contains("--driver"))
      listener.close()
      await simulator.stop()
    }
  }

  @Test func aCommandWaitsUntilSomebodyListens() async throws {
    try await Sandbox.with { box in
      let simulator = simulator(percent: 57)
      let place = try await simulator.plugIn()
      let words = ["battery", "unix:lamp.sock", "--driver", "framed"]
      let battery = try box.start(words + ["--wait", "60s"])
      #expect(try await box.run(words).status == EX_NOINPUT)
      let listener = try listen(at: box.directory.path + "/lamp.sock", for: place)
      #expect(try await battery.end().outputText.hasPrefix("57 %"))
      listener.close()
      await simulator.stop()
    }
  }

  @Test func aServiceHoldsIt() async throws {
    try await Sandbox.with { box in
      let simulator = simulator(percent: 57)
      let path = box.directory.path + "/lamp.sock"
      let listener = try listen(at: path, for: try await simulator.plugIn())
      let service = try await box.serve()
      let attached = try await box.run("attach", "unix:lamp.sock", "--profile", "framed")
      #expect(attached.status == 0, "\(attached.errorText)")
      for name in ["unix:lamp.sock", "unix:" + path, "lamp.sock"] {
        let battery = try await box.run("battery", name, "--json")
        #expect(battery.status == 0, "\(battery.outputText)")
        #expect(try battery.json()["battery"]?["percent"] == 57)
      }
      // The peer goes: that is a cable that was pulled.
      listener.close()
      await simulator.stop()
      try await service.errors(containing: "unix:\(path) was disconnected")
      service.signal(SIGTERM)
      #expect(try await service.end().status == 0)
    }
  }

  @Test func eachTroubleOfASocketHasItsStatus() async throws {
    try await Sandbox.with { box in
      func expect(_ status: CInt, _ text: String, _ path: String, prefix: [String] = []) async throws {
        let name = "unix:" + path
        let ended = try await box.run(["battery", name, "--driver", "framed"], prefix: prefix)
        #expect(ended.status == status, "\(path): \(ended.errorText)")
        #expect(ended.errorText.contains(name) && ended.errorText.contains(text), "\(path): \(ended.errorText)")
      }
      try await expect(EX_NOINPUT, "doesn't exist", "nothing.sock")
      let socket = try UnixSocket.create()
      try UnixSocket.bind(socket, to: box.directory.path + "/quiet.sock")
      try await expect(EX_UNAVAILABLE, "has no listener", "quiet.sock")
      try box.directory.write([], to: "file")
      try await expect(EX_CONFIG, "is not a socket", "file")
      try await expect(EX_CONFIG, "too long a path", "/" + String(repeating: "x", count: 108))
      let doctor = try await box.run("doctor", "unix:file")
      #expect(doctor.status == EX_CONFIG && doctor.outputText.contains("is not a socket"))
      // As root without root's rights: the file is another user's.
      #expect(chmod(box.directory.path + "/quiet.sock", 0o600) == 0)
      #expect(chown(box.directory.path + "/quiet.sock", 65_534, 65_534) == 0)
      let prefix = ["setpriv", "--clear-groups", "--bounding-set=-dac_override,-dac_read_search"]
      try await expect(EX_NOPERM, "may be opened by its owner only", "quiet.sock", prefix: prefix)
      Socket.close(socket)
    }
  }
}
