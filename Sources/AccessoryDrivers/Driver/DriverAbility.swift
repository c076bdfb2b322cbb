// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// A function that accessories of some drivers have, and those of others never.
public enum DriverAbility: String, Sendable, Hashable, CaseIterable {
  /// `Accessory.status()`. Without it, the status is unknown; it isn't an error to ask for it.
  case status
  /// `Accessory.battery()`.
  case battery
  /// `Accessory.values()`.
  case values
  /// `Accessory.files`.
  case files
  /// `Accessory.request(_:payload:)`.
  case requests
}

extension Driver {
  /// Throws `unsupported`, as the accessory would, when no accessory of this driver has the ability. So callers find
  /// out without opening the device, which would reset some boards. `label` is the device's name in the error.
  public func check(_ ability: DriverAbility, label: String) throws(AccessoryError) {
    guard lacks.contains(ability) else { return }
    let reason =
      switch ability {
      case .status: "reports no status"
      case .battery: "doesn't report its battery"
      case .values: "reports no values beside its status and battery"
      case .files: "has no files that this command knows of"
      case .requests: "takes no requests by number"
      }
    throw AccessoryError(.unsupported, "\(label) \(reason)")
  }
}
