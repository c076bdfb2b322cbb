// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// Calculates formulas. Whatever can't be calculated is unknown: a name that isn't known, a division by 0, a number that overflows.
struct FormulaEvaluation {
  typealias Node = ProtocolDescription.Formula.Node
  typealias Fraction = ProtocolDescription.Fraction

  /// The value with a name; nil if there is none.
  var known: (String) -> PlainValue?
  /// The number of the field itself; nil where it has none.
  var raw: (ProtocolDescription.NumberFormat.Encoding?) -> Amount? = { _ in nil }
  /// The number as which the value with a name was sent.
  var sent: (String) -> Int? = { _ in nil }
  /// Whether whole numbers with a name are calculated with exactly, as in a field. Derived values that overflow are rounded.
  var isExact = false

  /// A number: exact, or the nearest one.
  enum Amount {
    case exact(Fraction)
    case near(Double)

    var value: Double {
      switch self {
      case .exact(let fraction): fraction.value
      case .near(let number): number
      }
    }
  }

  /// What a part of a formula gives.
  enum Outcome {
    /// A number that was calculated.
    case amount(Amount)
    /// A value that was taken as it is.
    case value(PlainValue)
  }

  /// The outcome of a part; nil if it is unknown.
  func outcome(_ node: Node) -> Outcome? {
    switch node {
    case .number(let number): return .amount(.exact(number))
    case .text(let text): return .value(.text(text))
    case .raw(let encoding): return raw(encoding).map { .amount($0) }
    case .name(let name):
      guard let value = known(name), value != .nothing else { return nil }
      return .value(value)
    case .negated(let part):
      switch amount(part) {
      case .exact(let number)?: return number.negated.map { .amount(.exact($0)) }
      case .near(let number)?: return .amount(.near(-number))
      case nil: return nil
      }
    case .not(let part): return truth(part).map { .value(.flag(!$0)) }
    case .operation(let sign, let left, let right): return operation(sign, left, right)
    case .call(let function, let parts): return call(function, parts)
    }
  }

  /// The number of a part; nil if it is unknown, or no number.
  func amount(_ node: Node) -> Amount? { amount(outcome(node)) }

  private func amount(_ outcome: Outcome?) -> Amount? {
    switch outcome {
    case .amount(let amount)?: amount
    case .value(.whole(let number))?: isExact ? .exact(Fraction(number)) : .near(Double(number))
    case .value(.number(let number))?: .near(number)
    default: nil
    }
  }

  /// The truth of a part; nil if it is unknown.
  func truth(_ node: Node) -> Bool? {
    if case .value(.flag(let flag))? = outcome(node) { flag } else { nil }
  }

  // MARK: - Operators

  private func operation(
    _ sign: ProtocolDescription.Formula.Operator, _ left: Node, _ right: Node
  ) -> Outcome? {
    switch sign {
    case .plus, .minus, .times, .dividedBy:
      guard let left = amount(left), let right = amount(right) else { return nil }
      return arithmetic(sign, left, right).map { .amount($0) }
    case .less, .lessOrEqual, .greater, .greaterOrEqual:
      guard let left = amount(left), let right = amount(right) else { return nil }
      let order = Self.order(left, right)
      let isTrue =
        switch sign {
        case .less: order < 0
        case .lessOrEqual: order <= 0
        case .greater: order > 0
        default: order >= 0
        }
      return .value(.flag(isTrue))
    case .equals, .differs:
      guard let isEqual = isEqual(left, right) else { return nil }
      return .value(.flag(isEqual == (sign == .equals)))
    case .and, .or:
      let (first, second) = (truth(left), truth(right))
      // One part that is false, or true, decides even if the other is unknown.
      if first == (sign == .or) || second == (sign == .or) { return .value(.flag(sign == .or)) }
      return first == nil || second == nil ? nil : .value(.flag(sign == .and))
    case .isIn:
      guard case .value(.text(let text))? = outcome(left), case .value(let value)? = outcome(right) else { return nil }
      if case .list(let list) = value { return .value(.flag(list.contains(.text(text)))) }
      return .value(.flag(value == .text(text)))
    }
  }

  private func isEqual(_ left: Node, _ right: Node) -> Bool? {
    let (left, right) = (outcome(left), outcome(right))
    if let first = amount(left), let second = amount(right) { return Self.order(first, second) == 0 }
    guard case .value(let first)? = left, case .value(let second)? = right else { return nil }
    return first == second
  }

  /// Below 0 if the first is less, 0 if both are equal.
  private static func order(_ left: Amount, _ right: Amount) -> Int {
    if case .exact(let first) = left, case .exact(let second) = right, let difference = first - second {
      return difference.numerator.signum()
    }
    return left.value < right.value ? -1 : left.value > right.value ? 1 : 0
  }

  private func arithmetic(
    _ sign: ProtocolDescription.Formula.Operator, _ left: Amount, _ right: Amount
  ) -> Amount? {
    if case .exact(let first) = left, case .exact(let second) = right {
      switch sign {
      case .plus: return (first + second).map { .exact($0) }
      case .minus: return (first - second).map { .exact($0) }
      case .times: return (first * second).map { .exact($0) }
      default: return (first / second).map { .exact($0) }
      }
    }
    let (first, second) = (left.value, right.value)
    switch sign {
    case .plus: return Self.finite(first + second)
    case .minus: return Self.finite(first - second)
    case .times: return Self.finite(first * second)
    default: return second == 0 ? nil : Self.finite(first / second)
    }
  }

  private static func finite(_ number: Double) -> Amount? { number.isFinite ? .near(number) : nil }

  // MARK: - Functions

