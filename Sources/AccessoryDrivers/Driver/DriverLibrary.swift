// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDescriptions
import AccessoryDiscovery

/// The drivers that a program knows, by name: those that come with this package (`builtIn`, of AccessoryFamilies), and those that
/// the program adds.
///
/// It is a value, passed to everything that looks up drivers: the reader of profiles, `DeviceOpener`, the service and
/// `EAAccessoryManager`.
public struct DriverLibrary: Sendable {
  /// The drivers in Swift, in the order in which they are shown. Those of described protocols aren't included.
  public private(set) var drivers: [Driver]
  /// The described protocols. The name of a protocol is also the name of its driver. Empty by default.
  public var protocols: DescriptionLibrary

  /// A library of these drivers and described protocols. Of drivers with the same name, the last one counts.
  public init(_ drivers: [Driver] = [], protocols: DescriptionLibrary = .none) {
    self.drivers = []
    self.protocols = protocols
    for driver in drivers { register(driver) }
  }

  /// Adds a driver. It replaces one with the same name.
  public mutating func register(_ driver: Driver) {
    if let index = drivers.firstIndex(where: { $0.name == driver.name }) {
      drivers[index] = driver
    } else {
      drivers.append(driver)
    }
  }

  /// All drivers, including those of described protocols, whose descriptions are parsed for this.
  public var all: [Driver] { drivers + protocols.names.compactMap { driver(named: $0) } }

  /// The driver with this name: one of `drivers`, or that of a described protocol.
  public func driver(named name: String) -> Driver? {
    drivers.first { $0.name == name } ?? protocols.described(name).map { Driver($0.description) }
  }

  /// How the first driver opens the device at an address that doesn't want bytes and is for such devices; nil for none.
  func opening(of address: DeviceAddress) -> DriverOpening? {
    drivers.lazy.compactMap(\.opening).first { $0.fits(address) }
  }

  /// The driver for `device`: the one that its profile names or, without a profile, the one that the device was announced with.
  ///
  /// Nil when neither names one. There is no default: such a device is opened as a plain byte stream, and nothing is
  /// sent to it except what the user or a client writes. The first bytes of a wrong protocol could make a robot move.
  public func driver(for device: Device, _ profile: Profile?) -> Driver? {
    let numbers = profile?.parameters ?? [:]
    if let described = profile?.described { return Driver(described.description.setting(numbers)) }
    let name = if let profile { profile.driver } else { device.driver }
    guard let name, !numbers.isEmpty, !drivers.contains(where: { $0.name == name }) else {
      return name.flatMap { driver(named: $0) }
    }
    return protocols.described(name).map { Driver($0.description.setting(numbers)) }
  }

  /// The error `misconfigured` for a device without a known driver, with the reason and what to do. `label` is the device's
  /// name in the error.
  public func unknown(for device: Device, _ profile: Profile?, label: String) -> AccessoryError {
    let reason: String
    let looks = profile == nil && device.driver == nil ? kindsOnAir(device).map(\.kind) : []
    if let profile {
      if let name = profile.driver {
        reason = "the profile \(profile.name), which matches \(label), names the unknown driver \(name)"
      } else {
        reason = "the profile \(profile.name), which matches \(label), names no driver"
      }
    } else if let name = device.driver {
      let name = SafeText.escape(name)
      reason = "\(label) was announced with the driver \(name), which this version doesn't have"
    } else if let first = looks.first {
      return AccessoryError(
        .misconfigured,
        "\(label) looks like \(looks.joined(separator: " or ")) by what it tells, which anybody can: nothing was sent to it. "
          + "If it is one, name its driver with --driver \(first), or write a profile for it")
    } else {
      reason = "the protocol of \(label) is unknown"
    }
    return AccessoryError(.misconfigured, "\(reason), so nothing was sent to it: \(Self.advice(on: device))")
  }

  /// What to do about a device whose driver isn't known.
  package static func advice(on device: Device) -> String {
    let place = SafeText.escape(device.place, limit: 200)
    let canBeIdentified = IdentificationPlan.PortKind(device.address) != nil
    let ways =
      canBeIdentified
      ? "sets it up, bridge-cli profile identify \(place) finds out what it speaks, and" : "sets it up, and"
    return "bridge-cli setup \(place) \(ways) --driver NAME says it (bridge-cli drivers lists the names)"
  }
}
