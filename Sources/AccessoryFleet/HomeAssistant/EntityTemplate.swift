// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryEntities

/// The templates by which Home Assistant reads the states of entities from `FleetState` and `FleetValues`. `Entity.state` is the same
/// in Swift.
enum EntityTemplate {
  /// The template; nil where there is none: the state is the whole message, or there is no state.
  static func text(of entity: Entity) -> String? {
    let alarms = "value_json.alarms"
    switch entity.source {
    case .connected, .command: return nil
    case .fault:
      return "{{ none if not \(status) or (\(status).state is none and not \(status).reports_faults) "
        + "else 'ON' if \(status).state == 'fault' or \(status).fault_code else 'OFF' }}"
    case .status(let term, let row):
      guard case .word = row.content else { return text(row, term, of: status) }
      // Not a choice: a newer service may report a word that isn't in our list.
      let words = term.words.map(literal).joined(separator: ", ")
      let field = "\(status).\(term.key)"
      return "{{ \(field) if \(status) and \(field) in [\(words)] else none }}"
    case .battery(let term, let row): return text(row, term, of: "value_json.battery")
    case .value(let name, let isThousandth): return value(name, entity.kind, isThousandth: isThousandth)
    case .hasAlarm: return "{{ none if \(alarms) is none else 'ON' if \(alarms) else 'OFF' }}"
    case .alarms:
      return "{{ none if \(alarms) is none else (\(alarms) | map(attribute='name') | join(', ') or 'none')[:255] }}"
    case .firmware:
      return
        "{{ (value_json.identity.firmware or none) | string | truncate(255, true, '') if value_json.identity else none }}"
    }
  }

  private static let status = "value_json.status"

  // MARK: - Values

  private static func value(_ name: String, _ kind: Entity.Kind, isThousandth: Bool) -> String {
    // Use brackets: `value_json.values` would be the dictionary's method.
    func field(_ kind: String) -> String {
      "value_json['values'] | selectattr('name', 'eq', \(literal(name)))"
        + " | map(attribute='\(kind)') | first | default(none)"
    }
    switch kind {
    case .number:
      return isThousandth
        ? "{% set n = \(field("number")) %}{{ n / 1000 if n is number else none }}" : "{{ \(field("number")) }}"
    case .truth:
      return "{% set flag = \(field("flag")) %}{{ none if flag is none else 'ON' if flag else 'OFF' }}"
    default: return "{{ (\(field("text")) | string)[:255] }}"
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

  /// The template of a part of a row, which is a field of `object`.
  private static func text<Reading>(_ row: Entity.Row, _ term: ReadingTerm<Reading>, of object: String) -> String {
    let field = "\(object).\(term.key)"
    func truth(_ unknown: String, _ condition: String) -> String {
      "{{ none if not \(object) or \(field) \(unknown) else 'ON' if \(condition) else 'OFF' }}"
    }
    let known = "{{ \(field) if \(object) else none }}"
    switch row.content {
    case .number:
      let thousandth = "{{ \(field) / 1000 if \(object) and \(field) is not none else none }}"
      return own(term.key, of: object) ?? (row.isThousandth ? thousandth : known)
    case .text: return known
    case .fold(let fold):
      let list = "{% set cells = (\(field) or []) | reject('none') | list if \(object) else [] %}"
      let number = row.isThousandth ? "(\(formula(fold))) / 1000" : formula(fold)
      return list + "{{ \(number) if cells else none }}"
    case .each:
      let list = "{% set all = (\(field) or []) if \(object) else [] %}"
      let number = "all[\(row.index)]" + (term.elementKey.map { "." + $0 } ?? "")
      let divided = row.isThousandth ? "\(number) / 1000" : number
      return list + "{{ \(divided) if all | length > \(row.index) and \(number) is not none else none }}"
    case .word: return "{{ \(field) if \(object) and \(field) != 'unknown' else none }}"
    case .truth(let words):
      let list = words.map { "'\($0)'" }.joined(separator: ", ")
      return truth("== 'unknown'", field + (words.count == 1 ? " == \(list)" : " in [\(list)]"))
    case .problem: return truth("is none", field)
    case .names:
      return "{{ none if not \(object) or \(field) is none "
        + "else (\(field) | join(', ') or 'no \(term.key)')[:255] }}"
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
