// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// Something that accessories of some drivers can be asked for, and those of others never.
public enum DriverAbility: String, Sendable, Hashable, CaseIterable {
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
  /// Throws `unsupported` when no accessory of this driver has this, as the accessory would: so it is known before the
  /// device is opened, which resets some boards. `label` is what the device is called.
  public func check(_ ability: DriverAbility, label: String) throws(AccessoryError) {
    guard lacks.contains(ability) else { return }
    let reason =
      switch ability {
      case .battery: "doesn't tell its battery"
      case .values: "tells no values: only what status and battery show"
      case .files: "has no files that this command knows of"
      case .requests: "takes no AF1 commands"
      }
    throw AccessoryError(.unsupported, "\(label) \(reason)")
  }
}
