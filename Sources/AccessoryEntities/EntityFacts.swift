// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore

/// The facts about an accessory that decide which entities Home Assistant shows: the readings it has ever had. An entity stays when
/// its reading becomes unknown; its state is then unknown.
package struct EntityFacts: Sendable, Hashable {
  /// The kind and unit of a value.
  struct Value: Sendable, Hashable {
    enum Kind: Sendable, Hashable {
      case number, text, flag, choice
    }

    var name: String
    var kind: Kind
    var quantity: AccessoryValue.Quantity?
    var unit: MeasurementUnit?
    var importance: Importance
  }

  /// The device, with the names that it reports.
  package private(set) var device: Device
  package private(set) var identity: AccessoryIdentity?
  /// The battery fields that have been known at least once.
  private(set) var battery: Set<BatteryReading.Field> = []
  /// The names of the elements in each of the battery's lists, in order; nil for an element without a name.
  private(set) var elements: [BatteryReading.Field: [String?]] = [:]
  private(set) var hasStatus = false
  /// The keys of the status fields that have been known at least once.
  private(set) var status: Set<String> = []
  /// Whether the gateway's service supports alarms.
  private(set) var hasAlarms = false
  /// The values that have been known at least once, by name.
  private(set) var values: [String: Value] = [:]
  /// The commands that Home Assistant may send.
  package var commands: [CommandDescription] = []

  /// The most elements of one list (for example temperatures) that get their own entity.
  private static let elementLimit = 32

  /// The facts of a device without readings.
  package init(_ device: Device) { self.device = device }

  /// Adds the facts from an accessory, except its values. Returns whether the discovery message changes.
  @discardableResult
  package mutating func take(_ accessory: MirroredAccessory) -> Bool {
    let before = self
    // Keep only what Home Assistant shows, so that other changes don't cause a new message.
    let told = accessory.device
    device = Device(
      id: told.id, path: told.path, source: told.source, name: told.name, manufacturer: told.manufacturer,
      model: told.model, serialNumber: told.serialNumber
    ).called(told.given)
    identity = accessory.identity ?? identity
    hasAlarms = hasAlarms || accessory.alarms != nil
    if let status = accessory.status {
      hasStatus = hasStatus || status.state != nil || status.reportsFaults
      self.status.formUnion(Vocabulary.status.filter { $0.isKnown(in: status) }.map(\.key))
    }
    if let reading = accessory.battery { take(reading) }
    return self != before
  }

  private mutating func take(_ reading: BatteryReading) {
    for field in BatteryReading.Field.allCases where field.term.isKnown(in: reading) {
      // A level derived from the percentage adds no information.
      if field == .level, reading.derived.contains(field) { continue }
      battery.insert(field)
      guard field.term.entities.contains(where: \.isEach) else { continue }
      var names = elements[field] ?? []
      for (index, element) in field.term.elements(in: reading).prefix(Self.elementLimit).enumerated() {
        if index < names.count {
          names[index] = element.name ?? names[index]
        } else {
          names.append(element.name)
        }
      }
      elements[field] = names
    }
    // Where the accessory doesn't report it, it is calculated.
    if reading.powerInMilliwatts != nil { battery.insert(.power) }
  }

  /// Adds the facts from values. Returns whether the discovery message changes.
  @discardableResult
  package mutating func take(_ measured: [AccessoryValue]) -> Bool {
    let before = values
    for value in measured.prefix(ReadingLimits.values) {
      let kind: Value.Kind
      switch value.content {
      case .number: kind = .number
      case .text: kind = .text
      case .flag: kind = .flag
      case .choice: kind = .choice
      case nil: continue
      }
      guard values[value.name] != nil || values.count < ReadingLimits.values else { continue }
      values[value.name] = Value(
        name: value.name, kind: kind, quantity: value.quantity, unit: value.unit, importance: value.importance)
    }
    return values != before
  }

  /// The accessory's display name.
  package var name: String {
    [device.given?.name, identity?.name, device.name, identity?.model, device.model].compactMap { $0 }.first {
      !$0.isEmpty
    } ?? device.id
  }
}
