// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

// The wire format of a battery reading; see `BridgeReadings.swift`.

extension Bridge {
  package struct BatteryTemperature: Codable, Sendable, Hashable {
    package var name: String?
    package var temperature_mc: Int?

    package init(name: String? = nil, temperature_mc: Int? = nil) {
      self.name = name
      self.temperature_mc = temperature_mc
    }

    private enum CodingKeys: String, CodingKey {
      case name, temperature_mc
    }

    /// Writes both fields, nil ones as null, in the interface as well as in JSON documents.
    package func encode(to encoder: any Encoder) throws {
      var fields = encoder.container(keyedBy: CodingKeys.self)
      try fields.encode(name, forKey: .name)
      try fields.encode(temperature_mc, forKey: .temperature_mc)
    }
  }

  package struct Battery: ReadingShape {
    package enum CodingKeys: String, CodingKey, CaseIterable {
      case level, level_origin, charge, percent, voltage_mv, current_ma, time_to_empty_s, time_to_full_s, temperatures
      case cells_mv, remaining_mah, full_mah, cycles, health_percent, faults, warnings, derived
    }

    package var level, level_origin, charge: String
    package var percent, health_percent: Int?
    package var voltage_mv, current_ma, time_to_empty_s, time_to_full_s, remaining_mah, full_mah, cycles: Int?
    package var temperatures: [BatteryTemperature]?
    package var cells_mv: [Int?]?
    package var faults, warnings, derived: [String]?

    package init(
      level: String, level_origin: String, charge: String, percent: Int? = nil, voltage_mv: Int? = nil,
      current_ma: Int? = nil
    ) {
      self.level = level
      self.level_origin = level_origin
      self.charge = charge
      self.percent = percent
      self.voltage_mv = voltage_mv
      self.current_ma = current_ma
    }

    /// Converts a reading to the wire format.
    package init(_ reading: BatteryReading) {
      self.init(
        level: reading.level.rawValue, level_origin: reading.levelOrigin.rawValue, charge: reading.charge.rawValue,
        percent: reading.percent, voltage_mv: reading.millivolts, current_ma: reading.milliamperes)
      (time_to_empty_s, time_to_full_s) = (reading[.timeToEmpty], reading[.timeToFull])
      (remaining_mah, full_mah) = (reading.remainingMilliampereHours, reading.fullMilliampereHours)
      (cycles, health_percent) = (reading.cycles, reading.healthPercent)
      if !reading.temperatures.isEmpty {
        temperatures = reading.temperatures.map { .init(name: $0.name, temperature_mc: $0.millidegrees) }
      }
      if !reading.cellMillivolts.isEmpty { cells_mv = reading.cellMillivolts }
      (faults, warnings) = (reading.faults, reading.warnings)
      if !reading.derived.isEmpty { derived = reading.derived.map(\.rawValue).sorted() }
    }

    /// Converts the wire format to a reading. An unknown word becomes `unknown`.
    package var reading: BatteryReading {
      var reading = BatteryReading(
        percent: percent, level: .init(rawValue: level) ?? .unknown, millivolts: voltage_mv, milliamperes: current_ma,
        charge: .init(rawValue: charge) ?? .unknown)
      reading.timeToEmpty = time_to_empty_s.map { .seconds($0) }
      reading.timeToFull = time_to_full_s.map { .seconds($0) }
      (reading.remainingMilliampereHours, reading.fullMilliampereHours) = (remaining_mah, full_mah)
      (reading.cycles, reading.healthPercent) = (cycles, health_percent)
      reading.temperatures = (temperatures ?? []).map { .init($0.temperature_mc, name: $0.name) }
      reading.cellMillivolts = cells_mv ?? []
      (reading.faults, reading.warnings) = (faults, warnings)
      reading.derived = Set((derived ?? []).compactMap { BatteryReading.Field(rawValue: $0) })
      reading.levelOrigin = .init(rawValue: level_origin) ?? .reported
      return reading
    }
  }
}

extension Bridge.Battery: CheckedReply {
  package func check() throws(ReplyNumberError) {
    let reading = reading
    for field in BatteryReading.Field.allCases {
      guard let range = field.range else { continue }
      try ReplyLimits.check(reading[field], range, field.rawValue)
    }
    try ReplyLimits.check(cells_mv?.count, 0...ReadingLimits.cells, "the number of cells_mv")
    for cell in cells_mv ?? [] { try ReplyLimits.check(cell, ReadingLimits.electrical, "cells_mv") }
    try ReplyLimits.check(temperatures?.count, 0...ReadingLimits.temperatures, "the number of temperatures")
    for temperature in temperatures ?? [] {
      try ReplyLimits.check(temperature.temperature_mc, ReadingLimits.millidegrees, "temperature_mc")
      try ReplyLimits.check(length: temperature.name, ReadingLimits.nameBytes, "name")
    }
    for (field, names) in [("faults", faults), ("warnings", warnings), ("derived", derived)] {
      try ReplyLimits.check(names?.count, 0...ReadingLimits.faults, "the number of \(field)")
      for name in names ?? [] { try ReplyLimits.check(length: name, ReadingLimits.nameBytes, field) }
    }
  }
}
