// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore

/// Builds the entities of commands. Home Assistant publishes the messages that `FleetCall` reads.
enum CommandEntities {
  static func all(_ facts: DiscoveryFacts, topics: FleetTopics, of accessory: TopicLevel) -> [Entity] {
    facts.commands.compactMap { command in
      let level = TopicLevel(naming: command.name)
      let entity = entity(command, "command_" + level.text)?.with("command_topic", topics.set(level, of: accessory))
      return command.settings.isEmpty || entity?.platform == .button
        ? entity : entity?.with("entity_category", "config")
    }
  }

  /// Returns nil if Home Assistant can't ask for the command, because it has several required arguments.
  private static func entity(_ command: CommandDescription, _ key: String) -> Entity? {
    let name = HomeAssistantText.title(command.name)
    let required = command.arguments.filter { $0.defaultValue == nil }
    guard required.count <= 1 else { return nil }
    // A command with one argument becomes an entity with a value, even if that argument has a default.
    guard let argument = required.first ?? (command.arguments.count == 1 ? command.arguments[0] : nil) else {
      let button = Entity(.button, key, name: name).with("payload_press", "{}")
      return command.name == "identify" ? button.with("device_class", "identify") : button
    }
    switch argument.kind {
    case .whole(let range):
      let (minimum, maximum) = (range.lowerBound, range.upperBound)
      guard minimum < maximum else { return nil }
      // Home Assistant stores numbers as `Double`, which holds whole numbers exactly only up to 2^53.
      guard (-(1 << 53)...(1 << 53)).contains(minimum), (-(1 << 53)...(1 << 53)).contains(maximum) else { return nil }
      return Entity(.number, key, name: name).with("min", .int(minimum)).with("max", .int(maximum)).with(
        "step", .int(1)
      )
      .with("mode", "box").with("unit_of_measurement", argument.unit.map(HomeAssistantText.name))
    case .choice(let words):
      return select(key, name, words)
    case .flag:
      return select(key, name, ["yes", "no"])
    case .text(let limit):
      return Entity(.text, key, name: name).with("max", .int(max(1, min(limit, longestText))))
    case .choices, .bytes: return nil
    }
  }

  /// The length limit of a text in Home Assistant, in characters.
  private static let longestText = 255

  private static func select(_ key: String, _ name: String, _ words: [String]) -> Entity? {
    guard !words.isEmpty else { return nil }
    return Entity(.select, key, name: name).with("options", .array(words.map { .string($0) }))
  }
}
