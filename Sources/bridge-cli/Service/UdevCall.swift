// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDiscovery
import CommandOutput
import Glibc

/// What a rule of udev runs (RUN), where no systemd starts the service.
enum UdevCall {
  /// The device that udev's environment names. Throws `UsageError` when there is none.
  static func device(_ variable: (String) -> String?) throws -> String? {
    guard let path = variable("DEVNAME"), path.hasPrefix("/dev/"), !path.split(separator: "/").contains("..") else {
      throw UsageError("--udev is for rules of udev: there is no DEVNAME in the environment")
    }
    // The service hears of the rest itself.
    return ["remove", "unbind", "offline"].contains(variable("ACTION")) ? nil : path
  }

  /// Has the service attach the device when udev tells of it, or starts one that does. Ends soon: udev tells of the device
  /// when this has ended.
  static func run(_ options: ServiceOptions) async throws {
    guard let path = try device({ getenv($0).map { String(cString: $0) } }) else { return }
    let place = options.socket ?? ServicePlace.system
    do throws(AccessoryError) {
      try await tell(place, [path])
    } catch {
      guard error.kind == .notFound else { throw error }
      try start(at: place, expecting: path)
    }
  }

  /// Has the service at `place` hold what is told of at `paths`. Not with Attach: while udev's rules are run nobody knows
  /// yet what the device is, nor whether a terminal comes of it.
  static func tell(_ place: String, _ paths: [String]) async throws(AccessoryError) {
    let client = try await BridgeClient.connect(to: place, patience: .seconds(10))
    for path in paths { try await client.expect(path) }
  }

  /// Starts the service as a process of its own, which outlives the rule.
  private static func start(at place: String, expecting path: String) throws {
    if place == ServicePlace.system { mkdir("/run/accessory-bridge", 0o755) }
    let words = ["bridge-cli", "serve", "--socket", place, "--exit-idle", "60s", "--expect", path]
    try ChildProgram.start("/proc/self/exe", words, isDetached: true)
  }
}
