// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery

extension Driver {
  /// The driver that is known to speak with `device`: the one that its profile names, or, where no profile fits, the one
  /// that it was announced with.
  ///
  /// Nil when none is known. There is no default: such a device is opened as bytes, and nothing is sent to it but what
  /// its user or a client writes. Another protocol's greeting can make a robot drive off.
  public static func known(for device: Device, _ profile: Profile?) -> Driver? {
    let name = if let profile { profile.driver } else { device.driver }
    return name.flatMap(named)
  }

  /// The error of what needs a driver, for a device of which none is known: `misconfigured`, with the reason and the
  /// drivers that there are. `label` is what the device is called.
  public static func unknown(for device: Device, _ profile: Profile?, label: String) -> AccessoryError {
    let reason: String
    if let profile {
      reason = "the profile \(profile.name), which fits \(label), names no driver"
    } else if let name = device.driver {
      let name = SafeText.escape(name)
      reason = "\(label) was announced with the driver \(name), which this version doesn't have"
    } else {
      reason = "nothing says which protocol \(label) speaks"
    }
    return AccessoryError(
      .misconfigured,
      "\(reason), so nothing was sent to it: if you know, say --driver with one of \(list), or write a profile for it")
  }

  /// All drivers with what they are for: "framed (AF1), ev3 (LEGO EV3 bricks), …".
  public static var list: String { all.map { "\($0.name) (\($0.summary))" }.joined(separator: ", ") }
}
