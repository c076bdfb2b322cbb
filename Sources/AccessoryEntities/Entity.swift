// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// What Home Assistant shows as one line of an accessory: a reading, or a command. It is the same by MQTT and by the native API.
package struct Entity: Sendable {
  package enum Kind: Sendable, Hashable {
    /// A number. `places` are the decimals that are shown; nil for all. `stateClass` is Home Assistant's word for its statistics; nil for
    /// none.
    case number(unit: String?, places: Int?, stateClass: String?)
    /// One of these words.
    case word([String])
    case text
    /// Yes or no.
    case truth
    /// A command without an argument.
    case button
    /// A command with a whole number.
    case input(ClosedRange<Int>, unit: String?)
    /// A command with one of these words.
    case select([String])
    /// A command with yes or no.
    case toggle
    /// A command with a text of at most this many characters.
    case textInput(Int)
  }

  /// Where the state comes from, or what is to be done.
  package enum Source: Sendable {
    /// Whether the accessory is connected.
    case connected
    /// Whether the status tells a fault.
    case fault
    /// A row of the vocabulary.
    case status(ReadingTerm<AccessoryStatus>, Row)
    case battery(ReadingTerm<BatteryReading>, Row)
    /// The value of this name, divided by 1000 where `isThousandth`.
    case value(String, isThousandth: Bool)
    /// Whether any alarm is raised, and the names of those that are.
    case hasAlarm, alarms
    case firmware
    /// The command, with the argument that is given; nil for none.
    case command(CommandDescription, CommandDescription.Argument?)
  }

  /// Which part of a row of the vocabulary is shown.
  package struct Row: Sendable {
    package let content: EntityTerm.Content
    /// The place in a list, from 0, where each element is an entity.
    package let index: Int
    /// Whether the number is divided by 1000.
    package let isThousandth: Bool
  }

  /// Where Home Assistant shows it.
  package enum Category: String, Sendable, Hashable {
    case config, diagnostic
  }

  /// The name for programs, which never changes. Those of values and of commands are the accessory's own names, without a prefix.
  package let key: String
  /// The name for people. It may come from the accessory, and is escaped.
  package let name: String
  package let kind: Kind
  package let source: Source
  /// Home Assistant's word for what it is: "battery", "voltage".
  package var deviceClass: String?
  package var category: Category?
  /// Whether its user has to enable it. An entity that Home Assistant has already stays as it is.
  package var isRare = false

  init(
    _ key: String, name: String, _ kind: Kind, _ source: Source, class deviceClass: String? = nil,
    category: Category? = nil
  ) {
    (self.key, self.name, self.kind, self.source) = (key, HomeAssistantText.name(name), kind, source)
    (self.deviceClass, self.category) = (deviceClass, category)
  }

  /// The same entity where its importance puts it. Home Assistant has no sensors in the category "config".
  func placed(_ importance: Importance) -> Entity {
    var entity = self
    if importance >= .detail { entity.category = .diagnostic }
    return entity
  }

  /// The same entity, which its user has to enable.
  func rare(_ isRare: Bool) -> Entity {
    var entity = self
    entity.isRare = isRare
    return entity
  }
}

extension Entity {
  /// All entities of an accessory.
  package static func all(_ facts: EntityFacts) -> [Entity] {
    let connected = Entity(
      "connected", name: "Connected", .truth, .connected, class: "connectivity", category: .diagnostic)
    return ReadingEntities.all(facts) + ValueEntities.all(facts) + [connected] + alarms(facts)
      + CommandEntities.all(facts)
  }

  private static func alarms(_ facts: EntityFacts) -> [Entity] {
    guard facts.hasAlarms else { return [] }
    return [
      Entity("alarm", name: "Alarm", .truth, .hasAlarm, class: "problem"),
      Entity("alarms", name: "Alarms", .text, .alarms, category: .diagnostic),
    ]
  }
}

/// Text for Home Assistant.
package enum HomeAssistantText {
  /// The longest name of a device or an entity, in Unicode scalars.
  private static let nameScalars = 64
  /// The longest state, in characters: Home Assistant rejects longer ones.
  package static let stateCharacters = 255

  /// A display name. It may come from the device, so control characters are escaped and its length is limited.
  package static func name(_ text: String) -> String { SafeText.escape(text, limit: nameScalars) }

  /// A display name made from a name like `port_4`: "Port 4".
  package static func title(_ name: String) -> String { NameWords.title(name) }
}
