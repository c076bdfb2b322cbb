// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// Builds the entities of an accessory's values.
enum ValueEntities {
  static func all(_ facts: EntityFacts) -> [Entity] {
    let values = facts.values.values.sorted { $0.name < $1.name }
    let hasManyDetails = values.count { $0.importance == .detail } > fewDetails
    return values.map { value in
      entity(value).placed(value.importance)
        .rare(value.importance.isConstant || value.importance == .detail && hasManyDetails)
    }
  }

  /// With more details than these, their user has to enable them.
  private static let fewDetails = 8

  private static func entity(_ value: EntityFacts.Value) -> Entity {
    var (kind, deviceClass): (Entity.Kind, String?) = (.text, nil)
    let unit = value.kind == .number ? value.unit.flatMap { thousandths[$0] } : nil
    switch value.kind {
    case .number: (kind, deviceClass) = number(value, in: unit ?? value.unit)
    case .text, .choice: break
    case .flag: (kind, deviceClass) = (.truth, value.quantity == .problem ? "problem" : nil)
    }
    return Entity(
      value.name, name: HomeAssistantText.title(value.name), kind, .value(value.name, isThousandth: unit != nil),
      class: deviceClass)
  }

  /// What people have volts, amperes and ampere hours in.
  private static let thousandths: [MeasurementUnit: MeasurementUnit] = [
    .millivolt: .volt, .milliampere: .ampere, .milliampereHour: .ampereHour,
  ]

  /// The decimal places that are shown of numbers in these units; others are shown as they are.
  private static let places: [MeasurementUnit: Int] = [
    .volt: 2, .ampere: 2, .watt: 0, .kilowatt: 3, .voltAmpere: 0,
    .voltAmpereReactive: 0,
    .wattHour: 0, .kilowattHour: 2, .ampereHour: 1, .hertz: 1, .celsius: 1, .percent: 0,
    .second: 0, .minute: 0,
  ]

  private static func number(_ value: EntityFacts.Value, in unit: MeasurementUnit?) -> (Entity.Kind, String?) {
    func number(_ stateClass: String?) -> Entity.Kind {
      .number(
        unit: unit.map { HomeAssistantText.name($0.rawValue) }, places: unit.flatMap { places[$0] },
        // Nor have numbers that don't change.
        stateClass: value.importance.isConstant ? nil : stateClass)
    }
    // Numbers that aren't measurements, such as serial numbers, have no statistics.
    if value.quantity == .identity || value.quantity == .state { return (number(nil), nil) }
    guard let term = value.quantity.flatMap(Vocabulary.term), let deviceClass = term.deviceClass,
      unit.map((term.implyingUnits + term.otherUnits).contains) ?? (term.quantity == .powerFactor)
    else { return (number("measurement"), nil) }
    // A detail may be what a battery holds, or the yield of yesterday, which are no counters.
    let isContent = value.quantity == .energy && value.importance == .detail
    return (number(isContent ? "total" : term.stateClass), deviceClass)
  }
}
