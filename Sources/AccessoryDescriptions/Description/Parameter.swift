// SPDX-License-Identifier: Apache-2.0

extension ProtocolDescription {
  /// A number that the accessory doesn't report and its user knows, such as how many cells a battery has or at which
  /// voltage it is empty. Derived values are calculated from it.
  public struct Parameter: Sendable, Hashable {
    /// The name.
    public var name: String
    /// A sentence about it, without the period.
    public var summary = ""
    /// The unit; nil if there is none.
    public var unit: String?
    /// The allowed numbers.
    public var range: ClosedRange<Double>
    /// The number if the user gives none; nil if it is unknown then.
    public var defaultValue: Double?
    /// The number that the user gave; nil if there is none.
    public var value: Double?

    /// A parameter within this range, whose number is unknown.
    public init(_ name: String, _ range: ClosedRange<Double>) { (self.name, self.range) = (name, range) }

    /// The user's number, or else the default one; nil if neither is known.
    public var number: Double? { value ?? defaultValue }
  }

  /// The description with these numbers for its parameters, by name. Unknown names and numbers outside of a parameter's
  /// range are ignored; parameters that aren't named stay as they are.
  public func setting(_ numbers: [String: Double]) -> ProtocolDescription {
    guard !numbers.isEmpty else { return self }
    var description = self
    for place in parameters.indices {
      guard let number = numbers[parameters[place].name], parameters[place].range.contains(number) else { continue }
      description.parameters[place].value = number
    }
    return description
  }

  /// Pairs of parameters that contradict each other as they are set: "empty" isn't less than "full".
  public var contradictions: [(empty: String, full: String)] {
    var found: [(empty: String, full: String)] = []
    for derivation in derived {
      derivation.formula.root.visit { part in
        guard case .call(.percent, let parts) = part, parts.count == 3, case .name(let empty) = parts[1],
          case .name(let full) = parts[2], let least = parameter(empty)?.number, let most = parameter(full)?.number,
          least >= most
        else { return }
        found.append((empty, full))
      }
    }
    return found
  }

  /// Whether a request sends a parameter that has no number.
  public func lacksParameter(of request: Int) -> Bool {
    let parts =
      switch requests[request].sends {
      case .bytes(let parts), .frame(_, _, let parts): parts
      }
    return parts.contains { part in
      if case .parameter(let name, _) = part { parameter(name)?.number == nil } else { false }
    }
  }

  /// The parameter with this name; nil if there is none.
  public func parameter(_ name: String) -> Parameter? { parameters.first { $0.name == name } }
}
