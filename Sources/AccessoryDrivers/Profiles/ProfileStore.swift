// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDescriptions
import AccessoryDiscovery

/// A set of profiles, in order of precedence: the one that was added last is the first.
public struct ProfileStore: Sendable, Hashable {
  /// The profiles, in order of precedence.
  public private(set) var profiles: [Profile]
  /// The described protocols. Each also has a profile by default. Initially those that are built into this package.
  public var protocols = DescriptionLibrary.builtIn

  /// A store with these profiles, in order of precedence.
  public init(_ profiles: [Profile]) { self.profiles = profiles }

  /// A store with the profiles that come with these drivers.
  public init(drivers: DriverLibrary) { self.init(drivers.drivers.flatMap(\.profiles)) }

  /// Adds a profile before all others. It replaces one with the same name.
  public mutating func register(_ profile: Profile) {
    profiles.removeAll { $0.name == profile.name }
    profiles.insert(profile, at: 0)
  }

  /// The profile with this name, or else the default profile of the described protocol with this name.
  public func profile(named name: String) -> Profile? {
    profiles.first { $0.name == name } ?? protocols.profile(name)
  }

  /// What to do instead of naming a profile that isn't there: "there is no profile jdb: did you mean jbd?"
  package func missing(_ name: String) -> String {
    let names = profiles.map(\.name) + protocols.names
    let advice = NearestWord.advice(name, among: names, otherwise: "bridge-cli profile list shows all")
    return "there is no profile \(SafeText.escape(name)): \(advice)"
  }

  /// The profile with the most specific rule that matches the device. Among equally specific ones, users' profiles take
  /// precedence over built-in ones, and then the first counts. Nil when equally specific profiles name different
  /// protocols, because it isn't known which one is right; see `conflict`.
  ///
  /// A device with several transports is one accessory, so its terminal and its USB device have the same profile. A device that no
  /// rule matches, but that was announced with a described protocol, has that protocol's default profile.
  public func profile(for device: Device) -> Profile? {
    let best = best(for: device)
    guard let first = best.first else { return device.driver.flatMap { protocols.profile($0) } }
    return best.allSatisfy { $0.speaksAs(first) } ? first : nil
  }

  /// The error `misconfigured` when equally specific profiles match a device but name different kinds; it names two
  /// of them. Nil when there is no such conflict. Nothing may be sent to such a device until the user chooses one.
  /// `label` is the device's name in the error.
  public func conflict(for device: Device, label: String) -> AccessoryError? {
    let best = best(for: device)
    guard let first = best.first, let other = best.first(where: { !$0.speaksAs(first) }) else { return nil }
    let names = [first, other].map { "\($0.name) (\($0.driver ?? "no driver"))" }
    return AccessoryError(
      .misconfigured,
      "two profiles match \(label) equally well, and name different kinds: \(names.joined(separator: " and ")); "
        + "nothing was sent to it: make the match rule of one more specific, or name the driver with --driver")
  }

  /// The device's profile or, in a conflict, all profiles of the conflict.
  package func claiming(_ device: Device) -> [Profile] { profile(for: device).map { [$0] } ?? best(for: device) }

  /// The profiles with the most specific rules that match the device, in order of precedence.
  private func best(for device: Device) -> [Profile] {
    var best: (profiles: [Profile], specificity: [Int]) = ([], [])
    for profile in profiles where profile.isMeant(for: device) {
      let fitting = profile.rules.filter { $0.fits(device) }.map(\.specificity)
      guard let specificity = fitting.max(by: { $0.lexicographicallyPrecedes($1) }) else { continue }
      if best.profiles.isEmpty || best.specificity.lexicographicallyPrecedes(specificity) {
        best = ([profile], specificity)
      } else if specificity == best.specificity {
        best.profiles.append(profile)
      }
    }
    guard best.profiles.count > 1 else { return best.profiles }
    let own = best.profiles.filter { !$0.origin.isShipped }
    return own.isEmpty ? best.profiles : own
  }
}

extension Profile {
  /// Whether the profile can be meant for this one of the accessories of a USB device: a power device beside a serial port is asked for
  /// reports, and a serial port isn't.
  fileprivate func isMeant(for device: Device) -> Bool {
    let asksForReports =
      origin.asksForReports || transport.preferredTransport == .hidraw || rules.contains { $0.hidUsage != nil }
    switch device.address.transport {
    case .terminal: return device.usb == nil || !asksForReports
    case .hidraw: return device.usb?.terminalInterface == nil || asksForReports
    default: return true
    }
  }

  /// Whether both profiles mean the same protocol.
  fileprivate func speaksAs(_ other: Profile) -> Bool {
    guard driver == other.driver else { return false }
    guard let described, let others = other.described else { return described == nil && other.described == nil }
    return described.description == others.description
  }
}
