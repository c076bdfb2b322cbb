// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols

extension ProtocolDescription {
  /// The values that are calculated from others, in the order of their calculation. `value` returns the value with a
  /// name, and `raw` its raw number; earlier results of this function are used, too.
  public func derivedValues(
    from value: (String) -> PlainValue?, raw: (String) -> Int? = { _ in nil }
  ) -> [DescribedValue] {
    var results: [DescribedValue] = []
    for derivation in derived {
      func read(_ name: String) -> PlainValue? { results.last { $0.name == name }?.value ?? value(name) }
      // A value is left out if none of the values from which it is calculated was read.
      guard derivation.formula.names.contains(where: { read($0) != nil }) else { continue }
      var result =
        derivation.formula.derived(
          { name in read(name) ?? parameter(name).map { $0.number.map { .number($0) } ?? .nothing } }, sent: raw)
        ?? .nothing
      if !derivation.translations.isEmpty {
        if case .text(let word) = result {
          result = derivation.translations[word].map { .text($0) } ?? .nothing
        } else {
          result = .nothing
        }
      }
      results.append(
        DescribedValue(
          derivation.name, plausible[derivation.name].map { result.told(within: $0) } ?? result, unit: derivation.unit,
          quantity: derivation.quantity,
          role: derivation.role, isHidden: derivation.isHidden))
    }
    return results
  }
}

extension PlainValue {
  /// Whether the value is a list.
  var isList: Bool { if case .list = self { true } else { false } }

  /// The number; nil for values of other kinds.
  public var asNumber: Double? {
    switch self {
    case .whole(let number): Double(number)
    case .number(let number): number
    default: nil
    }
  }

  /// The value in the notation for expected values in descriptions.
  public var asExampleText: String {
    switch self {
    case .whole(let number): "\(number)"
    case .number(let number): Int(exactly: number).map { "\($0)" } ?? "\(number)"
    case .text(let text): text
    case .flag(let flag): flag ? "true" : "false"
    case .bytes(let bytes): Hexadecimal.string(bytes)
    case .list(let list): list.map(\.asExampleText).joined(separator: ", ")
    case .nothing: "unknown"
    }
  }
}
