// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// The pages' tables of a battery's quantities: each row is one of the vocabulary.
enum QuantityTables {
  /// The lines of the table with this name; nil where there is none.
  static func lines(_ name: Substring) -> [String]? {
    switch name {
    case "names": table(["field", "quantity", "unit", "in rules", "metric", "NUT"], Vocabulary.shown.map(names))
    case "described": table(["name", "form", "range"], Vocabulary.shown.flatMap(described))
    case "metrics": table(["metric", "labels besides `id`", ""], Vocabulary.battery.flatMap(metrics))
    default: nil
    }
  }

  private static func table(_ titles: [String], _ rows: [[String]]) -> [String] {
    ([titles, titles.map { _ in "" }] + rows).enumerated().map { place, cells in
      place == 1
        ? String(repeating: "|---", count: cells.count) + "|"
        : "|" + cells.map { $0.isEmpty ? " |" : " \($0) |" }.joined()
    }
  }

  private static func code(_ words: [String?]) -> String {
    words.compactMap { $0.map { "`\($0)`" } }.joined(separator: ", ")
  }

  private static func names(_ term: ReadingTerm<BatteryReading>) -> [String] {
    let field = code([term.key]) + (term.elementKey.map { ": a list of `name`, or null, and `\($0)`" } ?? "")
    let words = term.words.isEmpty ? "" : ": " + code(term.words.map(Optional.some))
    return [
      field, term.label + words, term.measure?.published?.rawValue ?? "", code(term.alarms.map(\.phrase)),
      code([term.metric?.name]), code([term.nut?.name]),
    ]
  }

  private static func described(_ term: ReadingTerm<BatteryReading>) -> [[String]] {
    guard let described = term.described else { return [] }
    let units = described.units.map { $0 == .percent ? "`\"%\"`" : "`\($0)`" }.joined(separator: ", ")
    let number = units.isEmpty ? "a number" : "a number in \(units)"
    let name = code(["battery." + described.name])
    switch term.form {
    case .number(let measure, _, _): return [[name, number, range(measure, described.units.last)]]
    case .word(let words, _, _): return [[name, code(words.map(Optional.some)), ""]]
    case .names: return [[name, "names by bit (`flags`)", ""]]
    case .list(let measure, _, _, _, _):
      let list = [name, "a list of numbers in \(units)", range(measure, described.units.last)]
      let element = described.element.map { "`battery.\($0)`, `battery.\($0).NAME`" }
      return [list] + (element.map { [[$0, number, range(measure, described.units.last)]] } ?? [])
    }
  }

  private static func range(_ measure: Measure, _ unit: MeasurementUnit?) -> String {
    let plausible = measure.plausible(in: unit)
    func text(_ number: Double) -> String { Int(exactly: number).map { "\($0)" } ?? "\(number)" }
    let over = plausible.overrun > 0 ? "; up to \(text(plausible.range.upperBound + plausible.overrun)) is the end" : ""
    let symbol = unit.map { " \($0)" } ?? ""
    return "\(text(plausible.range.lowerBound)) to \(text(plausible.range.upperBound))\(symbol)" + over
  }

  private static func metrics(_ term: ReadingTerm<BatteryReading>) -> [[String]] {
    guard let metric = term.metric else { return [] }
    func row(_ name: String, _ label: String?, _ help: String) -> [String] {
      [code([name]), code([label]), String(help.dropLast())]
    }
    switch metric.samples {
    case .number, .truth: return [row(metric.name, nil, metric.help)]
    case .states: return [row(metric.name, "state", metric.help)]
    case .each(let label): return [row(metric.name, label, metric.help)]
    case .count(let each, let label, let help): return [row(metric.name, nil, metric.help), row(each, label, help)]
    }
  }
}
