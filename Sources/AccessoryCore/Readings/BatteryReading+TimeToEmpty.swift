// SPDX-License-Identifier: Apache-2.0

extension BatteryReading {
  /// The reading with the time until the battery is empty, where the accessory doesn't report it, but the remaining charge
  /// and the current that is drawn: the first divided by the second. The field is then in `derived`. Nothing is derived
  /// while the battery isn't discharging, or when the result is a thousand hours or more, since so small a current is within
  /// the error of the measurement.
  package var withTimeToEmpty: BatteryReading {
    guard timeToEmpty == nil, let remaining = remainingMilliampereHours, remaining >= 0,
      let current = milliamperes, current < 0, [.discharging, .unknown].contains(charge)
    else { return self }
    let (charge, isTooMuch) = remaining.multipliedReportingOverflow(by: 3_600)
    guard !isTooMuch else { return self }
    let seconds = charge / Int(clamping: current.magnitude)
    guard seconds < Self.longestDerivedTime else { return self }
    var reading = self
    reading.timeToEmpty = .seconds(seconds)
    reading.derived.insert(.timeToEmpty)
    return reading
  }

  /// A thousand hours, in seconds.
  private static let longestDerivedTime = 3_600_000
}
