// SPDX-License-Identifier: Apache-2.0

import AccessoryDiscovery
import AccessoryDrivers
import AccessoryIO

/// The profiles that the command goes by.
enum KnownProfiles {
  static func library() async -> ProfileLibrary {
    await SetupQueue(label: "profiles").run { ProfileLibrary.load() }
  }

  /// The profile of a device. Says so when there are profiles that can't be read: one of them may be meant.
  static func profile(for device: Device) async -> Profile? {
    let library = await library()
    if !library.problems.isEmpty {
      Output.note("There are profiles that can't be used: bridge-cli profile list says why.")
    }
    return library.store.profile(for: device)
  }
}
