// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import Console

/// The accessories that are gone, as a table for people: when each was last there, what was read last, and its alarms.
package enum GoneTable {
  /// A line for each; no lines for none. `columns` is the terminal's width; nil without a terminal.
  package static func lines(
    _ accessories: [Bridge.Accessory], now: Double = WallClock.seconds, _ style: Style = .standardOutput,
    columns: Int? = nil
  ) -> [String] {
    guard !accessories.isEmpty else { return [] }
    let hasAlarms = accessories.contains { $0.alarms?.isEmpty == false }
    let hasAreas = accessories.contains { $0.device.given?.area != nil }
    var table = Table(
      ["GONE", "LAST THERE", "LAST READING"] + (hasAlarms ? ["ALARM"] : []) + (hasAreas ? ["AREA"] : []))
    for accessory in accessories {
      table.add(
        [
          SafeText.escape(accessory.device.fullTitle, limit: 200),
          accessory.last_seen.map { "\(Amount.time(seconds: now - $0)) ago" } ?? "-", reading(accessory) ?? "-",
        ] + (hasAlarms ? [AlarmView.cell(accessory.alarms ?? [], style)] : [])
          + (hasAreas ? [Table.cell(accessory.device.given?.area)] : []))
    }
    return table.lines(style, columns: columns)
  }

  /// The most quantities of a last reading.
  private static let quantityLimit = 3

  /// What was read last in a few words: "57 %, 12.32 V".
  private static func reading(_ accessory: Bridge.Accessory) -> String? {
    var parts: [String] = []
    if let battery = accessory.last?.battery {
      let fields: [BatteryReading.Field] = battery.percent == nil ? [.level, .voltage] : [.percent, .voltage]
      parts = fields.compactMap { ReadingText.text($0.term, of: battery) }
    }
    for value in accessory.last?.values ?? [] where TopRow.isMeasured(value.value) && parts.count < quantityLimit {
      if let text = TopRow.text(value.value) { parts.append("\(SafeText.escape(value.value.name, limit: 24)) \(text)") }
    }
    if parts.isEmpty, let state = accessory.last?.status?.state { parts.append(state.word) }
    return parts.isEmpty ? nil : parts.joined(separator: ", ")
  }
}
