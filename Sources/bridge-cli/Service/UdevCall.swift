// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryDiscovery
import AccessoryIO
import Glibc

/// What a rule of udev runs (RUN), where no systemd starts the service.
enum UdevCall {
  /// The device that udev's environment names. Throws `UsageError` when there is none.
  static func device(_ variable: (String) -> String?) throws -> String? {
    guard let path = variable("DEVNAME"), path.hasPrefix("/dev/"), !path.split(separator: "/").contains("..") else {
      throw UsageError(description: "--udev is for rules of udev: there is no DEVNAME in the environment")
    }
    // The service hears of the rest itself.
    return ["remove", "unbind", "offline"].contains(variable("ACTION")) ? nil : path
  }

  /// Has the service attach the device, or starts one, which finds it. Ends soon: udev waits.
  static func run(_ options: ServiceOptions) async throws {
    guard let path = try device({ getenv($0).map { String(cString: $0) } }) else { return }
    let place = options.socket ?? ServicePlace.system
    let client: ControlClient
    do throws(AccessoryError) {
      client = try await ControlClient.connect(to: place, timeout: .seconds(2))
    } catch {
      guard error.kind == .notFound else { throw error }
      return try start(at: place)
    }
    do throws(ControlError) {
      // One that a profile claims is attached or about to be, which is as well.
      _ = try await client.call(Bridge.Attach(device: path), timeout: .seconds(10))
    } catch {
      throw error.accessoryError
    }
  }

  /// Starts the service as a process of its own, which outlives the rule.
  private static func start(at place: String) throws {
    if place == ServicePlace.system { mkdir("/run/accessory-bridge", 0o755) }
    let words = ["bridge-cli", "serve", "--socket", place, "--exit-idle", "60s"]
    try ChildProgram.start("/proc/self/exe", words, isDetached: true)
  }
}
