// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

/// The makers' mistakes in the reports of their devices, by vendor and product. The table is `power-quirks.yaml`.
struct PowerQuirks: Sendable, Hashable {
  /// A battery voltage more than two fifths above the nominal one is reported as 3/2 of the true one.
  var scalesBatteryVoltage = false
  /// A frequency above 400 is in tenths of a hertz.
  var scalesFrequency = false
  /// "Good" means that the output is on. For other makers its meaning is unknown.
  var goodIsOutput = false

  /// The collection of an outlet is the output, of which there is one.
  var outletIsOutput = false

  /// A device without mistakes.
  static let none = PowerQuirks()

  /// The corrected amount of this usage.
  func mended(_ amount: Double, _ usage: HIDUsage) -> Double {
    usage == PowerUsage.frequency && scalesFrequency && amount >= 400 ? amount / 10 : amount
  }

  /// The corrected voltage of a battery with this nominal voltage.
  func batteryVoltage(_ amount: Double, nominal: Double?) -> Double {
    guard scalesBatteryVoltage, let nominal, nominal > 0, amount > 1.4 * nominal else { return amount }
    return amount * 2 / 3
  }
}
