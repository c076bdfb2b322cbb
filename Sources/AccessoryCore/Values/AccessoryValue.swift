// SPDX-License-Identifier: Apache-2.0

/// A value that an accessory measures or reports, besides its status and battery.
public struct AccessoryValue: Sendable, Hashable {
  /// The content of a value.
  public enum Content: Sendable, Hashable {
    /// A number, in the value's unit.
    case number(Double)
    /// A text. Escape one that came from an accessory before showing it.
    case text(String)
    /// Yes or no.
    case flag(Bool)
    /// One of several words, with the number that the accessory uses for it.
    case choice(word: String, number: Int)

    /// The number `digits` divided by ten `places` times, rounded once: with steps of 0.1 this gives 3.3 and not
    /// 3.3000000000000003.
    public static func decimal(_ digits: Int, places: Int) -> Content {
      // A `Double` holds powers of ten up to 10²² exactly, so only the division rounds.
      var power = 1.0
      for _ in 0..<min(places.magnitude, 22) { power *= 10 }
      return .number(places < 0 ? Double(digits) * power : Double(digits) / power)
    }
  }

  /// The name, unique among the accessory's values. By convention lower-case letters, digits and underscores.
  public var name: String
  /// The quantity that the value measures; nil where it measures none.
  public var quantity: Quantity?
  /// The unit of a number; nil where there is none.
  public var unit: MeasurementUnit?
  /// The value itself; nil where it is unknown.
  public var content: Content?
  /// What the value is for programs that know devices of its kind, such as UPSs; nil where its description doesn't say.
  public var role: Role?
  /// Whether the value was calculated, or is a setting that was sent to the accessory. False if the accessory reported
  /// it.
  public var isDerived: Bool
  /// How much the value matters to people.
  public var importance: Importance

  /// A value of these parts. Without an importance it has the one that its role, its name or its quantity implies.
  public init(
    _ name: String, quantity: Quantity? = nil, unit: MeasurementUnit? = nil, role: Role? = nil, content: Content?,
    isDerived: Bool = false, importance: Importance? = nil
  ) {
    self.name = name
    self.quantity = quantity
    self.unit = unit
    self.role = role
    self.content = content
    self.isDerived = isDerived
    self.importance = importance ?? Importance(of: name, quantity, unit, role)
  }

  /// A value with a number. Nil, infinity and NaN make it unknown.
  public init(
    _ name: String, quantity: Quantity? = nil, unit: MeasurementUnit? = nil, role: Role? = nil, number: Double?,
    isDerived: Bool = false, importance: Importance? = nil
  ) {
    let content = number.flatMap { $0.isFinite ? Content.number($0) : nil }
    self.init(
      name, quantity: quantity, unit: unit, role: role, content: content, isDerived: isDerived, importance: importance)
  }

  /// The number, or the number of a choice; nil for other values and for unknown ones.
  public var number: Double? {
    switch content {
    case .number(let number): number
    case .choice(_, let number): Double(number)
    case .text, .flag, nil: nil
    }
  }

  /// The value within its bounds: names and texts are cut, and a number that can't be becomes unknown, as do infinity and NaN.
  public var bounded: AccessoryValue {
    let bounded: Content? =
      switch content {
      case .number: plausibleContent
      case .text(let text): .text(ReadingLimits.cut(text, to: ReadingLimits.textBytes))
      case .choice(let word, let number):
        .choice(word: ReadingLimits.cut(word, to: ReadingLimits.textBytes), number: number)
      case .flag, nil: content
      }
    return AccessoryValue(
      ReadingLimits.cut(name, to: ReadingLimits.nameBytes),
      quantity: quantity.map { Quantity(rawValue: ReadingLimits.cut($0.rawValue, to: ReadingLimits.quantityBytes)) },
      unit: unit.map { MeasurementUnit(rawValue: ReadingLimits.cut($0.rawValue, to: ReadingLimits.unitBytes)) },
      role: role.map { Role(rawValue: ReadingLimits.cut($0.rawValue, to: ReadingLimits.nameBytes)) },
      content: bounded, isDerived: isDerived, importance: importance)
  }
}
