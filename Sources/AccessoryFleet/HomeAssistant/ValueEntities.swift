// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore

/// Builds the entities of an accessory's values. Their templates read `FleetValues`.
enum ValueEntities {
  static func all(_ facts: DiscoveryFacts, topic: String) -> [Entity] {
    facts.values.values.sorted { $0.name < $1.name }.map { entity($0).with("state_topic", topic) }
  }

  private static func entity(_ value: DiscoveryFacts.Value) -> Entity {
    // A value may have any name, but a key may not.
    let key = "value_" + TopicLevel(naming: value.name).text
    let name = HomeAssistantText.title(value.name)
    // Use brackets: `value_json.values` would be the dictionary's method.
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
      key, name: name, deviceClass: deviceClass, unit: unit, template, stateClass: term.stateClass)
  }
}
