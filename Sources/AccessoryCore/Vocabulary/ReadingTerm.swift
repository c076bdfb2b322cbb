// SPDX-License-Identifier: Apache-2.0

/// A row of the vocabulary: a quantity of a battery or of a status, how it is read and written, and what everybody calls it.
/// Whatever shows, keeps, watches or exports readings goes through the rows, and so has a new quantity with its row.
package final class ReadingTerm<Reading: Sendable>: Sendable {
  /// The key in the service's interface and in JSON documents, with the unit: "voltage_mv".
  package let key: String
  /// The key of an element's number, for a list of objects; nil for a list of plain numbers, and for what is no list.
  package let elementKey: String?
  /// What people read: "Time to empty".
  package let label: String
  /// What the quantity is, and how it is read and written.
  package let form: Form
  /// What descriptions call it; nil where a description can't tell it.
  package let described: DescribedTerm?
  /// What it was called in the fields of traces before these had the names of the vocabulary; nil where that is `key`.
  package let trace: String?
  /// What rules of alarms call it.
  package let alarms: [AlarmTerm]
  /// Whether the one line of a reading for people has it; otherwise it is among the details.
  package let isInLine: Bool
  /// The name of its series in the history; nil where none is kept.
  package let series: String?
  /// The column of tables; nil where there is none.
  package let column: ColumnTerm?
  /// The variable of NUT; nil where NUT has none.
  package let nut: NUTTerm?
  /// The metric; nil where there is none.
  package let metric: MetricTerm?
  /// The entities in Home Assistant.
  package let entities: [EntityTerm]

  init(
    _ key: String, element elementKey: String? = nil, _ label: String, _ form: Form, described: DescribedTerm?,
    trace: String? = nil,
    alarms: [AlarmTerm] = [], isInLine: Bool = false, series: String? = nil, column: ColumnTerm? = nil,
    nut: NUTTerm? = nil,
    metric: MetricTerm?, entities: [EntityTerm]
  ) {
    (self.key, self.elementKey, self.label, self.form) = (key, elementKey, label, form)
    (self.described, self.trace) = (described, trace)
    (self.alarms, self.isInLine, self.series, self.column) = (alarms, isInLine, series, column)
    (self.nut, self.metric, self.entities) = (nut, metric, entities)
  }

  /// What a quantity is, with the functions that read it from a reading and write it to one.
  package enum Form: Sendable {
    /// One whole number, in the published unit.
    case number(Measure, get: @Sendable (Reading) -> Int?, set: @Sendable (inout Reading, Int?) -> Void)
    /// One of some words; nil stands for unknown.
    case word([String], get: @Sendable (Reading) -> String?, set: @Sendable (inout Reading, String) -> Void)
    /// Several numbers, some of which may have names. Where one number is wanted, it is `single` of them; nil where no number
    /// stands for all.
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

  /// The words that it may be; empty for other forms.
  package var words: [String] { if case .word(let words, _, _) = form { words } else { [] } }

  /// Whether the reading says anything of the quantity.
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

  /// The whole number in the published unit, of a list the one that stands for all; nil where it isn't known.
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

  /// Writes the whole number of a row that is one number; one outside of the range makes the quantity unknown.
  package func set(_ count: Int?, in reading: inout Reading) {
    if case .number(let measure, _, let set) = form { set(&reading, ReadingLimits.within(count, measure.range)) }
  }

  /// Brings the quantity within `ReadingLimits`: a number outside of its range becomes unknown; long lists and names are cut.
  func bound(_ reading: inout Reading) {
    switch form {
    case .number(let measure, let get, let set):
      guard let count = get(reading), !measure.range.contains(count) else { return }
      set(&reading, nil)
    case .word: return
    case .list(let measure, let limit, _, let get, let set):
      let elements = get(reading)
      func isOutside(_ element: ReadingElement) -> Bool {
        element.count.map { !measure.range.contains($0) } ?? false
          || element.name.map { $0.utf8.count > ReadingLimits.nameBytes } ?? false
      }
      // Nearly all readings are within the limits.
      guard elements.count > limit || elements.contains(where: isOutside) else { return }
      set(
        &reading,
        elements.prefix(limit).map {
          ReadingElement(
            ReadingLimits.within($0.count, measure.range),
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

/// The unit of whole numbers, and what they may be.
package struct Measure: Sendable {
  /// The unit for people, rules, histories and other programs: volts. Nil where there is none.
  package let unit: MeasurementUnit?
  /// The unit of the whole numbers, which is published: millivolts.
  package let published: MeasurementUnit?
  /// How many digits of the whole number are behind the point in `unit`.
  package let places: Int
  /// The least and the greatest whole number.
  package let range: ClosedRange<Int>

  init(_ unit: MeasurementUnit?, published: MeasurementUnit? = nil, _ range: ClosedRange<Int>) {
    (self.unit, self.published, self.range) = (unit, published ?? unit, range)
    places = published == nil ? 0 : 3
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
  /// The difference of the greatest and the least; nil of fewer than two.
  case spread
  /// The least for what watches for low numbers, otherwise the greatest.
  case worst

  /// One number for the known ones; nil where none is known.
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
