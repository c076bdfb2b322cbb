// SPDX-License-Identifier: Apache-2.0

extension ProtocolDescription {
  /// How a value is calculated: `(raw - 2731) / 10`.
  ///
  /// In a field `raw` is the number as it is sent, and a name is the number of another field as that is sent. In a derived value a
  /// name is a value. Arithmetic with the numbers of fields is exact, and is rounded once, at its end.
  public struct Formula: Sendable, Hashable {
    /// What is calculated.
    public let root: Node
    /// The formula as one multiplication and one addition; nil where it isn't linear in `raw`.
    public let linear: Linear?
    /// Whether it has names of other fields.
    let dependsOnOthers: Bool
    /// Whether it only gives whole numbers, of whole numbers.
    let isWhole: Bool

    init(root: Node) {
      self.root = root
      linear = Linear(root)
      var (hasNames, hasFractions) = (false, false)
      root.visit { part in
        switch part {
        case .name: hasNames = true
        case .operation(.dividedBy, _, _), .call(.percent, _): hasFractions = true
        case .number(let number) where number.denominator != 1: hasFractions = true
        default: break
        }
      }
      (dependsOnOthers, isWhole) = (hasNames, !hasFractions)
    }

    /// The number as it is sent.
    public static let raw = Formula(root: .raw(nil))

    /// (raw + `offset`) · `numerator` / `denominator`. Neither `numerator` nor `denominator` may be 0.
    public static func scaled(_ numerator: Int = 1, over denominator: Int = 1, offset: Int = 0) -> Formula {
      let sum = offset == 0 ? Node.raw(nil) : .operation(.plus, .raw(nil), .number(Fraction(offset)))
      return Formula(
        root: .operation(
          .dividedBy, .operation(.times, sum, .number(Fraction(numerator))), .number(Fraction(denominator)))
      )
    }
  }
}

extension ProtocolDescription.Formula {
  /// Linear formulas are equal if they give the same values: `raw * 0.1` and `raw / 10`.
  public static func == (left: Self, right: Self) -> Bool {
    left.linear == right.linear && (left.linear != nil || left.root == right.root)
  }

  /// Hashes what is compared.
  public func hash(into hasher: inout Hasher) {
    if let linear { hasher.combine(linear) } else { hasher.combine(root) }
  }

  /// A part of a formula.
  public indirect enum Node: Sendable, Hashable {
    /// This number.
    case number(ProtocolDescription.Fraction)
    /// This text.
    case text(String)
    /// The field's own number as it is sent or, with an encoding, the number that its bytes are in that encoding.
    case raw(ProtocolDescription.NumberFormat.Encoding?)
    /// Another field or value.
    case name(String)
    /// The negated number.
    case negated(Node)
    /// True where this is false.
    case not(Node)
    /// Two parts with an operator between them.
    case operation(Operator, Node, Node)
    /// A function of these arguments.
    case call(Function, [Node])
  }

  /// The operators, by their signs.
  public enum Operator: String, Sendable, Hashable, CaseIterable {
    /// The sum.
    case plus = "+"
    /// The difference.
    case minus = "-"
    /// The product.
    case times = "*"
    /// The quotient.
    case dividedBy = "/"
    /// Whether both are equal.
    case equals = "=="
    /// Whether both differ.
    case differs = "!="
    /// Whether the first is less.
    case less = "<"
    /// Whether the first isn't more.
    case lessOrEqual = "<="
    /// Whether the first is more.
    case greater = ">"
    /// Whether the first isn't less.
    case greaterOrEqual = ">="
    /// Whether both are true.
    case and
    /// Whether one of them is true.
    case or
    /// Whether a text is among the flags of the second, or is the word of the second.
    case isIn = "in"
  }

  /// The functions, by their names.
  public enum Function: String, Sendable, Hashable, CaseIterable {
    /// `if(condition, a, b)`: a if the condition is true, otherwise b; without b unknown.
    case when = "if"
    /// The first that is known.
    case first
    /// The smallest of a list.
    case min
    /// The largest of a list.
    case max
    /// The sum of numbers, and of the elements of lists.
    case sum
    /// One list of all elements of lists, and of numbers, in their order; what is unknown as a whole is left out.
    case join
    /// `percent(a, b)`: a / b · 100. `percent(a, empty, full)`: where a lies between the two, 0 to 100.
    case percent
    /// `charging(current, dead band)`: `charging` for a positive current, `discharging` for a negative one, `not_charging` up to the dead
    /// band either way.
    case charging
    /// The number as which a word was sent.
    case number

    /// How many arguments it has.
    var counts: ClosedRange<Int> {
      switch self {
      case .when: 2...3
      case .first, .join: 2...16
      case .sum: 1...16
      case .min, .max, .number: 1...1
      case .percent: 2...3
      case .charging: 1...2
      }
    }
  }

  /// A formula that is linear in `raw`: (raw · factor + addend) / divisor.
  public struct Linear: Sendable, Hashable {
    /// What the raw number is multiplied by; not 0.
    public let factor: Int
    /// What is added then.
    public let addend: Int
    /// What the sum is divided by; above 0. The three have no divisor in common.
    public let divisor: Int
  }

  /// Whether the formula has the field's own number in it.
  package var hasRaw: Bool {
    var hasRaw = false
    root.visit { if case .raw = $0 { hasRaw = true } }
    return hasRaw
  }

  /// The names of other fields and values in the formula, each once, in their order.
  public var names: [String] {
    var names: [String] = []
    root.visit { if case .name(let name) = $0, !names.contains(name) { names.append(name) } }
    return names
  }
}

extension ProtocolDescription.Formula.Node {
  var parts: [Self] {
    switch self {
    case .number, .text, .raw, .name: []
    case .negated(let part), .not(let part): [part]
    case .operation(_, let left, let right): [left, right]
    case .call(_, let parts): parts
    }
  }

  /// Calls `visit` with this part and everything in it.
  package func visit(_ visit: (Self) -> Void) {
    visit(self)
    for part in parts { part.visit(visit) }
  }
}
