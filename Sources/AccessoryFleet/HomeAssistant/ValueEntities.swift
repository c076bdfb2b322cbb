// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore

/// The entities of an accessory's values. Their templates read `FleetValues`.
enum ValueEntities {
  static func all(_ facts: DiscoveryFacts, topic: String) -> [Entity] {
    facts.values.values.sorted { $0.name < $1.name }.map { entity($0).with("state_topic", topic) }
  }

  private static func entity(_ value: DiscoveryFacts.Value) -> Entity {
    // A value may have any name; the key may not.
    let key = "value_" + TopicLevel(naming: value.name).text
    let name = HomeAssistantText.title(value.name)
    // `value_json.values` would be a method of the dictionary.
    func field(_ kind: String) -> String {
      "value_json['values'] | selectattr('name', 'eq', \(HomeAssistantText.literal(value.name)))"
        + " | map(attribute='\(kind)') | first | default(none)"
    }
    let entity: Entity
    switch value.kind {
    case .number: entity = number(value, key, name, "{{ \(field("number")) }}")
    case .text, .choice: entity = .text(key, name: name, "{{ (\(field("text")) | string)[:255] }}")
    case .flag:
      entity = .truth(
        key, name: name, deviceClass: value.quantity == .problem ? "problem" : nil,
        "{% set flag = \(field("flag")) %}{{ none if flag is none else 'ON' if flag else 'OFF' }}")
    }
    return value.quantity == .identity ? entity.diagnostic : entity
  }

  /// The device class of Home Assistant for a quantity, and the units that the class allows. The words are Home Assistant's own
  /// (`DEVICE_CLASS_UNITS` in homeassistant/components/sensor/const.py). A class with a unit that it doesn't allow is an error, so a
  /// number in another unit has no class. Classes that Home Assistant 2025.3 doesn't have are left out.
  private static let classes: [AccessoryValue.Quantity: (name: String, units: [MeasurementUnit], stateClass: String)] =
    [
      .voltage: ("voltage", [.volt, .millivolt], "measurement"),
      .current: ("current", [.ampere, .milliampere], "measurement"),
      .power: ("power", [.watt, .kilowatt], "measurement"),
      .apparentPower: ("apparent_power", [.voltAmpere], "measurement"),
      .reactivePower: ("reactive_power", [.voltAmpereReactive], "measurement"),
      // Not "total_increasing", by which every step down would count as a meter that was replaced.
      .energy: ("energy", [.wattHour, .kilowattHour], "total"),
      .frequency: ("frequency", [.hertz], "measurement"),
      .temperature: ("temperature", [.celsius], "measurement"),
      .humidity: ("humidity", [.percent], "measurement"),
      .pressure: ("pressure", [.hectopascal, .pascal, .bar], "measurement"),
      .illuminance: ("illuminance", [.lux], "measurement"),
      .pm1: ("pm1", [.microgramPerCubicMetre], "measurement"),
      .pm25: ("pm25", [.microgramPerCubicMetre], "measurement"),
      .pm10: ("pm10", [.microgramPerCubicMetre], "measurement"),
      .carbonDioxide: ("carbon_dioxide", [.partPerMillion], "measurement"),
      .speed: ("speed", [.metrePerSecond, .kilometrePerHour], "measurement"),
      .distance: ("distance", [.millimetre, .centimetre, .metre, .kilometre], "measurement"),
      .duration: ("duration", [.millisecond, .second, .minute, .hour, .day], "measurement"),
      .mass: ("weight", [.gram, .kilogram], "measurement"),
      // The class "volume" is for meters and allows no measurement.
      .volume: ("volume_storage", [.litre], "measurement"),
      .loudness: ("sound_pressure", [.decibel], "measurement"),
      .signalStrength: ("signal_strength", [.decibel, .decibelMilliwatt], "measurement"),
      .dataSize: ("data_size", [.byte, .kilobyte, .kibibyte], "measurement"),
      .dataRate: ("data_rate", [.bitPerSecond], "measurement"),
    ]

  private static func number(
    _ value: DiscoveryFacts.Value, _ key: String, _ name: String, _ template: String
  ) -> Entity {
    let unit = value.unit.map { HomeAssistantText.name($0.rawValue) }
    if value.quantity == .powerFactor, value.unit == nil || value.unit == .percent {
      return .measurement(key, name: name, deviceClass: "power_factor", unit: unit, template)
    }
    // A number that isn't measured, such as a serial number, has no statistics.
    if value.quantity == .identity || value.quantity == .state {
      return Entity(.sensor, key, name: name).with("unit_of_measurement", unit).with("value_template", template)
    }
    guard let its = value.quantity.flatMap({ classes[$0] }), let symbol = value.unit, its.units.contains(symbol) else {
      return .measurement(key, name: name, unit: unit, template)
    }
    return .measurement(
      key, name: name, deviceClass: its.name, unit: unit, template, stateClass: its.stateClass)
  }
}
