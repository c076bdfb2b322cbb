// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore

/// Builds the entities of an accessory's values. Their templates read `FleetValues`.
enum ValueEntities {
  static func all(_ facts: DiscoveryFacts, topic: String) -> [Entity] {
    let values = facts.values.values.sorted { $0.name < $1.name }
    let hasManyDetails = values.count { $0.importance == .detail } > fewDetails
    return values.map { value in
      let entity = entity(value).placed(value.importance).with("state_topic", topic)
      let isRare = value.importance.isConstant || value.importance == .detail && hasManyDetails
      return isRare ? entity.rare : entity
    }
  }

  /// With more details than these, their user has to enable them.
  private static let fewDetails = 8

  private static func entity(_ value: DiscoveryFacts.Value) -> Entity {
    // A value may have any name, but a key may not.
    let key = "value_" + TopicLevel(naming: value.name).text
    let name = HomeAssistantText.title(value.name)
    // Use brackets: `value_json.values` would be the dictionary's method.
    func field(_ kind: String) -> String {
      "value_json['values'] | selectattr('name', 'eq', \(HomeAssistantText.literal(value.name)))"
        + " | map(attribute='\(kind)') | first | default(none)"
    }
    switch value.kind {
    case .number:
      var (value, template) = (value, "{{ \(field("number")) }}")
      if let unit = value.unit.flatMap({ thousandths[$0] }) {
        (value.unit, template) = (unit, "{% set n = \(field("number")) %}{{ n / 1000 if n is number else none }}")
      }
      let number = number(value, key, name, template).rounded(to: value.unit.flatMap { places[$0] })
      // Nor have numbers that don't change.
      return value.importance.isConstant ? number.with("state_class", nil as String?) : number
    case .text, .choice: return .text(key, name: name, "{{ (\(field("text")) | string)[:255] }}")
    case .flag:
      return .truth(
        key, name: name, deviceClass: value.quantity == .problem ? "problem" : nil,
        "{% set flag = \(field("flag")) %}{{ none if flag is none else 'ON' if flag else 'OFF' }}")
    }
  }

  /// What people have volts, amperes and ampere hours in.
  private static let thousandths: [MeasurementUnit: MeasurementUnit] = [
    .millivolt: .volt, .milliampere: .ampere, .milliampereHour: .ampereHour,
  ]

  /// The decimal places that are shown of numbers in these units; others are shown as they are.
  private static let places: [MeasurementUnit: Int] = [
    .volt: 2, .ampere: 2, .watt: 0, .kilowatt: 3, .voltAmpere: 0,
    .voltAmpereReactive: 0,
    .wattHour: 0, .kilowattHour: 2, .ampereHour: 1, .hertz: 1, .celsius: 1, .percent: 0,
    .second: 0, .minute: 0,
  ]

  private static func number(
    _ value: DiscoveryFacts.Value, _ key: String, _ name: String, _ template: String
  ) -> Entity {
    let unit = value.unit.map { HomeAssistantText.name($0.rawValue) }
    // Numbers that aren't measurements, such as serial numbers, have no statistics.
    if value.quantity == .identity || value.quantity == .state {
      return Entity(.sensor, key, name: name).with("unit_of_measurement", unit).with("value_template", template)
    }
    guard let term = value.quantity.flatMap(Vocabulary.term), let deviceClass = term.deviceClass,
      value.unit.map((term.implyingUnits + term.otherUnits).contains) ?? (term.quantity == .powerFactor)
    else { return .measurement(key, name: name, unit: unit, template) }
    return .measurement(
      key, name: name, deviceClass: deviceClass, unit: unit, template,
      // A detail may be what a battery holds, or the yield of yesterday, which are no counters.
      stateClass: value.quantity == .energy && value.importance == .detail ? "total" : term.stateClass)
  }
}
