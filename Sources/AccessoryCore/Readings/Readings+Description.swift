// SPDX-License-Identifier: Apache-2.0

// Descriptions of readings, as `print` shows them: one line each. Unknown fields are left out. Texts that came from an
// accessory are escaped for a terminal or a log.

extension BatteryReading: CustomStringConvertible {
  /// For people: "57 %, normal, 3.712 V, -0.25 A, discharging".
  public var description: String {
    var parts: [String] = []
    for term in Vocabulary.shown {
      switch term.form {
      case .number(let measure, let get, _):
        guard term.isInLine, let count = get(self) else { continue }
        parts.append(ReadingText.short(measure.value(count)) + (measure.unit.map { " \($0)" } ?? ""))
      case .word(_, let get, _):
        let word = get(self)
        // A full battery needn't be said to be full twice.
        if term.key != Field.level.rawValue, word == nil || word == level.rawValue { continue }
        parts.append(word?.replacing("_", with: " ") ?? "\(term.label.lowercased()) unknown")
      case .names(let get, _):
        guard let names = get(self), !names.isEmpty else { continue }
        parts.append("\(term.label.lowercased()): " + ReadingText.list(names))
      case .list: continue
      }
    }
    return parts.joined(separator: ", ")
  }
}

extension AccessoryStatus: CustomStringConvertible {
  /// For people: "busy, 40 %", "fault 17", "unknown".
  public var description: String {
    (state.map { $0 == .notInitialized ? "not initialized" : $0.word } ?? "unknown")
      + (faultCode.map { state == .fault ? " \($0)" : ", fault \($0)" } ?? "")
      + (progress.map { ", \($0) %" } ?? "")
  }
}

extension AccessoryIdentity: CustomStringConvertible {
  /// For people: "Acme Thermometer, model T-1, serial 0042, firmware 1.2"; "unknown" where nothing is known.
  public var description: String {
    let who = [manufacturer, name].filter { !$0.isEmpty }.map { SafeText.escape($0) }.joined(separator: " ")
    let rest = [
      ("model", model), ("serial", serialNumber), ("firmware", firmwareRevision), ("hardware", hardwareRevision),
    ].filter { !$1.isEmpty }.map { "\($0) \(SafeText.escape($1))" }
    let parts = (who.isEmpty ? [] : [who]) + rest
    return parts.isEmpty ? "unknown" : parts.joined(separator: ", ")
  }
}

extension AccessoryValue: CustomStringConvertible {
  /// For people: "port_4: 50 cm"; "-" stands for a value that isn't known.
  public var description: String {
    let unit =
      content == nil ? "" : unit.map { " " + SafeText.escape($0.rawValue, limit: ReadingLimits.unitBytes) } ?? ""
    return SafeText.escape(name) + ": " + ReadingText.content(content) + unit
  }
}

extension ValuesReading: CustomStringConvertible {
  /// For people, without the times: "voltage: 13.2 V, current: -4.5 A".
  public var description: String { values.map(\.description).joined(separator: ", ") }
}

/// Formats parts of readings for people.
private enum ReadingText {
  /// A number without needless digits: "3.712", "-0.25", "4".
  static func short(_ number: Double) -> String { Int(exactly: number).map { "\($0)" } ?? "\(number)" }

  static func list(_ names: [String]) -> String { names.map { SafeText.escape($0) }.joined(separator: " ") }

  static func content(_ content: AccessoryValue.Content?) -> String {
    switch content {
    case .number(let number): short(number)
    case .text(let text), .choice(let text, _): SafeText.escape(text, limit: ReadingLimits.textBytes)
    case .flag(let flag): flag ? "yes" : "no"
    case nil: "-"
    }
  }
}
