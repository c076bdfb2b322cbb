// SPDX-License-Identifier: Apache-2.0

extension BatteryReading.Field {
  /// The allowed range, for fields that are one whole number; nil for other fields.
  public var range: ClosedRange<Int>? {
    if case .number(let measure, _, _) = term.form { measure.range } else { nil }
  }
}

extension BatteryReading {
  /// The value of a field that is one whole number, in the unit that its property names, and in seconds for a time; nil
  /// for other fields and for unknown values. Setting a number outside of the field's range makes the field unknown.
  public subscript(field: Field) -> Int? {
    get { if case .number(_, let get, _) = field.term.form { get(self) } else { nil } }
    set { field.term.set(newValue, in: &self) }
  }

  /// The reading within `ReadingLimits`: a number outside of its range becomes unknown; long lists and names are cut.
  public var bounded: BatteryReading {
    var reading = self
    for term in Vocabulary.battery { term.bound(&reading) }
    return reading
  }
}
