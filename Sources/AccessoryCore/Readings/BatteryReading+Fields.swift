// SPDX-License-Identifier: Apache-2.0

extension BatteryReading.Field {
  /// The allowed range, for fields that are one whole number; nil for other fields.
  public var range: ClosedRange<Int>? {
    if case .number(let measure, _, _) = term.form { measure.range } else { nil }
  }
}

extension BatteryReading {
  /// The value of a field that is one whole number, in the unit that its property names, and in seconds for a time; nil
  /// for other fields and for unknown values. Setting a number that the field can't have makes the field unknown.
  public subscript(field: Field) -> Int? {
    get { if case .number(_, let get, _) = field.term.form { get(self) } else { nil } }
    set { field.term.set(newValue, in: &self) }
  }

  /// The reading within its bounds: a number that can't be becomes unknown; long lists and names are cut.
  public var bounded: BatteryReading {
    var reading = self
    for term in Vocabulary.battery { term.bound(&reading) }
    return reading
  }
}
