// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// What `ups.status` says of an accessory.
///
/// NUT's `upsmon` shuts its machine down when a UPS is on battery and low. A battery pack that powers something else is
/// discharged and low every day. So only accessories that the user has named as UPSs are ever `OB` (on battery) or `LB`
/// (low); all others are `OL` (on line), whatever they report, and may be charged or discharged.
package struct UPSStatus: Sendable, Hashable {
  /// Whether the machine at this UPS runs from the battery.
  package var isOnBattery: Bool
  package var isLow: Bool
  package var isCharging: Bool
  package var isDischarging: Bool

  /// The status of an accessory; `isUPS` is true for those that the user has named.
  package init(_ accessory: ExportedAccessory, isUPS: Bool) {
    let battery = accessory.battery
    isCharging = battery?.charge == .charging
    isDischarging = battery?.charge == .discharging
    isOnBattery = isUPS && Self.isOnBattery(accessory)
    let warnings = (battery?.warnings ?? []) + (battery?.faults ?? [])
    isLow = isUPS && (battery?.level == .low || battery?.level == .critical || warnings.contains("battery-low"))
  }

  /// UPSs tell whether the mains are there; of other batteries it is known whether they are discharged.
  private static func isOnBattery(_ accessory: ExportedAccessory) -> Bool {
    if case .flag(let isOnBattery)? = accessory.values.value(Vocabulary.onBattery)?.content { return isOnBattery }
    return accessory.battery?.charge == .discharging
  }

  /// NUT's words with blanks between them: "OL CHRG", "OB DISCHRG LB".
  package var text: String {
    var words = [isOnBattery ? "OB" : "OL"]
    if isCharging { words.append("CHRG") }
    if isDischarging { words.append("DISCHRG") }
    if isLow { words.append("LB") }
    return words.joined(separator: " ")
  }
}
