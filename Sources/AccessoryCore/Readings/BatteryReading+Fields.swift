// SPDX-License-Identifier: Apache-2.0

extension BatteryReading {
  /// The fields of a reading, by the names that they have in the service's interface and in JSON documents.
  public enum Field: String, Sendable, Hashable, CaseIterable {
    /// The cases are in the order of the properties of `BatteryReading`.
    case percent, level
    case voltage = "voltage_mv"
    case current = "current_ma"
    case charge
    case timeToEmpty = "time_to_empty_s"
    case timeToFull = "time_to_full_s"
    case temperatures
    case cells = "cells_mv"
    case remainingCapacity = "remaining_mah"
    case fullCapacity = "full_mah"
    case cycles
    case health = "health_percent"
    case faults, warnings

    /// The allowed range, for fields that are one whole number; nil for other fields.
    public var range: ClosedRange<Int>? {
      switch self {
      case .percent, .health: ReadingLimits.percent
      case .voltage, .current: ReadingLimits.electrical
      case .timeToEmpty, .timeToFull: ReadingLimits.seconds
      case .remainingCapacity, .fullCapacity: ReadingLimits.capacity
      case .cycles: ReadingLimits.cycles
      case .level, .charge, .temperatures, .cells, .faults, .warnings: nil
      }
    }
  }

  /// The value of a field that is one whole number, in the unit that its property names, and in seconds for a time; nil
  /// for other fields and for unknown values. Setting a number outside of the field's range makes the field unknown.
  public subscript(field: Field) -> Int? {
    get {
      switch field {
      case .percent: percent
      case .voltage: millivolts
      case .current: milliamperes
      case .timeToEmpty: timeToEmpty.map { Int(clamping: $0.components.seconds) }
      case .timeToFull: timeToFull.map { Int(clamping: $0.components.seconds) }
      case .remainingCapacity: remainingMilliampereHours
      case .fullCapacity: fullMilliampereHours
      case .cycles: cycles
      case .health: healthPercent
      case .level, .charge, .temperatures, .cells, .faults, .warnings: nil
      }
    }
    set {
      let value = newValue.flatMap { field.range?.contains($0) == true ? $0 : nil }
      switch field {
      case .percent: percent = value
      case .voltage: millivolts = value
      case .current: milliamperes = value
      case .timeToEmpty: timeToEmpty = value.map { .seconds($0) }
      case .timeToFull: timeToFull = value.map { .seconds($0) }
      case .remainingCapacity: remainingMilliampereHours = value
      case .fullCapacity: fullMilliampereHours = value
      case .cycles: cycles = value
      case .health: healthPercent = value
      case .level, .charge, .temperatures, .cells, .faults, .warnings: break
      }
    }
  }

  /// The reading within `ReadingLimits`: a number outside of its range becomes unknown; long lists and names are cut.
  public var bounded: BatteryReading {
    var reading = self
    for field in Field.allCases where field.range != nil { reading[field] = self[field] }
    reading.cellMillivolts = cellMillivolts.prefix(ReadingLimits.cells).map {
      ReadingLimits.within($0, ReadingLimits.electrical)
    }
    reading.temperatures = temperatures.prefix(ReadingLimits.temperatures).map {
      Temperature(
        ReadingLimits.within($0.millidegrees, ReadingLimits.millidegrees),
        name: $0.name.map { ReadingLimits.cut($0, to: ReadingLimits.nameBytes) })
    }
    reading.faults = faults.map(ReadingLimits.names)
    reading.warnings = warnings.map(ReadingLimits.names)
    return reading
  }
}
