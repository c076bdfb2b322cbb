// SPDX-License-Identifier: Apache-2.0

import AccessoryDiscovery

/// The profiles that are known, those that were added last first.
public struct ProfileStore: Sendable, Hashable {
  /// In the order in which they are asked.
  public private(set) var profiles: [Profile]
  /// The described protocols, each of which has a profile without anybody's writing one: those that come with this package,
  /// unless changed.
  public var protocols = DescriptionLibrary.builtIn

  /// The profiles that come with this package.
  public static let builtIn = ProfileStore(BuiltInProfiles.all)

  /// These profiles, the first of them asked first.
  public init(_ profiles: [Profile]) { self.profiles = profiles }

  /// Adds a profile before all others, in place of one that has the same name.
  public mutating func register(_ profile: Profile) {
    profiles.removeAll { $0.name == profile.name }
    profiles.insert(profile, at: 0)
  }

  /// The profile of this name; of the described protocol that is called so, where there is none.
  public func profile(named name: String) -> Profile? {
    profiles.first { $0.name == name } ?? protocols.profile(name)
  }

  /// The profile whose rule says most of all that fit the device; of those that say as much, the first.
  ///
  /// A device is one accessory with all its ways in, so a terminal and the USB device it belongs to have one profile. A
  /// device that no rule fits and that was announced with a described protocol has that protocol's.
  public func profile(for device: Device) -> Profile? {
    var best: (profile: Profile, specificity: [Int])?
    for profile in profiles {
      let fitting = profile.rules.filter { $0.fits(device) }.map(\.specificity)
      guard let specificity = fitting.max(by: { $0.lexicographicallyPrecedes($1) }) else { continue }
      if let best, !best.specificity.lexicographicallyPrecedes(specificity) { continue }
      best = (profile, specificity)
    }
    return best?.profile ?? device.driver.flatMap { protocols.profile($0) }
  }
}
