// SPDX-License-Identifier: Apache-2.0

import AccessoryBridge
import AccessoryCore
import AccessoryDiscovery
import AccessoryIO
import BridgeService
import CommandOutput

/// The names that users give accessories. The service that has an accessory keeps its name; without one, this user's file does, which the
/// user's service reads when it starts.
enum NamedAccessory {
  /// Gives an accessory a name and a place: nil leaves what it has, an empty text removes it. Returns the accessory with both.
  static func give(_ text: String?, name: String? = nil, area: String? = nil) async throws -> Device {
    if let entry = try await Door.finder().entry(DeviceName(text), all: true) {
      return try await entry.client.name(entry.accessory.key ?? entry.device.place, name: name, area: area)
    }
    let device = try DeviceName(text).device(among: try await KnownDevices.devices(for: DeviceName(text)))
    guard name != nil || area != nil else { return device }
    var given = device.given ?? GivenName()
    if let name { given.name = name.isEmpty ? nil : name }
    if let area { given.area = area.isEmpty ? nil : area }
    guard let file = file() else {
      throw AccessoryError(
        .misconfigured, "none of STATE_DIRECTORY, XDG_STATE_HOME and HOME is set, so the name can't be kept")
    }
    let renamed = given
    try await SetupQueue(label: "names").run { () throws(AccessoryError) in
      try GivenNames.change(in: file) { $0.give(renamed, to: device.id) }
    }
    return device.called(given.isEmpty ? nil : given)
  }

  /// Makes the service forget an accessory that is gone.
  static func forget(_ text: String?) async throws -> Device {
    guard let entry = try await Door.finder().entry(DeviceName(text), all: true) else {
      throw AccessoryError(
        .notFound,
        "no service knows \(text.map { SafeText.escape($0) } ?? "an accessory that is gone"): see bridge-cli list")
    }
    return try await entry.client.forget(entry.accessory.key ?? entry.device.place)
  }

  /// These devices with the names of this user's file. A file that can't be read has none.
  static func marked(_ devices: [Device]) -> [Device] {
    guard !devices.isEmpty, let file = file(), let names = try? GivenNames.read(file), !names.isEmpty else {
      return devices
    }
    return devices.map { device in device.given == nil ? device.called(names[device.id]) : device }
  }

  private static func file() -> StateFile? {
    StateFile.folder(of: "accessory-bridge").map { StateFile(GivenNames.fileName, in: $0) }
  }
}
