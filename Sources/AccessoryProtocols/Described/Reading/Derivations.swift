// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

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
      guard derivation.rule.sources.contains(where: { read($0) != nil }) else { continue }
      let result: PlainValue
      if case .number(let name) = derivation.rule {
        result = read(name) == .nothing ? .nothing : raw(name).map { .whole($0) } ?? .nothing
      } else {
        result =
          derivation.rule.value { name in
            read(name) ?? parameter(name).map { $0.number.map { .number($0) } ?? .nothing }
          } ?? .nothing
      }
      results.append(
        DescribedValue(
          derivation.name, result, unit: derivation.unit, quantity: derivation.quantity,
          role: derivation.role, isHidden: derivation.isHidden))
    }
    return results
  }
}

extension ProtocolDescription.Derivation.Rule {
  /// The names of the values from which the value is calculated.
  public var sources: [String] {
    switch self {
    case .first(let names), .sum(let names): names
    case .percent(let a, let b), .difference(let a, let b), .product(let a, let b), .condition(let a, let b, _): [a, b]
    case .percentOfRange(let a, let empty, let full): [a, empty, full]
    case .least(let name), .greatest(let name), .negated(let name), .chargeBySign(let name, _), .word(_, let name, _),
      .words(let name, _), .within(let name, _), .number(let name):
      [name]
    }
  }

  /// The calculated value; nil if it is unknown. `known` returns the value with a name.
  func value(_ known: (String) -> PlainValue?) -> PlainValue? {
    func number(_ name: String) -> Double? { known(name)?.asNumber }
    switch self {
    case .first(let names):
      for name in names {
        if let value = known(name), value != .nothing, value != .list([]) { return value }
      }
      return nil
    case .percent(let part, let whole):
      guard let part = number(part), let whole = number(whole), whole != 0 else { return nil }
      return Self.finite(part / whole * 100)
    case .percentOfRange(let name, let empty, let full):
      guard let amount = number(name), let empty = number(empty), let full = number(full), empty < full else {
        return nil
      }
      return Self.finite(min(100, max(0, (amount - empty) / (full - empty) * 100)))
    case .condition(let name, let truth, let isNegated):
      guard case .flag(let flag)? = known(truth), flag != isNegated else { return nil }
      return known(name)
    case .within(let name, let range):
      guard let amount = number(name), range.contains(amount) else { return nil }
      return known(name)
    case .difference(let first, let second):
      guard let first = number(first), let second = number(second) else { return nil }
      return Self.finite(first - second)
    case .product(let first, let second):
      guard let first = number(first), let second = number(second) else { return nil }
      return Self.finite(first * second)
    case .sum(let names):
      var sum = 0.0
      for name in names {
        if case .list(let list)? = known(name) {
          for element in list {
            guard let number = element.asNumber else { return nil }
            sum += number
          }
        } else {
          guard let number = number(name) else { return nil }
          sum += number
        }
      }
      return Self.finite(sum)
    case .least(let name): return Self.numbers(known(name)).min().map { .number($0) }
    case .greatest(let name): return Self.numbers(known(name)).max().map { .number($0) }
    case .negated(let name): return number(name).map { .number(-$0) }
    case .chargeBySign(let name, let deadBand):
      guard let current = number(name) else { return nil }
      if abs(current) <= deadBand { return .text("not_charging") }
      return .text(current > 0 ? "charging" : "discharging")
    // Only `derivedValues` knows raw numbers.
    case .number: return nil
    case .words(let name, let words):
      guard case .text(let word)? = known(name) else { return nil }
      return words[word].map { .text($0) }
    case .word(let word, let name, let flag):
      switch known(name) {
      case .flag(true)? where flag == nil: return .text(word)
      case .list(let list)? where flag != nil: return list.contains(.text(flag ?? "")) ? .text(word) : nil
      case .text(let text)? where flag == text: return .text(word)
      default: return nil
      }
    }
  }

  private static func numbers(_ value: PlainValue?) -> [Double] {
    guard case .list(let list)? = value else { return [] }
    return list.compactMap(\.asNumber)
  }

  /// The number rounded to nine decimals, which removes the rounding errors of sums of decimal fractions.
  private static func finite(_ number: Double) -> PlainValue? {
    guard number.isFinite else { return nil }
    guard abs(number) < 1e6 else { return .number(number) }
    return .number((number * 1e9).rounded() / 1e9)
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
