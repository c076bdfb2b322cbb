// SPDX-License-Identifier: Apache-2.0

/// How much a value matters to people, and what it is for. All that show, draw or export values choose by it.
public enum Importance: String, Sendable, Hashable, CaseIterable, Comparable {
  /// What people look for first, such as the load of a UPS.
  case headline
  /// What belongs to an overview, such as the voltage of the mains.
  case shown
  /// What is looked at if something is wrong.
  case detail
  /// What is set in the accessory, such as a limit.
  case setting
  /// What the accessory is made for, such as its rated power.
  case rated
  /// What identifies it, such as a version.
  case identity

  /// Whether it says nothing of what the accessory does now. A graph of it would be a straight line.
  public var isConstant: Bool { self >= .setting }

  /// Whether one matters more than the other.
  public static func < (one: Importance, other: Importance) -> Bool { one.place < other.place }

  private var place: Int {
    switch self {
    case .headline: 0
    case .shown: 1
    case .detail: 2
    case .setting: 3
    case .rated: 4
    case .identity: 5
    }
  }
}

extension Importance {
  /// The importance of a value for which nobody states one: by its role, the words of its name, its quantity.
  package init(
    of name: String, _ quantity: AccessoryValue.Quantity?, _ unit: MeasurementUnit?, _ role: AccessoryValue.Role?
  ) {
    let byRole = role.flatMap { role in Vocabulary.roles.first { $0.role == role }?.importance }
    self = byRole ?? Self.named(name) ?? quantity.map(Self.of) ?? (unit == nil ? .detail : .shown)
  }

  /// By a word of the name: "rated_power", "firmware_version", "charge_current_limit".
  private static func named(_ name: String) -> Importance? {
    name.split(whereSeparator: { $0 == "_" || $0 == "." || $0 == "-" }).lazy.compactMap { words[$0.lowercased()] }.first
  }

  private static let words: [String: Importance] = [
    "rated": .rated, "nominal": .rated, "design": .rated, "limit": .setting, "threshold": .setting,
    "setpoint": .setting, "setting": .setting, "version": .identity, "firmware": .identity, "hardware": .identity,
    "software": .identity, "serial": .identity, "manufacturer": .identity, "model": .identity, "production": .identity,
    "manufacturing": .identity,
  ]

  private static func of(_ quantity: AccessoryValue.Quantity) -> Importance {
    switch quantity {
    case .identity: .identity
    case .state, .problem, .count, .dataSize, .dataRate, .duration: .detail
    default: .shown
    }
  }
}
