// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import AccessorySimulator

extension Plain {
  /// Programs written for ExternalAccessory, unchanged, with an accessory that udev tells of: no simulator's
  /// announcement, no path, only the profile that is built in.
  @Suite struct ClientTests {
    private func start(_ name: String, _ arguments: String..., runtime: TemporaryDirectory) throws -> Program {
      var path = [CChar](repeating: 0, count: 4_096)
      let count = readlink("/proc/self/exe", &path, path.count)
      try #require(count > 0)
      let tests = String(decoding: path.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
      let folder = tests.split(separator: "/").dropLast().joined(separator: "/")
      return try Program(
        ["/\(folder)/\(name)"] + arguments,
        environment: ["XDG_RUNTIME_DIR": runtime.path, "XDG_CONFIG_HOME": runtime.path, "PATH": "/usr/bin:/bin"],
        directory: runtime.path)
    }

    private static let kinds: [SimulatedUSBIdentity.Kind] = [.modem, .bulk]

    @Test(arguments: kinds, ["DelegateClient", "NativeClient"])
    func anExampleAsksForTheBattery(kind: SimulatedUSBIdentity.Kind, name: String) async throws {
      let runtime = try TemporaryDirectory()
      let plugged = try await PluggedIn(kind)
      let transcript = try await start(name, runtime: runtime).end()
      #expect(transcript.status == 0, "\(transcript.errorText)")
      #expect(transcript.lines.suffix(2).first?.hasPrefix("battery: 100 %") == true, "\(transcript.lines)")
      #expect(transcript.lines.last == "status: idle")
      try await plugged.stop()
    }

    @Test(arguments: kinds, ["controller", "queues", "thread"])
    func aSwift5ClientReadsABatteryOverUSB(kind: SimulatedUSBIdentity.Kind, name: String) async throws {
      let runtime = try TemporaryDirectory()
      let plugged = try await PluggedIn(kind)
      let transcript = try await start("ClientsOfSwift5", name, runtime: runtime).end()
      #expect(transcript.status == 0, "\(transcript.errorText)")
      let bytes = try #require(transcript.lines.first).split(separator: " ").compactMap { UInt8($0, radix: 16) }
      #expect(bytes.prefix(6) == [0x0F, 0xF0, 0x12, 0x03, 0x01, 0x00], "\(transcript.lines)")
      try await plugged.stop()
    }

    /// Told of the accessory when it is plugged in, and once when it is pulled out of a session.
    @Test(arguments: kinds) func aSwift6ClientReadsABatteryOverUSB(kind: SimulatedUSBIdentity.Kind) async throws {
      let runtime = try TemporaryDirectory()
      let program = try start("ClientsOfSwift6", runtime: runtime)
      try await program.line(containing: "waiting")
      let plugged = try await PluggedIn(kind)
      _ = try await program.line { $0.hasPrefix("0F F0") }
      try await plugged.stop()
      let transcript = try await program.end()
      #expect(transcript.status == 0, "\(transcript.errorText)")
      #expect(transcript.lines.last == "disconnected: SIM0001")
      #expect(transcript.lines.count { $0.hasPrefix("disconnected") } == 1)
    }
  }
}
