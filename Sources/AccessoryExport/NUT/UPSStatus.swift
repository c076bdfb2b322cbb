// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// The content of `ups.status` for an accessory.
///
/// NUT's `upsmon` shuts its machine down when a UPS is on battery and low. But a battery pack that powers something else is
/// discharged and low every day. So only accessories that the user has named as UPSs ever report `OB` (on battery) or `LB` (low). All
/// others always report `OL` (on line), whether they charge or discharge.
package struct UPSStatus: Sendable, Hashable {
  /// Whether this UPS's machine runs on battery power.
  package var isOnBattery: Bool
  package var isLow: Bool
  package var isCharging: Bool
  package var isDischarging: Bool
  /// Whether its battery must be replaced.
  package var needsBattery: Bool
  /// Whether more is plugged into it than it can supply.
  package var isOverloaded: Bool

  /// The status of an accessory. `isUPS` is true if the user has named it as a UPS.
  package init(_ accessory: ExportedAccessory, isUPS: Bool) {
    let battery = accessory.battery
    isCharging = battery?.charge == .charging
    isDischarging = battery?.charge == .discharging
    isOnBattery = isUPS && Self.isOnBattery(accessory)
    let warnings = (battery?.warnings ?? []) + (battery?.faults ?? [])
    needsBattery = warnings.contains("replace-battery")
    isOverloaded = warnings.contains("overload")
    isLow = isUPS && (battery?.level == .low || battery?.level == .critical || warnings.contains("battery-low"))
  }

  /// Whether the accessory says if it runs on battery power.
  static func isKnown(of accessory: ExportedAccessory) -> Bool {
    if case .flag? = accessory.values.value(Vocabulary.onBattery)?.content { return true }
    return (accessory.battery?.charge ?? .unknown) != .unknown
  }

  /// A UPS reports whether mains power is present. For other batteries, discharging counts as "on battery".
  private static func isOnBattery(_ accessory: ExportedAccessory) -> Bool {
    if case .flag(let isOnBattery)? = accessory.values.value(Vocabulary.onBattery)?.content { return isOnBattery }
    return accessory.battery?.charge == .discharging
  }

  /// NUT's status words separated by blanks: "OL CHRG", "OB DISCHRG LB".
  package var text: String {
    var words = [isOnBattery ? "OB" : "OL"]
    if isCharging { words.append("CHRG") }
    if isDischarging { words.append("DISCHRG") }
    if isLow { words.append("LB") }
    if needsBattery { words.append("RB") }
    if isOverloaded { words.append("OVER") }
    return words.joined(separator: " ")
  }
}
