// SPDX-License-Identifier: Apache-2.0

/// A row of the vocabulary: a quantity of a battery or of a status, how it is read and written, and its names for each output.
/// All code that shows, stores, watches or exports readings iterates over the rows, so a new row appears in all of them.
package final class ReadingTerm<Reading: Sendable>: Sendable {
  /// The key in the service's interface and in JSON documents, with the unit: "voltage_mv".
  package let key: String
  /// For a list of objects, the key of each object's number; otherwise nil.
  package let elementKey: String?
  /// The label for people: "Time to empty".
  package let label: String
  /// What the quantity is, and how it is read and written.
  package let form: Form
  /// Its name in descriptions; nil if a description can't provide it.
  package let described: DescribedTerm?
  /// How much it matters to people.
  package let importance: Importance
  /// Its older name in the fields of traces, which is written beside `key`; nil if that is the same.
  package let trace: String?
  /// Its names in rules of alarms.
  package let alarms: [AlarmTerm]
  /// Whether it is in the one-line summary for people. Otherwise it is among the details.
  package let isInLine: Bool
  /// The name of its series in the history; nil where none is kept.
  package let series: String?
  /// Its column in tables; nil if it has none.
  package let column: ColumnTerm?
  /// The variable of NUT; nil where NUT has none.
  package let nut: NUTTerm?
  /// The metric; nil where there is none.
  package let metric: MetricTerm?
  /// The entities in Home Assistant.
  package let entities: [EntityTerm]

  init(
    _ key: String, element elementKey: String? = nil, _ label: String, _ form: Form, described: DescribedTerm?,
    importance: Importance = .detail, trace: String? = nil,
    alarms: [AlarmTerm] = [], isInLine: Bool = false, series: String? = nil, column: ColumnTerm? = nil,
    nut: NUTTerm? = nil,
    metric: MetricTerm?, entities: [EntityTerm]
  ) {
    (self.key, self.elementKey, self.label, self.form) = (key, elementKey, label, form)
    (self.described, self.importance, self.trace) = (described, importance, trace)
    (self.alarms, self.isInLine, self.series, self.column) = (alarms, isInLine, series, column)
    (self.nut, self.metric, self.entities) = (nut, metric, entities)
  }

  /// What a quantity is, with the functions that read it from a reading and write it to one.
  package enum Form: Sendable {
    /// One whole number, in the published unit.
    case number(Measure, get: @Sendable (Reading) -> Int?, set: @Sendable (inout Reading, Int?) -> Void)
    /// One of some words; nil stands for unknown.
    case word([String], get: @Sendable (Reading) -> String?, set: @Sendable (inout Reading, String) -> Void)
    /// Several numbers, some of which may have names. `single` says how to reduce them to one number; nil if no single number
    /// represents them.
    case list(
      Measure, limit: Int, single: ReadingFold?, get: @Sendable (Reading) -> [ReadingElement],
      set: @Sendable (inout Reading, [ReadingElement]) -> Void)
    /// Names of what is wrong; nil stands for unknown.
    case names(get: @Sendable (Reading) -> [String]?, set: @Sendable (inout Reading, [String]?) -> Void)
  }
}

extension ReadingTerm {
  /// The unit and the range of the numbers; nil for words and names.
  package var measure: Measure? {
    switch form {
    case .number(let measure, _, _), .list(let measure, _, _, _, _): measure
    case .word, .names: nil
    }
  }

  /// The possible words; empty for other forms.
  package var words: [String] { if case .word(let words, _, _) = form { words } else { [] } }

  /// Whether the reading contains the quantity.
  package func isKnown(in reading: Reading) -> Bool {
    switch form {
    case .number(_, let get, _): get(reading) != nil
    case .word(_, let get, _): get(reading) != nil
    case .list(_, _, _, let get, _): !get(reading).isEmpty
    case .names(let get, _): get(reading) != nil
    }
  }

  /// The word; nil where it isn't known, and for other forms.
  package func word(in reading: Reading) -> String? {
    if case .word(_, let get, _) = form { get(reading) } else { nil }
  }

  /// The names; nil where they aren't known, and for other forms.
  package func names(in reading: Reading) -> [String]? {
    if case .names(let get, _) = form { get(reading) } else { nil }
  }

  /// The elements of a list; empty for other forms.
  package func elements(in reading: Reading) -> [ReadingElement] {
    if case .list(_, _, _, let get, _) = form { get(reading) } else { [] }
  }

  /// The whole number in the published unit, for a list the one that represents it; nil if it isn't known.
  package func count(in reading: Reading) -> Int? {
    switch form {
    case .number(_, let get, _): get(reading)
    case .list(_, _, let single?, let get, _): single.number(of: get(reading), isBelow: false)
    case .list, .word, .names: nil
    }
  }

  /// The same in the unit for people: 3.712 V.
  package func value(in reading: Reading) -> Double? {
    count(in: reading).flatMap { count in measure?.value(count) }
  }

  /// Sets the number of a row whose form is `number`. A number that can't be makes the quantity unknown.
  package func set(_ count: Int?, in reading: inout Reading) {
    if case .number(let measure, _, let set) = form { set(&reading, count.flatMap(measure.told)) }
  }

