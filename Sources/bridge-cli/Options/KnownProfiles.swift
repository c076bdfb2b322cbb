// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryIO
import CommandOutput

/// The profiles that the command goes by.
enum KnownProfiles {
  /// As they were when this command first asked.
  static var store: ProfileStore { get async { await first.value.store } }

  private static let first = Task { await library() }

  static func library() async -> ProfileLibrary {
    await SetupQueue(label: "profiles").run { ProfileLibrary.load(protocols: KnownDrivers.library.protocols) }
  }

  /// The profile of a device; where the user names a driver that it isn't for, the one that has the driver's name, or
  /// the one of the described protocol: it knows the driver's line. Says so when there are profiles that can't be read:
  /// one of them may be meant. Throws `misconfigured` when profiles of different protocols fit equally well, unless the user
  /// names the driver.
  static func profile(for device: Device, driver: String? = nil) async throws(AccessoryError) -> Profile? {
    if let driver, KnownDrivers.isFile(driver) {
      return try await KnownDrivers.described(inFile: driver).profile
    }
    let library = await first.value
    if !library.problems.isEmpty {
      Output.note("There are profiles that can't be used: bridge-cli profile list says why.")
    }
    if driver == nil, let conflict = library.store.conflict(for: device, label: device.address.description) {
      throw conflict
    }
    let profile = library.store.profile(for: device)
    guard let driver, profile?.driver != driver else { return profile }
    return library.store.profile(named: driver) ?? library.protocols.profile(driver) ?? profile
  }
}
