// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery

/// The drivers that a program knows, by their names: the built-in ones, and those that it adds.
///
/// It is a value that is passed to whoever looks a driver up: to the reader of profiles, which name a driver, to
/// `DeviceOpener`, to the service, to `EAAccessoryManager`.
public struct DriverLibrary: Sendable {
  /// In the order in which they are shown. Those of described protocols aren't among them.
  public private(set) var drivers: [Driver]
  /// The described protocols, whose names are drivers' names, too: none unless they are set.
  public var protocols: DescriptionLibrary

  /// The drivers that come with this package.
  public static let builtIn = DriverLibrary([.af1, .ev3, .hm10, .bluno, .hm1x, .mavlink], protocols: .builtIn)

  /// These drivers, of those that have one name the last, and these described protocols.
  public init(_ drivers: [Driver] = [], protocols: DescriptionLibrary = .none) {
    self.drivers = []
    self.protocols = protocols
    for driver in drivers { register(driver) }
  }

  /// Adds a driver, in place of one that has the same name.
  public mutating func register(_ driver: Driver) {
    if let index = drivers.firstIndex(where: { $0.name == driver.name }) {
      drivers[index] = driver
    } else {
      drivers.append(driver)
    }
  }

  /// All drivers, those of described protocols too, whose files are read for this.
  public var all: [Driver] { drivers + protocols.names.compactMap { driver(named: $0) } }

  /// The driver of this name: one of `drivers`, or that of the described protocol that is called so.
  public func driver(named name: String) -> Driver? {
    drivers.first { $0.name == name } ?? protocols.described(name).map { Driver($0.description) }
  }

  /// The driver that is known to speak with `device`: the one that its profile names, or, where no profile fits, the one
  /// that it was announced with.
  ///
  /// Nil when none is known. There is no default: such a device is opened as bytes, and nothing is sent to it but what
  /// its user or a client writes. Another protocol's greeting can make a robot drive off.
  public func driver(for device: Device, _ profile: Profile?) -> Driver? {
    let numbers = profile?.parameters ?? [:]
    if let described = profile?.described { return Driver(described.description.setting(numbers)) }
    let name = if let profile { profile.driver } else { device.driver }
    guard let name, !numbers.isEmpty, !drivers.contains(where: { $0.name == name }) else {
      return name.flatMap { driver(named: $0) }
    }
    return protocols.described(name).map { Driver($0.description.setting(numbers)) }
  }

  /// The error of what needs a driver, for a device of which none is known: `misconfigured`, with the reason and the
  /// drivers that there are. `label` is what the device is called.
  public func unknown(for device: Device, _ profile: Profile?, label: String) -> AccessoryError {
    let reason: String
    if let profile {
      if let name = profile.driver {
        reason = "the profile \(profile.name), which fits \(label), names the driver \(name), which isn't known here"
      } else {
        reason = "the profile \(profile.name), which fits \(label), names no driver"
      }
    } else if let name = device.driver {
      let name = SafeText.escape(name)
      reason = "\(label) was announced with the driver \(name), which this version doesn't have"
    } else {
      reason = "nothing says which protocol \(label) speaks"
    }
    return AccessoryError(
      .misconfigured,
      "\(reason), so nothing was sent to it: if you know, say --driver with one of \(summary), or write a profile for it"
    )
  }

  /// The names, with commas between them: "framed, ev3, hm10".
  public var names: String { (drivers.map(\.name) + protocols.names).joined(separator: ", ") }

  /// All drivers with what they are for: "framed (AF1), ev3 (LEGO EV3 bricks), …".
  public var summary: String {
    (drivers.map { $0.summary.isEmpty ? $0.name : "\($0.name) (\($0.summary))" } + protocols.names)
      .joined(separator: ", ")
  }
}
