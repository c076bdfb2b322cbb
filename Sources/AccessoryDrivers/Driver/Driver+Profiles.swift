// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryCore
import AccessoryProtocols

extension Driver {
  /// The same driver with its built-in profiles, which are read at their first use.
  package func shipping(_ profiles: @escaping @Sendable () -> [Profile]) -> Driver {
    var driver = self
    driver.shippedProfiles = profiles
    return driver
  }

  /// The same driver, with the probe by which `identify` finds its accessories, and the probe's places in the order.
  package func found(by probe: @escaping Probe, at places: [ProbePlace]) -> Driver {
    var driver = self
    (driver.probe, driver.probePlaces) = (probe, places)
    return driver
  }

  /// The same driver, with its protocol's message numbers, which may differ when a recording is replayed.
  package func numbered(_ numbering: ReplayNumbering) -> Driver {
    var driver = self
    driver.numbering = numbering
    return driver
  }

  /// Makes a probe. `form` is that of its place. `isNetwork` says that the port is a connection on the network. Returns nil if there is
  /// no such form.
  package typealias Probe = @Sendable (_ form: String?, _ isNetwork: Bool, _ timeout: Duration?) -> NativeProbe?
}

extension Profile {
  /// The profile in a file that comes with `driver`, whose tests check that it can be read.
  package static func shipped(_ text: [UInt8], driver: String) -> Profile {
    do {
      // Its driver isn't looked up: it asks for this profile.
      var profile = try ProfileReader.read(text, file: "built in", drivers: .named(driver), protocols: .none)
      profile.origin.isShipped = true
      return profile
    } catch {
      preconditionFailure("the profile of \(driver) can't be read: \(error)")
    }
  }
}

extension DriverLibrary {
  /// A library of one driver that only has a name, for the reader of profiles.
  fileprivate static func named(_ name: String) -> DriverLibrary {
    DriverLibrary([
      Driver(name: name, rawBytes: .guarded) { session, _, _ throws(AccessoryError) in
        throw AccessoryError(.unsupported, "\(session.label): nothing opens an accessory of the driver \(name) here")
      }
    ])
  }
}

/// Whether a profile comes with a driver, and what its driver is. It makes no two profiles differ.
struct ProfileOrigin: Sendable, Hashable {
  var isShipped = false
  /// Whether the driver asks for HID reports.
  var asksForReports = false

  static func == (_: ProfileOrigin, _: ProfileOrigin) -> Bool { true }
  func hash(into _: inout Hasher) {}
}