  /// Notes which numbers of the quantity can't be.
  func judge(_ reading: Reading, _ evidence: inout Plausibility) {
    guard let measure else { return }
    let counts: [Int] =
      switch form {
      case .number(_, let get, _): get(reading).map { [$0] } ?? []
      case .list(_, _, _, let get, _): get(reading).compactMap(\.count)
      case .word, .names: []
      }
    let wrong = counts.filter { measure.told($0) == nil }
    evidence.note(label.lowercased(), known: counts.count, wrong: wrong.count, first: measure.text(wrong[0]))
  }

  /// Brings the quantity within its bounds: a number that can't be becomes unknown; long lists and names are cut.
  func bound(_ reading: inout Reading) {
    switch form {
    case .number(let measure, let get, let set):
      guard let count = get(reading), measure.told(count) != count else { return }
      set(&reading, measure.told(count))
    case .word: return
    case .list(let measure, let limit, _, let get, let set):
      let elements = get(reading)
      func isOutside(_ element: ReadingElement) -> Bool {
        element.count.map { measure.told($0) != $0 } ?? false
          || element.name.map { $0.utf8.count > ReadingLimits.nameBytes } ?? false
      }
      // Nearly all readings are within the limits.
      guard elements.count > limit || elements.contains(where: isOutside) else { return }
      set(
        &reading,
        elements.prefix(limit).map {
          ReadingElement(
            $0.count.flatMap(measure.told),
            name: $0.name.map { ReadingLimits.cut($0, to: ReadingLimits.nameBytes) })
        })
    case .names(let get, let set): if let names = get(reading) { set(&reading, ReadingLimits.names(names)) }
    }
  }

  /// What a rule of an alarm compares; nil where it isn't known.
  func content(of alarm: AlarmTerm, in reading: Reading, isBelow: Bool) -> AccessoryValue.Content? {
    switch form {
    case .number(let measure, let get, _): get(reading).map(measure.content)
    case .word(_, let get, _): get(reading).map { .choice(word: $0, number: 0) }
    case .list(let measure, _, _, let get, _):
      alarm.fold.number(of: get(reading), isBelow: isBelow).map(measure.content)
    case .names: nil
    }
  }
}

/// The unit and the range of whole numbers.
package struct Measure: Sendable {
  /// The unit for people, rules, histories and other programs: volts. Nil where there is none.
  package let unit: MeasurementUnit?
  /// The unit of the whole numbers, which is published: millivolts.
  package let published: MeasurementUnit?
  /// The number of decimal places that the whole number has in `unit`.
  package let places: Int
  /// The whole numbers that documents may have.
  package let range: ClosedRange<Int>
  /// The whole numbers that can be; others are unknown.
  private let plausible: ClosedRange<Int>
  /// How far above `plausible` a number may be and still count as its end.
  private let overrun: Int

  init(
    _ unit: MeasurementUnit?, published: MeasurementUnit? = nil, _ range: ClosedRange<Int>,
    plausible: ClosedRange<Int>? = nil, overrun: Int = 0
  ) {
    (self.unit, self.published, self.range) = (unit, published ?? unit, range)
    (self.plausible, self.overrun) = (plausible ?? range, overrun)
    places = published == nil ? 0 : 3
  }

  /// The whole number that is told; nil where it can't be.
  func told(_ count: Int) -> Int? {
    if plausible.contains(count) { return count }
    return count > plausible.upperBound && count <= plausible.upperBound + overrun ? plausible.upperBound : nil
  }

  /// What numbers in a unit can be. Without a unit they are in the one for people.
  package func plausible(in symbol: MeasurementUnit?) -> PlausibleRange {
    PlausibleRange(Double(plausible.lowerBound)...Double(plausible.upperBound), overrun: Double(overrun))
      .scaled(by: 1 / factor(from: symbol?.rawValue))
  }

  /// A whole number for people, with its unit: "777 °C".
  func text(_ count: Int) -> String {
    let value = value(count)
    return (Int(exactly: value).map { "\($0)" } ?? "\(value)") + (unit.map { " \($0.rawValue)" } ?? "")
  }

  /// A whole number in the unit for people, as the content of a value.
  func content(_ count: Int) -> AccessoryValue.Content { .decimal(count, places: places) }

  /// A whole number in the unit for people. The division is the only rounding.
  package func value(_ count: Int) -> Double { places == 0 ? Double(count) : Double(count) / 1_000 }
}

/// A number of a list, in the published unit, with its name where it has one.
package struct ReadingElement: Sendable, Hashable {
  /// Nil where it isn't known.
  package var count: Int?
  package var name: String?

  package init(_ count: Int?, name: String? = nil) { (self.count, self.name) = (count, name) }
}

/// How several numbers become one.
package enum ReadingFold: Sendable, Hashable {
  case least, greatest
  /// The difference between the greatest and the least; nil if there are fewer than two.
  case spread
  /// The least for a comparison with a lower limit, otherwise the greatest.
  case worst

  /// Reduces the known numbers to one; nil if none is known.
  package func number(of elements: [ReadingElement], isBelow: Bool = false) -> Int? {
    var (least, greatest, known): (Int?, Int?, Int) = (nil, nil, 0)
    for case let count? in elements.lazy.map(\.count) {
      (least, greatest, known) = (Swift.min(least ?? count, count), Swift.max(greatest ?? count, count), known + 1)
    }
    switch self {
    case .least: return least
    case .greatest: return greatest
    case .worst: return isBelow ? least : greatest
    case .spread:
      guard known >= 2, let least, let greatest else { return nil }
      let (spread, overflow) = greatest.subtractingReportingOverflow(least)
      return overflow ? nil : spread
    }
  }
}
