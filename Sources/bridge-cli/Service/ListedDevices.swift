// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryIO
import ArgumentParser
import BridgeService
import CommandOutput
import Logging

/// Options that name the devices which a service opens. With them, the service opens no other devices.
struct ListedDevices: ParsableArguments {
  @Option(
    name: .customLong("device"),
    help: .value(
      "address", "Hold the device at this address, and no others, like tcp:10.0.0.7:5000[=PROFILE]; may be repeated."),
    transform: ListedAddress.read)
  var addresses: [ListedAddress] = []
  @Option(
    help: .value("file", "Hold the devices that this file names, and no others."),
    completion: .file(extensions: ["yaml", "yml"]))
  var devices: String?

  /// Whether the options name any devices.
  var areGiven: Bool { !addresses.isEmpty || devices != nil }

  /// All named devices. Throws `misconfigured` when the file has mistakes or a profile doesn't exist.
  func entries() async throws(AccessoryError) -> [DeviceList.Entry] {
    let store = await KnownProfiles.store
    var entries: [DeviceList.Entry] = []
    if let devices {
      let names = store.profiles.map(\.name)
      do throws(ProfileProblems) {
        entries = try await SetupQueue(label: "devices").run { () throws(ProfileProblems) in
          try DeviceList.read(path: devices, profiles: names)
        }
      } catch {
        throw AccessoryError(error)
      }
    }
    for one in addresses where !entries.contains(where: { $0.address == one.entry.address }) {
      if let name = one.entry.profile, store.profile(named: name) == nil {
        throw AccessoryError(.misconfigured, store.missing(name))
      }
      entries.append(one.entry)
    }
    return entries
  }

  /// Makes the service open these devices and keep them open. The service waits for devices that aren't there yet.
  static func hold(_ entries: [DeviceList.Entry], by service: BridgeService, log: Logger) async {
    let store = await KnownProfiles.store
    for entry in entries {
      let device = Device(entry.address, source: .named)
      let profile = entry.profile.flatMap { store.profile(named: $0) }
      Task {
        do throws(AccessoryError) {
          try await service.hold(device, profile)
        } catch {
          log.error("\(entry.address) is not held: \(SafeText.escape(error.message, limit: 300))")
        }
      }
    }
  }
}

/// A device on the network or on the air on the command line: "tcp:10.0.0.7:5000", "tcp:10.0.0.7:5000=jbd".
struct ListedAddress: FormArgument {
  static let form = TransportKind.namedForms + ", optionally followed by =PROFILE,"
  let entry: DeviceList.Entry

  init?(argument: String) {
    let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    guard let address = DeviceAddress(String(parts[0]), in: WorkingFolder.path),
      address.transport.mustBeNamed
    else {
      return nil
    }
    if parts.count == 2, parts[1].isEmpty { return nil }
    entry = DeviceList.Entry(address, profile: parts.count == 2 ? String(parts[1]) : nil)
  }
}
