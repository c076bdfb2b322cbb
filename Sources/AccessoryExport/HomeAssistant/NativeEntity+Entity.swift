// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryEntities

// An entity as the native API has it.

extension NativeEntity {
  init(_ entity: Entity, device: UInt32) {
    let identity =
      switch entity.source {
      // What the accessory gives names may have the names of others.
      case .value(let name, _): "value/" + name
      case .command(let command, _): "command/" + command.name
      default: entity.key
      }
    self.init(device: device, key: Self.key(identity), name: entity.name, kind: Kind(entity.kind))
    deviceClass = entity.deviceClass ?? ""
    category =
      switch entity.category {
      case .config: .configuration
      case .diagnostic: .diagnostic
      case nil: .none
      }
    isDisabled = entity.isRare
  }

  /// Whether Home Assistant asks for something by it.
  var isCommand: Bool {
    switch kind {
    case .sensor, .binarySensor, .textSensor: false
    case .button, .number, .select, .toggle, .textInput: true
    }
  }

  /// A known entity stays as it is shown, unless its unit has changed.
  mutating func keepDecimals(of old: NativeEntity) {
    guard case .sensor(let unit, _, let stateClass) = kind, case .sensor(unit, let decimals, _) = old.kind else {
      return
    }
    kind = .sensor(unit: unit, decimals: decimals, stateClass: stateClass)
  }
}

extension NativeEntity.Kind {
  fileprivate init(_ kind: Entity.Kind) {
    switch kind {
    case .number(let unit, let places, let stateClass):
      self = .sensor(
        unit: unit ?? "", decimals: places ?? Self.decimals(of: unit),
        stateClass: stateClass.flatMap { Self.stateClasses[$0] } ?? .none)
    // There is no sensor with a list of words.
    case .word, .text: self = .textSensor
    case .truth: self = .binarySensor
    case .button: self = .button
    case .input(let range, let unit):
      self = .number(
        minimum: Float(range.lowerBound), maximum: Float(range.upperBound), step: 1, unit: unit ?? "")
    case .select(let words): self = .select(words)
    case .toggle: self = .toggle
    case .textInput(let limit): self = .textInput(limit)
    }
  }

  private static let stateClasses: [String: NativeEntity.StateClass] = [
    "measurement": .measurement, "total_increasing": .totalIncreasing, "total": .total,
  ]

  /// Numbers have to be shown with so many decimals, where nobody says it.
  private static func decimals(of unit: String?) -> Int {
    guard let unit else { return 0 }
    return wholeUnits.contains(MeasurementUnit(rawValue: unit)) ? 0 : 1
  }

  private static let wholeUnits: Set<MeasurementUnit> = [
    .revolutionPerMinute, .partPerMillion, .lux, .decibelMilliwatt, .byte, .bitPerSecond, .millisecond,
  ]
}

extension NativeState {
  init(_ state: EntityState) {
    switch state {
    // A number without a finite value is unknown to clients, too.
    case .number(let number): self = .number(Float(number))
    case .text(let text): self = .text(text)
    case .flag(let flag): self = .flag(flag)
    }
  }
}
