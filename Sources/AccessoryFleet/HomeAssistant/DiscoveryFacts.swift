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
  private(set) var device: Bridge.Device
  private(set) var identity: Bridge.Identity?
  /// The fields of the battery that were known once.
  private(set) var battery: Set<BatteryReading.Field> = []
  /// Whether the battery has reported a level, and not only a percentage.
  private(set) var hasLevel = false
  /// Whether it was known once whether the battery is charging.
  private(set) var hasCharge = false
  /// The names of the battery's temperatures, in their order; nil for one without a name.
  private(set) var temperatures: [String?] = []
  private(set) var hasStatus = false
  private(set) var hasFaultCode = false
  private(set) var hasProgress = false
  /// Whether the gateway's service knows alarms.
  private(set) var hasAlarms = false
  /// The values that were known once, by their names.
  private(set) var values: [String: Value] = [:]
  /// The commands that Home Assistant may send.
  package var commands: [Bridge.Command] = []

  /// The most temperatures that have an entity each.
  private static let temperatureLimit = 16

  /// The facts of a device without readings.
  package init(_ device: Bridge.Device) { self.device = device }

  /// Adds what a state contains. Returns whether that changes a discovery message.
  @discardableResult
  package mutating func take(_ state: FleetState) -> Bool {
    let before = self
    device = state.device
    // What Home Assistant doesn't show must not make a new message.
    (device.usb, device.access, device.links, device.ways) = (nil, nil, [], [])
    identity = state.identity ?? identity
    hasAlarms = hasAlarms || state.alarms != nil
    if let status = state.status {
      let reading = status.reading
      hasStatus = hasStatus || reading.state != nil || reading.reportsFaults
      hasFaultCode = hasFaultCode || status.fault_code != nil
      hasProgress = hasProgress || status.progress_percent != nil
    }
    if let reading = state.battery?.reading { take(reading) }
    return self != before
  }

  private mutating func take(_ reading: BatteryReading) {
    let known: [(BatteryReading.Field, Bool)] = [
      (.percent, reading.percent != nil), (.voltage, reading.millivolts != nil),
      (.current, reading.milliamperes != nil), (.timeToEmpty, reading.timeToEmpty != nil),
      (.timeToFull, reading.timeToFull != nil), (.cells, !reading.cellMillivolts.isEmpty),
      (.remainingCapacity, reading.remainingMilliampereHours != nil),
      (.fullCapacity, reading.fullMilliampereHours != nil),
      (.cycles, reading.cycles != nil), (.health, reading.healthPercent != nil), (.faults, reading.faults != nil),
      (.warnings, reading.warnings != nil),
    ]
    battery.formUnion(known.filter(\.1).map(\.0))
    hasLevel = hasLevel || reading.level != .unknown && reading.levelOrigin == .reported
    hasCharge = hasCharge || reading.charge != .unknown
    for (index, temperature) in reading.temperatures.prefix(Self.temperatureLimit).enumerated() {
      if index < temperatures.count {
        temperatures[index] = temperature.name ?? temperatures[index]
      } else {
        temperatures.append(temperature.name)
      }
    }
  }

  /// Adds what values contain. Returns whether that changes a discovery message.
  @discardableResult
  package mutating func take(_ measured: [Bridge.MeasuredValue]) -> Bool {
    let before = values
    for value in measured.prefix(ReadingLimits.values) {
      let reading = value.reading
      let kind: Value.Kind
      switch reading.content {
      case .number: kind = .number
      case .text: kind = .text
      case .flag: kind = .flag
      case .choice: kind = .choice
      case nil: continue
      }
      guard values[value.name] != nil || values.count < ReadingLimits.values else { continue }
      values[value.name] = Value(name: value.name, kind: kind, quantity: reading.quantity, unit: reading.unit)
    }
    return values != before
  }

  /// The accessory's name for people.
  var name: String {
    [identity?.name, device.name, identity?.model, device.model].compactMap { $0 }.first { !$0.isEmpty } ?? device.id
  }
}
