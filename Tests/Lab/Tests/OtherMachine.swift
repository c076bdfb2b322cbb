// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// An accessory at ports of another machine, which is this one.
final class OtherMachine {
  private let directory: TemporaryDirectory
  private let simulator: Program
  private var bridge: Program?

  init() throws {
    directory = try TemporaryDirectory()
    simulator = try Program(
      [InstalledService.command, "simulate", "framed", "--link", "./acc", "--serial", "FAR1", "--percent", "57"],
      environment: Self.environment(directory), directory: directory.path, limit: .seconds(300))
  }

  private static func environment(_ directory: TemporaryDirectory) -> [String: String] {
    ["XDG_RUNTIME_DIR": directory.path, "ACCESSORY_BRIDGE_SOCKET": "none", "PATH": "/usr/bin:/bin"]
  }

  /// Its ports are there from now on.
  func begin() async throws {
    try await simulator.line(containing: "is plugged in")
    let bridge = try Program(
      [InstalledService.command, "bridge", "./acc", "--driver", "framed", "--tcp", "7110", "--rfc2217", "7111"],
      environment: Self.environment(directory), directory: directory.path, limit: .seconds(300))
    try await bridge.transcript.wait { $0.errorText.contains(" is open") || $0.status != nil }
    self.bridge = bridge
  }

  func end() async throws {
    bridge?.signal(SIGTERM)
    #expect(try await bridge?.end().status == 0)
    bridge = nil
  }
}
