// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// Builds the entities of commands.
enum CommandEntities {
  static func all(_ facts: EntityFacts) -> [Entity] { facts.commands.compactMap(entity) }

  /// Returns nil if Home Assistant can't ask for the command, because it has several required arguments.
  private static func entity(_ command: CommandDescription) -> Entity? {
    let required = command.arguments.filter { $0.defaultValue == nil }
    guard required.count <= 1 else { return nil }
    // A command with one argument becomes an entity with a value, even if that argument has a default.
    let argument = required.first ?? (command.arguments.count == 1 ? command.arguments[0] : nil)
    guard let kind = argument.map({ kind($0) }) ?? .button else { return nil }
    return Entity(
      command.name, name: HomeAssistantText.title(command.name), kind, .command(command, argument),
      class: kind == .button && command.name == "identify" ? "identify" : nil,
      category: command.settings.isEmpty || kind == .button ? nil : .config)
  }

  private static func kind(_ argument: CommandDescription.Argument) -> Entity.Kind? {
    switch argument.kind {
    case .whole(let range):
      // Home Assistant stores numbers as `Double`, which holds whole numbers exactly only up to 2^53.
      let exact = -(1 << 53)...(1 << 53)
      guard range.lowerBound < range.upperBound, exact.contains(range.lowerBound), exact.contains(range.upperBound)
      else { return nil }
      return .input(range, unit: argument.unit.map(HomeAssistantText.name))
    case .choice(let words): return words.isEmpty ? nil : .select(words)
    case .flag: return .toggle
    case .text(let limit): return .textInput(max(1, min(limit, HomeAssistantText.stateCharacters)))
    case .choices, .bytes: return nil
    }
  }
}
