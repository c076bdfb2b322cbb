// SPDX-License-Identifier: Apache-2.0

extension ProtocolDescription {
  /// A number that the accessory doesn't tell and its user knows: how many cells its battery has, at which voltage that is
  /// empty. Values that are derived follow from it.
  public struct Parameter: Sendable, Hashable {
    /// What it is called.
    public var name: String
    /// What it is, in a sentence without its period.
    public var summary = ""
    /// What it is counted in; nil for what is counted in nothing.
    public var unit: String?
    /// What it may be.
    public var range: ClosedRange<Double>
    /// What it is unless the user says something else; nil: not known then.
    public var standard: Double?
    /// What the user says.
    public var value: Double?

    /// A number within these bounds, of which nothing is known.
    public init(_ name: String, _ range: ClosedRange<Double>) { (self.name, self.range) = (name, range) }

    /// What it is, as far as that is known.
    public var number: Double? { value ?? standard }
  }

  /// The description with these numbers as its parameters, by their names. Those that it doesn't have, or that can't be, count
  /// for nothing; parameters that aren't named stay as they are.
  public func setting(_ numbers: [String: Double]) -> ProtocolDescription {
    guard !numbers.isEmpty else { return self }
    var description = self
    for place in parameters.indices {
      guard let number = numbers[parameters[place].name], parameters[place].range.contains(number) else { continue }
      description.parameters[place].value = number
    }
    return description
  }

  /// The parameters, as they are set, between which there is no room: what is empty isn't less than what is full.
  public var contradictions: [(empty: String, full: String)] {
    derived.compactMap { derivation in
      guard case .percentOfRange(_, let empty, let full) = derivation.rule,
        let least = parameter(empty)?.number, let most = parameter(full)?.number, least >= most
      else { return nil }
      return (empty, full)
    }
  }

  /// The parameter of this name.
  public func parameter(_ name: String) -> Parameter? { parameters.first { $0.name == name } }
}
