// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// Builds the entities of an accessory's status, battery and identity.
enum ReadingEntities {
  static func all(_ facts: EntityFacts) -> [Entity] { status(facts) + battery(facts) + identity(facts) }

  private static func status(_ facts: EntityFacts) -> [Entity] {
    guard facts.hasStatus else { return [] }
    return [Entity("fault", name: "Fault", .truth, .fault, class: "problem")]
      + Vocabulary.status.flatMap { term in
        term.entities.flatMap { entity -> [Entity] in
          if case .word = entity.content {} else if !facts.status.contains(term.key) { return [] }
          return entities(entity, term) { .status(term, $0) }
        }
      }
  }

  private static func battery(_ facts: EntityFacts) -> [Entity] {
    BatteryReading.Field.allCases.filter(facts.battery.contains).flatMap { field -> [Entity] in
      // The percentage already says this, and Home Assistant's cards prefer it.
      if field == .level, facts.battery.contains(.percent) { return [] }
      let places = field == .percent ? facts.battery.contains(.percentTenths) ? 1 : 0 : nil
      return field.term.entities.flatMap { entity in
        entities(entity, field.term, elements: facts.elements[field] ?? [], places: places) {
          .battery(field.term, $0)
        }
        .map { $0.placed(entity.importance ?? field.term.importance).rare(entity.isRare) }
      }
    }
  }

  /// The entities of one row of the vocabulary. `elements` are the names of a list's elements.
  private static func entities<Reading>(
    _ entity: EntityTerm, _ term: ReadingTerm<Reading>, elements: [String?] = [], places: Int? = nil,
    _ source: (Entity.Row) -> Entity.Source
  ) -> [Entity] {
    func one(_ kind: Entity.Kind, category: Entity.Category? = nil) -> [Entity] {
      let row = Entity.Row(content: entity.content, index: 0, isThousandth: entity.unit != nil)
      return [
        Entity(entity.key, name: entity.name, kind, source(row), class: entity.deviceClass, category: category)
      ]
    }
    let number = Entity.Kind.number(
      unit: entity.unit ?? term.measure?.published?.rawValue, places: places ?? entity.places,
      stateClass: entity.stateClass)
    switch entity.content {
    case .number, .fold: return one(number)
    case .text: return one(.text, category: .diagnostic)
    case .word: return one(.word(term.words))
    case .truth, .problem: return one(.truth)
    case .names: return one(.text)
    case .each:
      return elements.enumerated().map { index, name in
        let title =
          name.map { "\(HomeAssistantText.title($0)) \(term.label.lowercased())" } ?? "\(entity.name) \(index + 1)"
        let row = Entity.Row(content: .each, index: index, isThousandth: entity.unit != nil)
        return Entity("\(entity.key)_\(index + 1)", name: title, number, source(row), class: entity.deviceClass)
      }
    }
  }

  private static func identity(_ facts: EntityFacts) -> [Entity] {
    guard let firmware = facts.identity?.firmwareRevision, !firmware.isEmpty else { return [] }
    return [Entity("firmware", name: "Firmware", .text, .firmware, category: .diagnostic)]
  }
}
