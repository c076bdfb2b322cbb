// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDiscovery
import AccessoryIO
import ArgumentParser
import BridgeService
import CommandOutput
import Glibc

/// The program of a udev rule (RUN), on a system where systemd doesn't start the service.
enum UdevCall {
  /// The device in udev's environment; nil for an event that the service sees itself. Throws `UsageError` when there is none.
  static func device(_ variable: (String) -> String?) throws -> UdevDevice? {
    guard let path = variable("DEVNAME"), path.hasPrefix("/dev/"), !path.split(separator: "/").contains("..") else {
      throw UsageError("--udev works only in a udev rule: DEVNAME is not in the environment")
    }
    // The service watches removals itself.
    guard !["remove", "unbind", "offline"].contains(variable("ACTION")) else { return nil }
    // The directory of a USB device has the name of its port: "1-1.4". That of its interface has a colon, too: "1-1.4:1.0".
    let port = variable("DEVPATH")?.split(separator: "/").last { part in
      part.first?.isNumber == true && part.contains("-") && part.allSatisfy { $0.isNumber || $0 == "-" || $0 == "." }
    }
    guard let port, let vendor = variable("ID_VENDOR_ID"), let product = variable("ID_MODEL_ID") else {
      return UdevDevice(ExpectedDevice(path))
    }
    return UdevDevice(ExpectedDevice(path, identity: "\(vendor):\(product)@\(port)".lowercased()))
  }

  /// Tells the service to expect the device, or starts a service that does. Ends soon, since udev announces the device
  /// only after the rule has ended.
  static func run(_ options: ServiceOptions) async throws {
    guard let device = try device({ getenv($0).map { String(cString: $0) } }) else { return }
    let place = options.socket ?? ServicePlace.system
    do throws(AccessoryError) {
      try await tell(place, [device])
    } catch {
      guard error.isNoService else { throw error }
      try start(at: place, expecting: device)
    }
  }

  /// Tells the service at `place` to attach these devices when udev announces them. `Attach` can't be used:
  /// while udev's rules run, the device's properties aren't known, nor whether it has a terminal.
  static func tell(_ place: String, _ devices: [UdevDevice]) async throws(AccessoryError) {
    let client = try await BridgeClient.connect(to: place, replyTimeout: .seconds(10))
    for one in devices { try await client.expect(one.device.path, identity: one.device.identity) }
  }

  /// Starts the service as a separate process, which keeps running after the rule has ended.
  private static func start(at place: String, expecting device: UdevDevice) throws {
    if place == ServicePlace.system { mkdir("/run/accessory-bridge", 0o755) }
    let words = ["bridge-cli", "serve", "--socket", place, "--exit-idle", "60s", "--expect", device.text]
    try ChildProgram.start("/proc/self/exe", words, isDetached: true)
  }
}

/// A device that udev's environment names. As an argument of `serve` it is its path, with its identity behind a comma.
struct UdevDevice: ExpressibleByArgument {
  let device: ExpectedDevice

  init(_ device: ExpectedDevice) { self.device = device }

  init(argument: String) {
    let parts = argument.split(separator: ",", maxSplits: 1).map(String.init)
    device = ExpectedDevice(parts.first ?? "", identity: parts.count == 2 ? parts[1] : nil)
  }

  var text: String { ([device.path] + [device.identity].compactMap { $0 }).joined(separator: ",") }
}
