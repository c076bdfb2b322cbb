// SPDX-License-Identifier: Apache-2.0

extension BatteryReading {
  /// Derives the remaining charge from the percentage and the charge of the full battery, where the accessory reports
  /// those but not the remaining charge. The field is then in `derived`.
  package mutating func deriveRemaining() {
    guard remainingMilliampereHours == nil, let percent, let full = fullMilliampereHours, full > 0 else { return }
    let (product, isTooMuch) = full.multipliedReportingOverflow(by: Int(percent))
    guard !isTooMuch else { return }
    remainingMilliampereHours = product / 100
    derived.insert(.remainingCapacity)
  }
}
