// SPDX-License-Identifier: Apache-2.0

import AccessoryDiscovery

/// The profiles that are known, those that were added last first.
public struct ProfileStore: Sendable, Hashable {
  /// In the order in which they are asked.
  public private(set) var profiles: [Profile]

  /// The profiles that come with this package.
  public static let builtIn = ProfileStore([.framed])

  /// These profiles, the first of them asked first.
  public init(_ profiles: [Profile]) { self.profiles = profiles }

  /// Adds a profile before all others, in place of one that has the same name.
  public mutating func register(_ profile: Profile) {
    profiles.removeAll { $0.name == profile.name }
    profiles.insert(profile, at: 0)
  }

  /// The first profile of which a rule fits.
  public func profile(for device: Device) -> Profile? {
    profiles.first { $0.rules.contains { $0.fits(device) } }
  }
}
