// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore

/// What is known about an accessory that decides which entities Home Assistant shows for it: which readings it has ever had, not
/// what they are now. An entity whose reading becomes unknown stays, and its state is unknown.
package struct DiscoveryFacts: Sendable, Hashable {
  /// What kind of entity a value is.
  struct Value: Sendable, Hashable {
    enum Kind: Sendable, Hashable {
      case number, text, flag, choice
    }

    var name: String
    var kind: Kind
    var quantity: AccessoryValue.Quantity?
    var unit: MeasurementUnit?
  }

  /// The device and the names that it gives itself.
  private(set) var device: Device
  private(set) var identity: AccessoryIdentity?
  /// The fields of the battery that were known once.
  private(set) var battery: Set<BatteryReading.Field> = []
  /// The names of the elements of the battery's lists, in their order; nil for one without a name.
  private(set) var elements: [BatteryReading.Field: [String?]] = [:]
  private(set) var hasStatus = false
  /// The keys of the status that were known once.
  private(set) var status: Set<String> = []
  /// Whether the gateway's service knows alarms.
  private(set) var hasAlarms = false
  /// The values that were known once, by their names.
  private(set) var values: [String: Value] = [:]
  /// The commands that Home Assistant may send.
  package var commands: [CommandDescription] = []

  /// The most elements of a list, such as temperatures, that have an entity each.
  private static let elementLimit = 16

  /// The facts of a device without readings.
  package init(_ device: Device) { self.device = device }

  /// Adds what is known of an accessory, without its values. Returns whether that changes a discovery message.
  @discardableResult
  package mutating func take(_ accessory: MirroredAccessory) -> Bool {
    let before = self
    // What Home Assistant doesn't show must not make a new message.
    let told = accessory.device
    device = Device(
      id: told.id, path: told.path, source: told.source, name: told.name, manufacturer: told.manufacturer,
      model: told.model, serialNumber: told.serialNumber)
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
      // A level that follows from the percentage says nothing that the percentage doesn't.
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
  }

  /// Adds what values contain. Returns whether that changes a discovery message.
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
      values[value.name] = Value(name: value.name, kind: kind, quantity: value.quantity, unit: value.unit)
    }
    return values != before
  }

  /// The accessory's name for people.
  var name: String {
    [identity?.name, device.name, identity?.model, device.model].compactMap { $0 }.first { !$0.isEmpty } ?? device.id
  }
}
