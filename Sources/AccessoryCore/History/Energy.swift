// SPDX-License-Identifier: Apache-2.0

/// The energy into and out of a battery, by hours. It is counted from voltage and current.
package struct Energy: Sendable, Hashable {
  /// The energy in an hour or in a longer time.
  package struct Amount: Sendable, Hashable {
    /// Watt hours into the battery, and out of it. Both are positive.
    package var inWattHours, outWattHours: Double
    /// The time of which the power is known, in seconds.
    package var seconds: Double

    package init(inWattHours: Double = 0, outWattHours: Double = 0, seconds: Double = 0) {
      (self.inWattHours, self.outWattHours, self.seconds) = (inWattHours, outWattHours, seconds)
    }

    package static func + (one: Amount, other: Amount) -> Amount {
      Amount(
        inWattHours: one.inWattHours + other.inWattHours, outWattHours: one.outWattHours + other.outWattHours,
        seconds: one.seconds + other.seconds)
    }
  }

  /// The amounts of the hours with known power, by the hour's number since 1970, UTC.
  package var hours: [Int: Amount]

  package init(hours: [Int: Amount] = [:]) { self.hours = hours }

  package static let secondsOfHour = 3_600.0
  /// Hours before 2106: what times of readings can be.
  private static let hourRange = 0...Int(UInt32.max) / 3_600

  /// Counts the energy from a battery's voltage in volts and its current in amperes. Each point's mean holds for its whole time; where
  /// one of both is missing, the power is unknown.
  package static func count(voltage: [ReadingSeries.Point], current: [ReadingSeries.Point]) -> Energy {
    var energy = Energy()
    for point in ReadingSeries.power(voltage: voltage, current: current) {
      if let watts = point.mean { energy.add(watts, from: point.time, to: point.end) }
    }
    return energy
  }

  /// Adds a constant power in watts, which is negative while the battery discharges.
  private mutating func add(_ watts: Double, from start: Double, to end: Double) {
    guard watts.isFinite, start.isFinite, end.isFinite, end - start <= 1e8 else { return }
    var start = max(0, start)
    while start < end {
      let number = (start / Self.secondsOfHour).rounded(.down)
      guard let hour = Int(exactly: number), Self.hourRange.contains(hour) else { return }
      let stop = min(end, (number + 1) * Self.secondsOfHour)
      let wattHours = abs(watts) * (stop - start) / Self.secondsOfHour
      hours[hour, default: Amount()] =
        hours[hour, default: Amount()]
        + Amount(inWattHours: watts > 0 ? wattHours : 0, outWattHours: watts < 0 ? wattHours : 0, seconds: stop - start)
      start = stop
    }
  }

  /// These hours, and of `other` those that are missing here.
  package func completed(by other: Energy) -> Energy { Energy(hours: hours.merging(other.hours) { own, _ in own }) }

  /// The hours that end after `time`, in seconds since 1970.
  package func since(_ time: Double) -> Energy {
    Energy(hours: hours.filter { Double($0.key + 1) * Self.secondsOfHour > time })
  }

  /// The amounts by periods, for example days: `period` is the period in which a time (in seconds since 1970) lies.
  package func amounts<Period: Hashable>(by period: (Double) -> Period) -> [Period: Amount] {
    var amounts: [Period: Amount] = [:]
    for (hour, amount) in hours {
      // Where a day begins with half an hour, as in India, the hour counts where its middle is.
      let key = period((Double(hour) + 0.5) * Self.secondsOfHour)
      amounts[key] = (amounts[key] ?? Amount()) + amount
    }
    return amounts
  }
}

extension ReadingSeries {
  /// The name of the series of a battery's power in watts, which isn't kept: it is the voltage times the current.
  package static let power = "battery.power"

  /// The power of a battery whose voltage and current are among these series; nil without them.
  package static func power(of series: [ReadingSeries]) -> ReadingSeries? {
    guard let volts = series.first(where: { $0.name == voltage }),
      let amperes = series.first(where: { $0.name == current })
    else { return nil }
    let points = power(voltage: volts.points, current: amperes.points)
    return points.isEmpty ? nil : ReadingSeries(name: power, unit: MeasurementUnit.watt.rawValue, points: points)
  }

  /// The power of the times of which both are known, and gaps between them.
  static func power(voltage: [Point], current: [Point]) -> [Point] {
    var points: [Point] = []
    var (one, other) = (0, 0)
    while one < voltage.count, other < current.count {
      let (volts, amperes) = (voltage[one], current[other])
      let (start, end) = (max(volts.time, amperes.time), min(volts.end, amperes.end))
      if start < end, let volt = volts.mean, let ampere = amperes.mean {
        if let last = points.last, last.end < start {
          points.append(Point(time: last.end, span: start - last.end, nil))
        }
        points.append(
          Point(
            time: start, span: end - start, mean: volt * ampere, least: amperes.least.map { volt * $0 },
            greatest: amperes.greatest.map { volt * $0 }))
      }
      if volts.end <= amperes.end { one += 1 } else { other += 1 }
    }
    return points
  }
}
