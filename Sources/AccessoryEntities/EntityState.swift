// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore

/// The state of an entity.
package enum EntityState: Sendable, Hashable {
  case number(Double)
  case text(String)
  case flag(Bool)
}

extension Entity {
  /// The state of an accessory's entity; nil where it is unknown: the accessory doesn't tell it, is gone, or is silent. Alarms and
  /// whether it is connected are known of each. The state of a command is the value that it sets, if the accessory tells that.
  package func state(of accessory: MirroredAccessory) -> EntityState? {
    switch source {
    case .connected: return .flag(accessory.isConnected)
    case .hasAlarm: return accessory.alarms.map { .flag(!$0.isEmpty) }
    case .alarms: return accessory.alarms.map { Self.list($0.map(\.name), or: "none") }
    default: break
    }
    guard accessory.isConnected, !accessory.isStale else { return nil }
    switch source {
    case .connected, .hasAlarm, .alarms: return nil
    case .fault:
      guard let status = accessory.status, status.state != nil || status.reportsFaults else { return nil }
      return .flag(status.state == .fault || status.faultCode ?? 0 != 0)
    case .status(let term, let row): return accessory.status.flatMap { row.state(of: term, in: $0) }
    case .battery(let term, let row):
      guard let battery = accessory.battery else { return nil }
      // Numbers that several fields tell.
      switch (term.key, row.content) {
      case ("percent", .number):
        return battery.percentTenths.map { .number(Double($0) / 10) } ?? row.state(of: term, in: battery)
      case ("power_mw", .number):
        return battery.powerInMilliwatts.map { .number(row.scaled($0)) }
      default: return row.state(of: term, in: battery)
      }
    case .value(let name, let isThousandth):
      return accessory.values[name]?.value.content.map { Self.state($0, isThousandth: isThousandth) }
    case .firmware:
      guard let firmware = accessory.identity?.firmwareRevision, !firmware.isEmpty else { return nil }
      return .text(Self.cut(firmware))
    case .command(let command, let argument):
      guard let argument,
        let setting = command.settings.first(where: {
          if case .argument(argument.name, _, _, _) = $0.source { true } else { false }
        })
      else { return nil }
      return accessory.values[setting.name]?.value.content.flatMap { setting.argument(for: Self.typed($0)) }
        .flatMap(state(typed:))
    }
  }

  /// A value as a user types it.
  private static func typed(_ content: AccessoryValue.Content) -> String {
    switch content {
    case .number(let number): Int(exactly: number).map { "\($0)" } ?? "\(number)"
    case .text(let text), .choice(let text, _): text
    case .flag(let flag): flag ? "yes" : "no"
    }
  }

  /// The state of a command, from what was typed for it.
  package func state(typed text: String) -> EntityState? {
    switch kind {
    case .input: Double(text).map { .number($0) }
    case .toggle: text == "yes" ? .flag(true) : text == "no" ? .flag(false) : nil
    case .select(let words): words.first { $0.lowercased() == text.lowercased() }.map { .text($0) }
    case .textInput: .text(Self.cut(text))
    default: nil
    }
  }

  private static func state(_ content: AccessoryValue.Content, isThousandth: Bool) -> EntityState {
    switch content {
    case .number(let number): .number(isThousandth ? number / 1_000 : number)
    case .text(let text), .choice(let text, _): .text(cut(text))
    case .flag(let flag): .flag(flag)
    }
  }

  fileprivate static func list(_ names: [String], or none: String) -> EntityState {
    .text(names.isEmpty ? none : cut(names.joined(separator: ", ")))
  }

  private static func cut(_ text: String) -> String { String(text.prefix(HomeAssistantText.stateCharacters)) }
}

extension Entity.Row {
  fileprivate func scaled(_ count: Int) -> Double { isThousandth ? Double(count) / 1_000 : Double(count) }

  fileprivate func state<Reading>(of term: ReadingTerm<Reading>, in reading: Reading) -> EntityState? {
    switch content {
    case .number: return term.count(in: reading).map { .number(scaled($0)) }
    case .text: return term.count(in: reading).map { .text("\($0)") }
    case .fold(let fold): return fold.number(of: term.elements(in: reading)).map { .number(scaled($0)) }
    case .each:
      let elements = term.elements(in: reading)
      return elements.indices.contains(index) ? elements[index].count.map { .number(scaled($0)) } : nil
    case .word:
      // A newer service may report a word that isn't in our list.
      return term.word(in: reading).flatMap { term.words.contains($0) ? .text($0) : nil }
    case .truth(let words): return term.word(in: reading).map { .flag(words.contains($0)) }
    case .problem: return term.names(in: reading).map { .flag(!$0.isEmpty) }
    case .names: return term.names(in: reading).map { Entity.list($0, or: "no \(term.key)") }
    }
  }
}
