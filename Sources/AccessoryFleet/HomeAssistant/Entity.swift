// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore

/// An entity of Home Assistant: a component of a device's discovery message.
struct Entity: Sendable, Hashable {
  /// The kinds of entities that we create, with their names in messages.
  enum Platform: String, Sendable, Hashable {
    case sensor, button, number, select, text
    case binarySensor = "binary_sensor"
  }

  let platform: Platform
  /// The key among the device's components. It is also the end of the unique id, so it must never change.
  let key: String
  /// The options, by their names in messages.
  private(set) var fields: [String: JSON]

  init(_ platform: Platform, _ key: String, name: String) {
    (self.platform, self.key) = (platform, key)
    fields = ["name": .string(HomeAssistantText.name(name))]
  }

  /// The same entity with this option set. A nil `value` removes the option.
  func with(_ option: String, _ value: JSON?) -> Entity {
    var entity = self
    entity.fields[option] = value
    return entity
  }

  func with(_ option: String, _ text: String?) -> Entity { with(option, text.map { JSON.string($0) }) }

  // MARK: - Kinds of entities

  /// A measured number.
  static func measurement(
    _ key: String, name: String, deviceClass: String? = nil, unit: String?, _ template: String,
    stateClass: String = "measurement"
  ) -> Entity {
    Entity(.sensor, key, name: name).with("device_class", deviceClass).with("unit_of_measurement", unit)
      .with("state_class", stateClass).with("value_template", template)
  }

  /// One of a fixed set of words.
  static func choice(_ key: String, name: String, _ words: [String], _ template: String) -> Entity {
    Entity(.sensor, key, name: name).with("device_class", "enum").with("options", .array(words.map { .string($0) }))
      .with("value_template", template)
  }

  /// Any text. Home Assistant rejects states longer than 255 characters, so the template cuts the text.
  static func text(_ key: String, name: String, _ template: String) -> Entity {
    Entity(.sensor, key, name: name).with("value_template", template)
  }

  /// Yes or no. The template returns `ON`, `OFF` or `None`.
  static func truth(_ key: String, name: String, deviceClass: String? = nil, _ template: String) -> Entity {
    Entity(.binarySensor, key, name: name).with("device_class", deviceClass).with("value_template", template)
  }

  /// The same entity in the "diagnostic" category, which is shown below the main readings.
  var diagnostic: Entity { with("entity_category", "diagnostic") }

  /// The same entity, which its user has to enable. An entity that Home Assistant has already stays as it is.
  var rare: Entity { with("enabled_by_default", .bool(false)) }

  /// The same entity where its importance puts it. Home Assistant has no sensors in the category "config".
  func placed(_ importance: Importance) -> Entity { importance >= .detail ? diagnostic : self }

  /// The same number, shown with so many decimal places.
  func rounded(to places: Int?) -> Entity { with("suggested_display_precision", places.map { .int($0) }) }

  /// The component of a message: the options and the fields that every entity has.
  func component(of device: String) -> JSON {
    var fields = fields
    fields["platform"] = .string(platform.rawValue)
    fields["unique_id"] = .string(device + "_" + key)
    return .object(fields)
  }
}

/// Converts text for Home Assistant.
enum HomeAssistantText {
  /// The longest name of a device or an entity, in Unicode scalars.
  private static let nameScalars = 64

  /// A display name. It may come from the device, so control characters are escaped and its length is limited.
  static func name(_ text: String) -> String { SafeText.escape(text, limit: nameScalars) }

  /// A display name made from a name like `port_4`: "Port 4".
  static func title(_ name: String) -> String { NameWords.title(name) }

  /// A text as a string literal in a template. Every character that isn't plain is escaped, so text from a device can't end the
  /// literal and run as a template.
  static func literal(_ text: String) -> String {
    var literal = "'"
    for unit in text.utf16 {
      let isPlain = unit < 0x80 && TopicLevel.isAllowed(UInt8(unit))
      literal += isPlain ? String(Unicode.Scalar(UInt8(unit))) : "\\u" + Hexadecimal.string(unit)
    }
    return literal + "'"
  }
}
