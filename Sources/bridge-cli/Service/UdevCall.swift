// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDiscovery
import AccessoryIO
import CommandOutput
import Glibc

/// The program of a udev rule (RUN), on a system where systemd doesn't start the service.
enum UdevCall {
  /// The path of the device in udev's environment; nil for an event that the service sees itself. Throws `UsageError`
  /// when there is none.
  static func device(_ variable: (String) -> String?) throws -> String? {
    guard let path = variable("DEVNAME"), path.hasPrefix("/dev/"), !path.split(separator: "/").contains("..") else {
      throw UsageError("--udev works only in a udev rule: DEVNAME is not in the environment")
    }
    // The service watches removals itself.
    return ["remove", "unbind", "offline"].contains(variable("ACTION")) ? nil : path
  }

  /// Tells the service to expect the device, or starts a service that does. Ends soon, since udev announces the device
  /// only after the rule has ended.
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

  /// Tells the service at `place` to attach the devices at `paths` when udev announces them. `Attach` can't be used:
  /// while udev's rules run, the device's properties aren't known, nor whether it has a terminal.
  static func tell(_ place: String, _ paths: [String]) async throws(AccessoryError) {
    let client = try await BridgeClient.connect(to: place, replyTimeout: .seconds(10))
    for path in paths { try await client.expect(path) }
  }

  /// Starts the service as a separate process, which keeps running after the rule has ended.
  private static func start(at place: String, expecting path: String) throws {
    if place == ServicePlace.system { mkdir("/run/accessory-bridge", 0o755) }
    let words = ["bridge-cli", "serve", "--socket", place, "--exit-idle", "60s", "--expect", path]
    try ChildProgram.start("/proc/self/exe", words, isDetached: true)
  }
}