  private func call(_ function: ProtocolDescription.Formula.Function, _ parts: [Node]) -> Outcome? {
    guard function.counts.contains(parts.count) else { return nil }
    switch function {
    case .when:
      if truth(parts[0]) == true { return outcome(parts[1]) }
      return parts.count == 3 ? outcome(parts[2]) : nil
    case .first:
      for part in parts {
        guard let outcome = outcome(part) else { continue }
        if case .value(.list([])) = outcome { continue }
        return outcome
      }
      return nil
    case .min: return numbers(parts[0]).min().map { .value(.number($0)) }
    case .max: return numbers(parts[0]).max().map { .value(.number($0)) }
    case .sum: return sum(parts).flatMap { Self.finite($0) }.map { .amount($0) }
    case .join: return joined(parts)
    case .percent:
      let numbers = parts.compactMap { amount($0)?.value }
      guard numbers.count == parts.count else { return nil }
      if numbers.count == 2 {
        return numbers[1] == 0 ? nil : Self.finite(numbers[0] / numbers[1] * 100).map { .amount($0) }
      }
      let (part, empty, full) = (numbers[0], numbers[1], numbers[2])
      guard empty < full else { return nil }
      return Self.finite(Swift.min(100, Swift.max(0, (part - empty) / (full - empty) * 100))).map { .amount($0) }
    case .charging:
      guard let current = amount(parts[0])?.value else { return nil }
      let band = parts.count == 2 ? amount(parts[1])?.value : 0
      guard let band else { return nil }
      if abs(current) <= band { return .value(.text("not_charging")) }
      return .value(.text(current > 0 ? "charging" : "discharging"))
    case .number:
      guard case .name(let name) = parts[0], let value = known(name), value != .nothing else { return nil }
      return sent(name).map { .value(.whole($0)) }
    }
  }

  /// The elements of all that is known; nil where nothing is. Unknown ones at the end are places where there is nothing.
  private func joined(_ parts: [Node]) -> Outcome? {
    var list: [PlainValue] = []
    var isKnown = false
    for part in parts {
      guard let outcome = outcome(part) else { continue }
      isKnown = true
      switch outcome {
      case .value(.list(let elements)): list += elements
      case .value(let value): list.append(value)
      case .amount(let amount): list.append(.number(amount.value))
      }
      // A list that is joined with itself again and again would grow without end.
      guard list.count <= ProtocolDescription.Limit.values else { return nil }
    }
    while list.last == .nothing { list.removeLast() }
    return isKnown ? .value(.list(list)) : nil
  }

  private func numbers(_ node: Node) -> [Double] {
    guard case .value(.list(let list))? = outcome(node) else { return [] }
    return list.compactMap(\.asNumber)
  }

  /// The sum of numbers and lists; nil if one of them, or of their elements, is unknown.
  private func sum(_ parts: [Node]) -> Double? {
    var sum = 0.0
    for part in parts {
      let outcome = outcome(part)
      if case .value(.list(let list))? = outcome {
        for element in list {
          guard let number = element.asNumber else { return nil }
          sum += number
        }
      } else {
        guard let amount = self.amount(outcome) else { return nil }
        sum += amount.value
      }
    }
    return sum
  }
}

extension ProtocolDescription.Formula {
  /// The value that is derived from others; nil if it is unknown. `known` gives the value with a name, `sent` the number as which it was
  /// sent.
  func derived(_ known: (String) -> PlainValue?, sent: (String) -> Int?) -> PlainValue? {
    withoutActuallyEscaping(known) { known in
      withoutActuallyEscaping(sent) { sent in
        switch FormulaEvaluation(known: known, sent: sent).outcome(root) {
        case .value(let value)?: return value
        // Nine decimals: without the rounding errors of sums of decimal fractions.
        case .amount(let amount)?: return .number(Self.rounded(amount.value))
        case nil: return nil
        }
      }
    }
  }

  /// Whether some number has a value. Of formulas with functions this isn't known, and assumed.
  package var hasSomeValue: Bool {
    var hasFunction = false
    root.visit { if case .call = $0 { hasFunction = true } }
    return hasFunction || linear != nil
      || [1, 2, 3].contains { raw in
        value(.exact(.init(raw)), encoded: { _ in raw }, sent: { _ in raw + 5 }) != nil
      }
  }

  private static func rounded(_ number: Double) -> Double {
    abs(number) < 1e6 ? (number * 1e9).rounded() / 1e9 : number
  }

  /// The value of a field whose number is `raw`; nil if it is unknown. `bits` are the number's bits in an encoding of its own, and `sent`
  /// are the numbers of other fields.
  func value(
    _ raw: FormulaEvaluation.Amount, encoded: (ProtocolDescription.NumberFormat.Encoding) -> Int? = { _ in nil },
    sent: (String) -> Int?
  ) -> PlainValue? {
    withoutActuallyEscaping(encoded) { encoded in
      withoutActuallyEscaping(sent) { sent in
        let evaluation = FormulaEvaluation(
          known: { sent($0).map { .whole($0) } },
          raw: { encoding in
            guard let encoding else { return raw }
            return encoded(encoding).map { .exact(.init($0)) }
          }, isExact: true)
        switch evaluation.outcome(root) {
        case .amount(.exact(let number))?: return isWhole ? .whole(number.numerator) : .number(number.value)
        case .amount(.near(let number))?: return .number(Self.rounded(number))
        case .value(let value)?: return value
        case nil: return nil
        }
      }
    }
  }
}

extension ProtocolDescription.Formula.Node {
  /// Whether a condition is not known to be false where nothing is known but the number of one name.
  package func mayHold(if name: String, is number: Double) -> Bool {
    FormulaEvaluation(known: { $0 == name ? .number(number) : nil }).truth(self) != false
  }
}
