// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// The entities of an accessory's status and battery. Their templates read `FleetState`.
enum ReadingEntities {
  static func all(_ facts: DiscoveryFacts) -> [Entity] { status(facts) + battery(facts) + identity(facts) }

  // MARK: - Status

  private static let states = AccessoryState.allCases.filter { $0 != .notInitialized }.map(\.word)

  private static func status(_ facts: DiscoveryFacts) -> [Entity] {
    guard facts.hasStatus else { return [] }
    let status = "value_json.status"
    let words = states.map(HomeAssistantText.literal).joined(separator: ", ")
    var entities: [Entity] = [
      .choice(
        "state", name: "State", states,
        "{{ \(status).state if \(status) and \(status).state in [\(words)] else none }}"),
      .truth(
        "fault", name: "Fault", deviceClass: "problem",
        "{{ none if not \(status) or (\(status).state is none and not \(status).reports_faults) "
          + "else 'ON' if \(status).state == 'fault' or \(status).fault_code else 'OFF' }}"),
    ]
    if facts.hasFaultCode {
      entities.append(.text("fault_code", name: "Fault code", field(of: status, "fault_code")).diagnostic)
    }
    if facts.hasProgress {
      entities.append(
        .measurement("progress", name: "Progress", unit: "%", field(of: status, "progress_percent")))
    }
    return entities
  }

  private static func field(of object: String, _ name: String) -> String {
    "{{ \(object).\(name) if \(object) else none }}"
  }

  // MARK: - Battery

  private static let battery = "value_json.battery"

  /// What a field of the battery is in Home Assistant.
  private struct Number {
    var field: BatteryReading.Field
    var key, name: String
    var deviceClass, unit: String?
    var stateClass = "measurement"
  }

  private static let numbers: [Number] = [
    .init(field: .percent, key: "battery", name: "Battery", deviceClass: "battery", unit: "%"),
    .init(field: .voltage, key: "voltage", name: "Battery voltage", deviceClass: "voltage", unit: "mV"),
    .init(field: .current, key: "current", name: "Battery current", deviceClass: "current", unit: "mA"),
    .init(field: .timeToEmpty, key: "time_to_empty", name: "Time to empty", deviceClass: "duration", unit: "s"),
    .init(field: .timeToFull, key: "time_to_full", name: "Time to full", deviceClass: "duration", unit: "s"),
    .init(field: .remainingCapacity, key: "remaining", name: "Remaining charge", unit: "mAh"),
    .init(field: .fullCapacity, key: "full", name: "Charge when full", unit: "mAh"),
    .init(field: .cycles, key: "cycles", name: "Charging cycles", stateClass: "total_increasing"),
    .init(field: .health, key: "health", name: "Battery health", unit: "%"),
  ]

  private static let levels = ["critical", "low", "normal", "high", "full"]
  private static let charges = ["charging", "discharging", "not_charging", "full"]

  private static func battery(_ facts: DiscoveryFacts) -> [Entity] {
    var entities = numbers.filter { facts.battery.contains($0.field) }.map { number in
      Entity.measurement(
        number.key, name: number.name, deviceClass: number.deviceClass, unit: number.unit,
        field(of: battery, number.field.rawValue), stateClass: number.stateClass
      ).diagnostic
    }
    // Where there is a percentage, its entity says the same, and Home Assistant's cards prefer it.
    if facts.hasLevel, !facts.battery.contains(.percent) {
      entities += [
        .truth(
          "battery_low", name: "Battery low", deviceClass: "battery",
          "{{ none if not \(battery) or \(battery).level == 'unknown' "
            + "else 'ON' if \(battery).level in ['critical', 'low'] else 'OFF' }}"
        ).diagnostic,
        .choice("battery_level", name: "Battery level", levels, known("level")).diagnostic,
      ]
    }
    if facts.hasCharge {
      entities += [
        .truth(
          "charging", name: "Charging", deviceClass: "battery_charging",
          "{{ none if not \(battery) or \(battery).charge == 'unknown' "
            + "else 'ON' if \(battery).charge == 'charging' else 'OFF' }}"
        ).diagnostic,
        .choice("charge", name: "Battery state", charges, known("charge")).diagnostic,
      ]
    }
    if facts.battery.contains(.cells) { entities += cells }
    entities += facts.temperatures.enumerated().map(temperature)
    if facts.battery.contains(.faults) {
      entities += [
        .truth(
          "battery_problem", name: "Battery problem", deviceClass: "problem",
          "{{ none if not \(battery) or \(battery).faults is none else 'ON' if \(battery).faults else 'OFF' }}"
        ).diagnostic, names("battery_faults", name: "Battery faults", "faults"),
      ]
    }
    if facts.battery.contains(.warnings) {
      entities.append(names("battery_warnings", name: "Battery warnings", "warnings"))
    }
    return entities
  }

  /// A word of the battery; `None` for `unknown`.
  private static func known(_ field: String) -> String {
    "{{ \(battery).\(field) if \(battery) and \(battery).\(field) != 'unknown' else none }}"
  }

  private static var cells: [Entity] {
    let list = "{% set cells = (\(battery).cells_mv or []) | reject('none') | list if \(battery) else [] %}"
    func cell(_ key: String, _ name: String, _ formula: String) -> Entity {
      .measurement(
        key, name: name, deviceClass: "voltage", unit: "mV", list + "{{ \(formula) if cells else none }}"
      ).diagnostic
    }
    return [
      cell("cell_min", "Lowest cell voltage", "cells | min"), cell("cell_max", "Highest cell voltage", "cells | max"),
      cell("cell_spread", "Cell voltage spread", "(cells | max) - (cells | min)"),
    ]
  }

  private static func temperature(_ index: Int, _ name: String?) -> Entity {
    let list = "{% set all = (\(battery).temperatures or []) if \(battery) else [] %}"
    let millidegrees = "all[\(index)].temperature_mc"
    let title = name.map { HomeAssistantText.title($0) + " temperature" } ?? "Battery temperature \(index + 1)"
    return .measurement(
      "temperature_\(index + 1)", name: title, deviceClass: "temperature", unit: "°C",
      list
        + "{{ \(millidegrees) / 1000 if all | length > \(index) and \(millidegrees) is not none else none }}"
    ).diagnostic
  }

  private static func names(_ key: String, name: String, _ field: String) -> Entity {
    .text(
      key, name: name,
      "{{ none if not \(battery) or \(battery).\(field) is none "
        + "else (\(battery).\(field) | join(', ') or 'no \(field)')[:255] }}"
    ).diagnostic
  }

  // MARK: - Identity

  private static func identity(_ facts: DiscoveryFacts) -> [Entity] {
    guard let firmware = facts.identity?.firmware, !firmware.isEmpty else { return [] }
    return [
      .text(
        "firmware", name: "Firmware",
        "{{ (value_json.identity.firmware or none) | string | truncate(255, true, '') if value_json.identity else none }}"
      ).diagnostic
    ]
  }
}
