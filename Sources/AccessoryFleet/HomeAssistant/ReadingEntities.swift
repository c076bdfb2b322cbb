// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// Builds the entities of an accessory's status and battery. Their templates read `FleetState`.
enum ReadingEntities {
  static func all(_ facts: DiscoveryFacts) -> [Entity] { status(facts) + battery(facts) + identity(facts) }

  // MARK: - Status

  private static func status(_ facts: DiscoveryFacts) -> [Entity] {
    guard facts.hasStatus else { return [] }
    let status = "value_json.status"
    let fault = Entity.truth(
      "fault", name: "Fault", deviceClass: "problem",
      "{{ none if not \(status) or (\(status).state is none and not \(status).reports_faults) "
        + "else 'ON' if \(status).state == 'fault' or \(status).fault_code else 'OFF' }}")
    return [fault]
      + Vocabulary.status.flatMap { term in
        term.entities.flatMap { entity -> [Entity] in
          switch entity.content {
          // Not a choice: a newer service may report a word that isn't in our list.
          case .word:
            let words = term.words.map(HomeAssistantText.literal).joined(separator: ", ")
            let field = "\(status).\(term.key)"
            return [
              .choice(
                entity.key, name: entity.name, term.words,
                "{{ \(field) if \(status) and \(field) in [\(words)] else none }}")
            ]
          default:
            return facts.status.contains(term.key) ? entities(entity, term, of: status) : []
          }
        }
      }
  }

  // MARK: - Battery

  private static func battery(_ facts: DiscoveryFacts) -> [Entity] {
    BatteryReading.Field.allCases.filter(facts.battery.contains).flatMap { field -> [Entity] in
      // The percentage already says this, and Home Assistant's cards prefer it.
      if field == .level, facts.battery.contains(.percent) { return [] }
      return field.term.entities.flatMap { entity in
        entities(entity, field.term, of: "value_json.battery", elements: facts.elements[field] ?? []).map {
          let placed = $0.placed(entity.importance ?? field.term.importance)
          if field == .percent { return placed.rounded(to: facts.battery.contains(.percentTenths) ? 1 : 0) }
          return entity.isRare ? placed.rare : placed
        }
      }
    }
  }

  // MARK: - A row of the vocabulary

  /// The template of a number that several fields tell; nil for any other. States that an older version has published don't have all.
  private static func own(_ key: String, of object: String) -> String? {
    let (tenths, volts, amperes) = ("\(object).percent_tenths", "\(object).voltage_mv", "\(object).current_ma")
    let known =
      switch key {
      case "percent": "\(tenths) / 10 if \(tenths) is number else \(object).percent"
      case "power_mw":
        "\(object).power_mw / 1000 if \(object).power_mw is number else (\(volts) * \(amperes) / 1000000) | round(3) "
          + "if \(volts) is number and \(amperes) is number else none"
      default: ""
      }
    return known.isEmpty ? nil : "{{ none if not \(object) else \(known) }}"
  }

  /// The entities of one row of the vocabulary. Their templates read its field of `object`. `elements` are the names of a list's
  /// elements.
  private static func entities<Reading>(
    _ entity: EntityTerm, _ term: ReadingTerm<Reading>, of object: String, elements: [String?] = []
  ) -> [Entity] {
    let field = "\(object).\(term.key)"
    let unit = entity.unit ?? term.measure?.published?.rawValue
    func measurement(_ key: String, _ name: String, _ template: String) -> Entity {
      .measurement(
        key, name: name, deviceClass: entity.deviceClass, unit: unit, template, stateClass: entity.stateClass
      ).rounded(to: entity.places)
    }
    func truth(_ unknown: String, _ condition: String) -> Entity {
      .truth(
        entity.key, name: entity.name, deviceClass: entity.deviceClass,
        "{{ none if not \(object) or \(field) \(unknown) else 'ON' if \(condition) else 'OFF' }}")
    }
    let known = "{{ \(field) if \(object) else none }}"
    switch entity.content {
    case .number:
      let thousandth = "{{ \(field) / 1000 if \(object) and \(field) is not none else none }}"
      return [
        measurement(entity.key, entity.name, own(term.key, of: object) ?? (entity.unit == nil ? known : thousandth))
      ]
    case .text: return [Entity.text(entity.key, name: entity.name, known).diagnostic]
    case .fold(let fold):
      let list = "{% set cells = (\(field) or []) | reject('none') | list if \(object) else [] %}"
      let number = entity.unit == nil ? formula(fold) : "(\(formula(fold))) / 1000"
      return [measurement(entity.key, entity.name, list + "{{ \(number) if cells else none }}")]
    case .each:
      return elements.enumerated().map { index, name in
        let list = "{% set all = (\(field) or []) if \(object) else [] %}"
        let number = "all[\(index)]" + (term.elementKey.map { "." + $0 } ?? "")
        let divided = entity.unit == nil ? number : "\(number) / 1000"
        let title =
          name.map { "\(HomeAssistantText.title($0)) \(term.label.lowercased())" } ?? "\(entity.name) \(index + 1)"
        return measurement(
          "\(entity.key)_\(index + 1)", title,
          list + "{{ \(divided) if all | length > \(index) and \(number) is not none else none }}")
      }
    case .word:
      return [
        .choice(
          entity.key, name: entity.name, term.words,
          "{{ \(field) if \(object) and \(field) != 'unknown' else none }}")
      ]
    case .truth(let words):
      let list = words.map { "'\($0)'" }.joined(separator: ", ")
      return [truth("== 'unknown'", field + (words.count == 1 ? " == \(list)" : " in [\(list)]"))]
    case .problem: return [truth("is none", field)]
    case .names:
      return [
        .text(
          entity.key, name: entity.name,
          "{{ none if not \(object) or \(field) is none "
            + "else (\(field) | join(', ') or 'no \(term.key)')[:255] }}")
      ]
    }
  }

  /// The template that reduces the list `cells` to one number.
  private static func formula(_ fold: ReadingFold) -> String {
    switch fold {
    case .least: "cells | min"
    case .greatest, .worst: "cells | max"
    case .spread: "(cells | max) - (cells | min)"
    }
  }

  // MARK: - Identity

  private static func identity(_ facts: DiscoveryFacts) -> [Entity] {
    guard let firmware = facts.identity?.firmwareRevision, !firmware.isEmpty else { return [] }
    return [
      .text(
        "firmware", name: "Firmware",
        "{{ (value_json.identity.firmware or none) | string | truncate(255, true, '') if value_json.identity else none }}"
      ).diagnostic
    ]
  }
}
