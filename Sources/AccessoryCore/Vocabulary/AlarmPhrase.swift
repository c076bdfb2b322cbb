// SPDX-License-Identifier: Apache-2.0

/// A phrase that names a quantity in rules of alarms, and how its value is read.
struct AlarmPhrase: Sendable {
  let phrase: String
  /// The unit of the numbers; nil for words and for plain numbers.
  let unit: MeasurementUnit?
  /// The possible words, in their order; nil for numbers.
  let words: [String]?
  /// Whether the words can be compared by their order.
  let isOrdered: Bool
  let isSpread: Bool
  /// Reads the value; nil while it is unknown. With `isBelow` the lowest of several numbers counts, otherwise the highest.
  let content: @Sendable (_ readings: AlarmReadings, _ isBelow: Bool) -> AccessoryValue.Content?

  /// All phrases: the battery's, then the status's.
  static let all = of(Vocabulary.battery) { $0.battery } + of(Vocabulary.status) { $0.status }

  private static func of<Reading>(
    _ terms: [ReadingTerm<Reading>], _ reading: @escaping @Sendable (AlarmReadings) -> Reading?
  ) -> [AlarmPhrase] {
    terms.flatMap { term in
      let words: [String]? = if case .word(let words, _, _) = term.form { words } else { nil }
      return term.alarms.map { alarm in
        AlarmPhrase(
          phrase: alarm.phrase, unit: term.measure?.unit, words: words, isOrdered: alarm.isOrdered,
          isSpread: alarm.fold == .spread,
          content: { readings, isBelow in
            reading(readings).flatMap { term.content(of: alarm, in: $0, isBelow: isBelow) }
          })
      }
    }
  }
}
