// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import Console

/// One accessory in `top`.
package struct TopRow: Sendable, Hashable {
  /// How urgently somebody should look at the accessory.
  package enum Severity: Int, Sendable, Hashable, Comparable {
    case none, warning, alarm

    package static func < (a: Severity, b: Severity) -> Bool { a.rawValue < b.rawValue }
  }

  /// Whether the accessory can be reached.
  package enum Reach: Sendable, Hashable {
    case attached
    /// It is being opened, or tried again.
    case trying
    /// It is unplugged or was given up, or its service or gateway can't be reached.
    case away
  }

  /// A text that names the accessory among all others. Not shown.
  package var key: String
  /// Its name, escaped.
  package var name: String
  /// More about it for the detail view, escaped: model, path, profile, gateway.
  package var facts: [Fact] = []
  package var reach = Reach.attached
  /// Its state in a word or a few: "attached", "try 2 of 3", "offline", "busy". Escaped.
  package var state = ""
  /// Why it can't be reached, escaped; nil where it can, or where nobody says.
  package var problem: String?
  package var battery: BatteryReading?
  package var status: AccessoryStatus?
  /// Its values; nil where they weren't asked for yet.
  package var values: [AccessoryValue]?
  /// When it was last read, on the clock of the screen; nil where that isn't known.
  package var readTime: MonotonicTime?
  /// Whether the reading is older than it should be.
  package var isStale = false
  /// The names of the active alarms that limits have raised, with what they say; escaped.
  package var alarms: [Alarm] = []

  /// A line of the detail view: "Profile  framed".
  package struct Fact: Sendable, Hashable {
    package var name, text: String

    package init(_ name: String, _ text: String) { (self.name, self.text) = (name, text) }
  }

  /// A reason to look at the accessory.
  package struct Alarm: Sendable, Hashable {
    package var text: String
    package var severity: Severity
    /// A short form for the list.
    package var word: String

    /// An alarm with an escaped text; `word` is the text without another one.
    package init(_ text: String, _ severity: Severity, word: String? = nil) {
      (self.text, self.severity, self.word) = (text, severity, word ?? text)
    }

    /// An alarm that a service has raised: "battery < 20 % (17 %)".
    package init(_ alarm: AccessoryAlarm) {
      let name = SafeText.escape(alarm.name, limit: 100)
      let value = alarm.value.map { " (\(SafeText.escape($0, limit: 100)))" } ?? ""
      self.init("alarm: \(name)\(value)", .alarm, word: name)
    }
  }

  /// An accessory without readings. `name` is escaped here.
  package init(key: String, name: String) {
    self.key = key
    self.name = SafeText.escape(name, limit: 64)
  }

  // MARK: - Alarms

  /// All reasons to look at it: raised alarms first, then what the accessory itself says.
  package var reasons: [Alarm] {
    var reasons = alarms
    if let battery {
      if battery.level == .critical { reasons.append(Alarm("battery critical", .alarm, word: "critical")) }
      if battery.level == .low { reasons.append(Alarm("battery low", .warning, word: "low")) }
      for fault in battery.faults ?? [] {
        reasons.append(Alarm("fault: \(SafeText.escape(fault))", .alarm, word: SafeText.escape(fault)))
      }
      for warning in battery.warnings ?? [] {
        reasons.append(Alarm("warning: \(SafeText.escape(warning))", .warning, word: SafeText.escape(warning)))
      }
    }
    if let status, status.state == .fault {
      reasons.append(Alarm("fault" + (status.faultCode.map { " \($0)" } ?? ""), .alarm))
    }
    return reasons
  }

  /// The most urgent of the reasons.
  package var severity: Severity {
    var most = alarms.map(\.severity).max() ?? .none
    if let battery {
      if battery.level == .critical || battery.faults?.isEmpty == false { return .alarm }
      if battery.level == .low || battery.warnings?.isEmpty == false { most = max(most, .warning) }
    }
    if status?.state == .fault { return .alarm }
    return most
  }

  /// The most important thing to say: that it can't be reached, then an alarm, then what it does.
  package var shownState: String {
    if reach != .attached { return state }
    if let alarm = reasons.max(by: { $0.severity < $1.severity }) { return alarm.word }
    return isStale ? "stale" : state
  }

  // MARK: - Searching

  /// Whether each word of a filter occurs in what the list shows of it. `words` are lower-case.
  package func matches(_ words: [String]) -> Bool {
    if words.isEmpty { return true }
    let text = searchText
    return words.allSatisfy { text.contains($0) }
  }

  private var searchText: String {
    var parts = [name, state]
    parts += facts.map(\.text)
    parts += reasons.map(\.text)
    return parts.joined(separator: "\n").lowercased()
  }

  // MARK: - Values

  /// The values for the list's column, the most interesting first: "23.4 °C", "power 12.1 W".
  package var summary: [String] {
    var parts: [String] = []
    let hottest = battery.flatMap { BatteryReading.Field.temperatures.term.count(in: $0) }
    if let hottest { parts.append(DecimalText.short(Double(hottest / 100) / 10) + " °C") }
    // Numbers that measure something; the rest is in the detail view.
    for value in values ?? [] where value.number != nil {
      guard parts.count < 6, let quantity = value.quantity, !Self.dull.contains(quantity), let text = Self.text(value)
      else { continue }
      parts.append("\(SafeText.escape(value.name, limit: 24)) \(text)")
    }
    return parts
  }

  /// Quantities that say something about the device and not about what it measures.
  private static let dull: Set<AccessoryValue.Quantity> = [.problem, .dataSize, .dataRate, .state, .identity, .count]

  /// A value with its unit; nil for an unknown one.
  package static func text(_ value: AccessoryValue) -> String? {
    let unit = value.unit.map { " " + SafeText.escape($0.rawValue, limit: 16) } ?? ""
    switch value.content {
    case .number(let number): return DecimalText.short((number * 1_000).rounded() / 1_000) + unit
    case .text(let text), .choice(let text, _): return SafeText.escape(text, limit: 64)
    case .flag(let flag): return flag ? "yes" : "no"
    case nil: return nil
    }
  }
}
