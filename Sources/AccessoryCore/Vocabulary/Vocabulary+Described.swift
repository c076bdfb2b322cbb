// SPDX-License-Identifier: Apache-2.0

// Quantities by the names that descriptions have for them.

extension Vocabulary {
  /// What a name in a description means.
  package struct Described: Sendable {
    package let field: BatteryReading.Field
    package let term: ReadingTerm<BatteryReading>
    /// Whether the name is that of one element of a list.
    package let isElement: Bool
    /// The name of that element; nil where it has none.
    package var elementName: String?
  }

  /// What `name`, which stands behind `battery.`, means; nil where no quantity of a battery has this name.
  package static func battery(described name: Substring) -> Described? {
    if let known = describedNames[name] { return known }
    guard let point = name.firstIndex(of: "."), var known = describedNames[name[..<point]], known.isElement else {
      return nil
    }
    known.elementName = String(name[point...].dropFirst())
    return known
  }

  /// The names of a status's quantities behind `status.`.
  package static let statusNames: Set<Substring> = Set(status.compactMap { $0.described.map { Substring($0.name) } })

  private static let describedNames: [Substring: Described] = {
    var names: [Substring: Described] = [:]
    for field in BatteryReading.Field.allCases {
      guard let described = field.term.described else { continue }
      names[Substring(described.name)] = Described(field: field, term: field.term, isElement: false)
      if let element = described.element {
        names[Substring(element)] = Described(field: field, term: field.term, isElement: true)
      }
    }
    return names
  }()
}

extension Measure {
  /// The factor from numbers in this unit to published whole numbers. A number without a unit is in the unit for people.
  package func factor(from symbol: String?) -> Double {
    let whole: Double = places == 0 ? 1 : 1_000
    guard let symbol, symbol != unit?.rawValue else { return whole }
    if symbol == published?.rawValue { return 1 }
    return (unit.flatMap { MeasurementUnit(rawValue: symbol).convert(difference: 1, to: $0) } ?? 1) * whole
  }
}
