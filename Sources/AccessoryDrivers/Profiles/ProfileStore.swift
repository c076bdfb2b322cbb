// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
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

  /// The profile whose rule says most of all that fit the device; of those that say as much, the first, and one that
  /// somebody has written before one that comes with this package. Nil where profiles that say as much name different
  /// protocols: nobody knows which one it speaks, and `conflict` says so.
  ///
  /// A device is one accessory with all its ways in, so a terminal and the USB device it belongs to have one profile. A
  /// device that no rule fits and that was announced with a described protocol has that protocol's.
  public func profile(for device: Device) -> Profile? {
    let best = best(for: device)
    guard let first = best.first else { return device.driver.flatMap { protocols.profile($0) } }
    return best.allSatisfy { $0.speaksAs(first) } ? first : nil
  }

  /// Why a device that profiles fit has none: two of them say as much of it, and name different protocols. `misconfigured`,
  /// with the names of both; nil where there is no such thing. Nothing may be sent to such a device before somebody says
  /// which one is right. `label` is what the device is called.
  public func conflict(for device: Device, label: String) -> AccessoryError? {
    let best = best(for: device)
    guard let first = best.first, let other = best.first(where: { !$0.speaksAs(first) }) else { return nil }
    let names = [first, other].map { "\($0.name) (\($0.driver.map { "driver \($0)" } ?? "no driver"))" }
    return AccessoryError(
      .misconfigured,
      "two profiles fit \(label) equally well, and name different protocols: \(names.joined(separator: " and ")); "
        + "nothing was sent to it: let the match rule of one say more, or say --driver")
  }

  /// The profiles that claim the device: the one that it has, or those of which nobody knows which one is right.
  package func claiming(_ device: Device) -> [Profile] { profile(for: device).map { [$0] } ?? best(for: device) }

  /// The profiles whose rules say most of all that fit the device, in the order in which they are asked.
  private func best(for device: Device) -> [Profile] {
    var best: (profiles: [Profile], specificity: [Int]) = ([], [])
    for profile in profiles {
      let fitting = profile.rules.filter { $0.fits(device) }.map(\.specificity)
      guard let specificity = fitting.max(by: { $0.lexicographicallyPrecedes($1) }) else { continue }
      if best.profiles.isEmpty || best.specificity.lexicographicallyPrecedes(specificity) {
        best = ([profile], specificity)
      } else if specificity == best.specificity {
        best.profiles.append(profile)
      }
    }
    guard best.profiles.count > 1 else { return best.profiles }
    let own = best.profiles.filter { !BuiltInProfiles.all.contains($0) }
    return own.isEmpty ? best.profiles : own
  }
}

extension Profile {
  /// Whether both mean one protocol.
  fileprivate func speaksAs(_ other: Profile) -> Bool {
    guard driver == other.driver else { return false }
    guard let described, let others = other.described else { return described == nil && other.described == nil }
    return described.description == others.description
  }
}
