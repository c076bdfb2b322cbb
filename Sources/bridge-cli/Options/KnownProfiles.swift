// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryFamilies
import AccessoryIO
import CommandOutput

/// The profiles that the command uses.
enum KnownProfiles {
  /// The profiles as they were when this process first asked for them.
  static var store: ProfileStore { get async { await first.value.store } }

  private static let first = Task { await library() }

  static func library() async -> ProfileLibrary {
    await SetupQueue(label: "profiles").run { ProfileLibrary.load(protocols: KnownDrivers.library.protocols) }
  }

  /// The profile for a device. If the user names another driver than that profile's, this is the profile with the
  /// driver's name, or that of the described protocol, because it has the line settings for that driver. Prints a note
  /// when profiles can't be read, since one of them may be meant. Throws `misconfigured` when profiles of different
  /// protocols match equally well, unless the user names the driver.
  static func profile(for device: Device, driver: String? = nil) async throws(AccessoryError) -> Profile? {
    if let driver, KnownDrivers.isFile(driver) {
      return try await KnownDrivers.described(inFile: driver).profile
    }
    let library = await first.value
    if !library.problems.isEmpty {
      Output.note("Some profiles can't be used: bridge-cli profile list says why.")
    }
    if driver == nil, let conflict = library.store.conflict(for: device, label: device.address.description) {
      throw conflict
    }
    let profile = library.store.profile(for: device)
    guard let driver, profile?.driver != driver else { return profile }
    return library.store.profile(named: driver) ?? library.protocols.profile(driver) ?? profile
  }
}
