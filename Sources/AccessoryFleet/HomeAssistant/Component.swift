// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryEntities

/// A component of a device's discovery message: an entity, with the topics and templates of its state.
struct Component: Sendable, Hashable {
  /// The kinds of components that we create, with their names in messages.
  enum Platform: String, Sendable, Hashable {
    case sensor, button, number, select, text
    case binarySensor = "binary_sensor"
  }

  let platform: Platform
  /// The key among the device's components. It is also the end of the unique id, so it must never change.
  let key: String
  /// The options, by their names in messages.
  private(set) var fields: [String: JSON]

  /// A component with a name that is text for Home Assistant already.
  init(_ platform: Platform, _ key: String, name: String, category: Entity.Category? = nil) {
    (self.platform, self.key) = (platform, key)
    fields = ["name": .string(name)]
    fields["entity_category"] = category.map { .string($0.rawValue) }
  }

  /// The component of an accessory's entity.
  init(_ entity: Entity, topics: FleetTopics, of accessory: TopicLevel) {
    var key = entity.key
    // A value and a command may have any name, but a key may not.
    switch entity.source {
    case .value(let name, _): key = "value_" + TopicLevel(naming: name).text
    case .command(let command, _): key = "command_" + TopicLevel(naming: command.name).text
    default: break
    }
    self.init(Self.platform(entity.kind), key, name: entity.name, category: entity.category)
    fields["device_class"] = entity.deviceClass.map { .string($0) }
    if entity.isRare { fields["enabled_by_default"] = .bool(false) }
    switch entity.source {
    case .connected:
      fields["state_topic"] = .string(topics.availability(of: accessory))
      (fields["payload_on"], fields["payload_off"]) = (.string(FleetTopics.online), .string(FleetTopics.offline))
    case .command(let command, _):
      fields["command_topic"] = .string(topics.set(TopicLevel(naming: command.name), of: accessory))
    case .value: fields["state_topic"] = .string(topics.values(of: accessory))
    default: break
    }
    fields["value_template"] = EntityTemplate.text(of: entity).map { .string($0) }
    describe(entity.kind)
  }

  private mutating func describe(_ kind: Entity.Kind) {
    func strings(_ words: [String]) -> JSON { .array(words.map { .string($0) }) }
    switch kind {
    case .number(let unit, let places, let stateClass):
      fields["unit_of_measurement"] = unit.map { .string($0) }
      fields["suggested_display_precision"] = places.map { .int($0) }
      fields["state_class"] = stateClass.map { .string($0) }
    case .word(let words): (fields["device_class"], fields["options"]) = (.string("enum"), strings(words))
    case .text, .truth: break
    case .button: fields["payload_press"] = .string("{}")
    case .input(let range, let unit):
      (fields["min"], fields["max"]) = (.int(range.lowerBound), .int(range.upperBound))
      (fields["step"], fields["mode"]) = (.int(1), .string("box"))
      fields["unit_of_measurement"] = unit.map { .string($0) }
    case .select(let words): fields["options"] = strings(words)
    case .toggle: fields["options"] = strings(["yes", "no"])
    case .textInput(let limit): fields["max"] = .int(limit)
    }
  }

  private static func platform(_ kind: Entity.Kind) -> Platform {
    switch kind {
    case .number, .word, .text: .sensor
    case .truth: .binarySensor
    case .button: .button
    case .input: .number
    case .select, .toggle: .select
    case .textInput: .text
    }
  }

  /// The same component with this option set. A nil `value` removes the option.
  func with(_ option: String, _ value: JSON?) -> Component {
    var component = self
    component.fields[option] = value
    return component
  }

  func with(_ option: String, _ text: String?) -> Component { with(option, text.map { JSON.string($0) }) }

  /// The component in a message: the options and the fields that every component has.
  func json(of device: String) -> JSON {
    var fields = fields
    fields["platform"] = .string(platform.rawValue)
    fields["unique_id"] = .string(device + "_" + key)
    return .object(fields)
  }
}
