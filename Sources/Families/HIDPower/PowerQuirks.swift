// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

/// What makers get wrong in the reports of their devices, by vendor and product: `power-quirks.yaml` has them.
struct PowerQuirks: Sendable, Hashable {
  /// A battery voltage above the nominal one by more than two fifths is three halves too high.
  var scalesBatteryVoltage = false
  /// A frequency above 400 is given in tenths.
  var scalesFrequency = false
  /// "Good" tells whether the output is on. Of other makers nobody knows what it means.
  var goodIsOutput = false

  /// What the maker calls an outlet is the output, of which there is one.
  var outletIsOutput = false

  /// A device that does nothing wrong.
  static let none = PowerQuirks()

  /// What the maker means by an amount of this usage.
  func mended(_ amount: Double, _ usage: HIDUsage) -> Double {
    usage == PowerUsage.frequency && scalesFrequency && amount >= 400 ? amount / 10 : amount
  }

  /// The voltage of a battery that is made for `nominal` volts.
  func batteryVoltage(_ amount: Double, nominal: Double?) -> Double {
    guard scalesBatteryVoltage, let nominal, nominal > 0, amount > 1.4 * nominal else { return amount }
    return amount * 2 / 3
  }
}
