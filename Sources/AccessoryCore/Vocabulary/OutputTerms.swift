// SPDX-License-Identifier: Apache-2.0

// What a quantity is called by those who show or export it: the parts of a row of the vocabulary.

/// A quantity in descriptions.
package struct DescribedTerm: Sendable {
  /// The name behind the prefix of its part: "voltage" in `battery.voltage`.
  package let name: String
  /// The name of one element of a list: `temperature`. With a suffix, as in `temperature.mosfet`, the element has that name. Nil for a quantity
  /// that isn't a list, and for a list that a description can only give as a whole.
  package let element: String?
  /// The units that a description may use; empty for a quantity without a unit.
  package let units: [MeasurementUnit]
  /// Whether it is also published as a value, as it was before it was a quantity of the battery.
  package let isValueToo: Bool

  init(_ name: String, element: String? = nil, in units: MeasurementUnit..., isValueToo: Bool = false) {
    (self.name, self.element, self.units, self.isValueToo) = (name, element, units, isValueToo)
  }
}

/// A quantity in the rules of alarms.
package struct AlarmTerm: Sendable {
  /// "cell spread".
  package let phrase: String
  /// How several numbers become the one that is compared.
  package let fold: ReadingFold
  /// Whether words can be compared by their order, as levels can.
  package let isOrdered: Bool

  init(_ phrase: String, _ fold: ReadingFold = .worst, isOrdered: Bool = false) {
    (self.phrase, self.fold, self.isOrdered) = (phrase, fold, isOrdered)
  }
}

/// A quantity in tables for people.
package struct ColumnTerm: Sendable {
  /// "TO EMPTY".
  package let title: String
  /// If not all columns fit, those with the lowest numbers are left out first. Nil for a column that always stays.
  package let leavingOrder: Int?

  init(_ title: String, leaves leavingOrder: Int? = nil) { (self.title, self.leavingOrder) = (title, leavingOrder) }
}

/// A variable of NUT.
package struct NUTTerm: Sendable {
  /// "battery.voltage".
  package let name: String
  /// What `GET DESC` answers.
  package let summary: String
  /// The maximum number of decimal places.
  package let places: Int
  /// NUT's words for ours.
  package let words: [String: String]

  init(_ name: String, _ summary: String, places: Int = 3, words: [String: String] = [:]) {
    (self.name, self.summary, self.places, self.words) = (name, summary, places, words)
  }
}

/// A metric, or several that belong together.
package struct MetricTerm: Sendable {
  package enum Samples: Sendable {
    case number
    /// A sample for each number of a list. The label has its name, or else its position.
    case each(label: String)
    /// A sample for each word: 1 for the current one, 0 for the others.
    case states
    /// 1 if it is one of these words, otherwise 0.
    case truth([String])
    /// The number of names; and another metric, with a sample of 1 for each name, which is in the label.
    case count(each: String, label: String, help: String)
  }

  /// The name, which ends with the base unit.
  package let name: String
  package let help: String
  package let samples: Samples

  init(_ name: String, _ help: String, _ samples: Samples = .number) {
    (self.name, self.samples, self.help) = (name, samples, help)
  }
}

/// An entity of Home Assistant.
package struct EntityTerm: Sendable {
  package enum Content: Sendable {
    /// The number, in the published unit.
    case number
    /// The number as a text, for a code.
    case text
    /// One number for all of a list.
    case fold(ReadingFold)
    /// An entity for each number of a list.
    case each
    case word
    /// On if it is one of these words.
    case truth([String])
    /// On if there is any name.
    case problem
    /// The names, in one text.
    case names
  }

  /// The key among the device's entities. It never changes.
  package let key: String
  package let name: String
  package let content: Content
  /// Whether each number of a list is an entity.
  package var isEach: Bool { if case .each = content { true } else { false } }
  package let deviceClass: String?
  /// The unit where it isn't the published one, but a thousand times as large.
  package let unit: String?
  /// The decimal places that are shown; nil for all.
  package let places: Int?
  package let stateClass: String
  /// Where it isn't that of the quantity.
  package let importance: Importance?
  /// Whether few people want it, so that they enable it themselves.
  package let isRare: Bool

  init(
    _ key: String, _ name: String, _ content: Content = .number, class deviceClass: String? = nil, unit: String? = nil,
    places: Int? = nil, state: String = "measurement", importance: Importance? = nil, isRare: Bool = false
  ) {
    (self.key, self.name, self.content) = (key, name, content)
    (self.deviceClass, self.unit, self.places, stateClass) = (deviceClass, unit, places, state)
    (self.importance, self.isRare) = (importance, isRare)
  }
}
