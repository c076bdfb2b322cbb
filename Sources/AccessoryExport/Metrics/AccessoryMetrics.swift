// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// The metrics of accessories. Of an accessory that is not connected, or whose readings are stale, there are no readings:
/// a number is never shown longer than it is true.
package struct AccessoryMetrics {
  /// The longest label, in bytes.
  static let labelLimit = 128

  private var families: [MetricFamily]
  private var places: [String: Int] = [:]
  private let readings: ReadingsSnapshot
  private let now: MonotonicTime
  private let wallClock: Double

  /// The metrics of a snapshot. `wallClock` is the time in seconds since 1970, which `now` is in the snapshot's times;
  /// `version` is this program's.
  package static func families(
    _ readings: ReadingsSnapshot, now: MonotonicTime, wallClock: Double, version: String
  ) -> [MetricFamily] {
    var metrics = AccessoryMetrics(readings, now: now, wallClock: wallClock)
    metrics.add("accessory_bridge_build", 1, [.init(name: "version", value: version)])
    for service in readings.services {
      metrics.add("accessory_service_up", service.isUp ? 1 : 0, [label("socket", service.path)])
    }
    for accessory in readings.accessories { metrics.add(accessory) }
    return metrics.families
  }

  private init(_ readings: ReadingsSnapshot, now: MonotonicTime, wallClock: Double) {
    (self.readings, self.now, self.wallClock) = (readings, now, wallClock)
    families = Self.fixed
    for (index, family) in families.enumerated() { places[family.name] = index }
  }

  private static func label(_ name: String, _ value: String) -> MetricFamily.Label {
    let bytes = SafeText.escape(value, limit: labelLimit).utf8
    var text = String(decoding: bytes.prefix(labelLimit), as: UTF8.self)
    if bytes.count > labelLimit, text.unicodeScalars.last == "\u{FFFD}" { text.unicodeScalars.removeLast() }
    return .init(name: name, value: text)
  }

  private mutating func add(_ name: String, _ value: Double?, _ labels: [MetricFamily.Label]) {
    if let place = places[name] { families[place].add(value, labels) }
  }

  // MARK: - One accessory

  private mutating func add(_ accessory: ExportedAccessory) {
    let id = Self.label("id", accessory.id)
    let freshness = readings.freshness(of: accessory)
    add(
      "accessory", 1,
      [
        id, Self.label("name", accessory.identity?.name ?? accessory.device.name ?? ""),
        Self.label("manufacturer", accessory.manufacturer), Self.label("model", accessory.model),
        Self.label("serial", accessory.serialNumber),
        Self.label("firmware", accessory.identity?.firmwareRevision ?? ""),
        Self.label("driver", accessory.driver ?? ""), Self.label("profile", accessory.profile ?? ""),
      ])
    let isConnected = accessory.isConnected && readings.services.contains { $0.path == accessory.service && $0.isUp }
    add("accessory_connected", isConnected ? 1 : 0, [id])
    add("accessory_disconnects", Double(accessory.disconnectCount), [id])
    add("accessory_request_failures", Double(accessory.requestFailureCount), [id])
    add("accessory_reading_failures", Double(accessory.readingFailureCount), [id])
    var alarms: Set<String> = []
    for name in accessory.alarms.map(\.name) {
      let label = Self.label("name", name)
      if alarms.insert(label.value).inserted { add("accessory_alarm", 1, [id, label]) }
    }
    if isConnected { add("accessory_readings_stale", freshness == .fresh ? 0 : 1, [id]) }
    if let time = accessory.readTime {
      let age = Double(max(.zero, now - time).inNanoseconds) / 1e9
      add("accessory_readings_timestamp_seconds", ((wallClock - age) * 1_000).rounded() / 1_000, [id])
    }
    guard freshness == .fresh else { return }
    if let battery = accessory.battery { add(battery, id) }
    if let status = accessory.status { add(status, id) }
    for entry in accessory.values.entries { add(entry.value, id) }
  }

  private mutating func add(_ battery: BatteryReading, _ id: MetricFamily.Label) {
    func thousandth(_ number: Int?) -> Double? { number.map { Double($0) / 1_000 } }
    add("accessory_battery_charge_ratio", battery.percent.map { Double($0) / 100 }, [id])
    add("accessory_battery_volts", thousandth(battery.millivolts), [id])
    add("accessory_battery_amperes", thousandth(battery.milliamperes), [id])
    add("accessory_battery_time_to_empty_seconds", battery[.timeToEmpty].map(Double.init), [id])
    add("accessory_battery_time_to_full_seconds", battery[.timeToFull].map(Double.init), [id])
    add("accessory_battery_remaining_coulombs", battery.remainingMilliampereHours.map { Double($0 * 36) / 10 }, [id])
    add("accessory_battery_full_coulombs", battery.fullMilliampereHours.map { Double($0 * 36) / 10 }, [id])
    add("accessory_battery_cycles", battery.cycles.map(Double.init), [id])
    add("accessory_battery_health_ratio", battery.healthPercent.map { Double($0) / 100 }, [id])
    for (number, cell) in zip(1..., battery.cellMillivolts) {
      add("accessory_battery_cell_volts", thousandth(cell), [id, .init(name: "cell", value: String(number))])
    }
    var sensors: Set<String> = []
    for (number, temperature) in zip(1..., battery.temperatures) {
      let sensor = Self.label("sensor", temperature.name ?? String(number))
      guard sensors.insert(sensor.value).inserted else { continue }
      add("accessory_battery_temperature_celsius", thousandth(temperature.millidegrees), [id, sensor])
    }
    if battery.level != .unknown {
      add("accessory_battery_low", battery.level == .low || battery.level == .critical ? 1 : 0, [id])
    }
    if battery.charge != .unknown {
      for state in BatteryReading.Charge.allCases where state != .unknown {
        let label = MetricFamily.Label(name: "state", value: state.rawValue)
        add("accessory_battery_charge_state", state == battery.charge ? 1 : 0, [id, label])
      }
    }
    add(battery.faults, "accessory_battery_faults", "accessory_battery_fault", "fault", id)
    add(battery.warnings, "accessory_battery_warnings", "accessory_battery_warning", "warning", id)
  }

  /// A count, and a sample for each name.
  private mutating func add(
    _ names: [String]?, _ counted: String, _ each: String, _ label: String, _ id: MetricFamily.Label
  ) {
    guard let names else { return }
    var seen: Set<String> = []
    for name in names {
      let label = Self.label(label, name)
      if seen.insert(label.value).inserted { add(each, 1, [id, label]) }
    }
    add(counted, Double(names.count), [id])
  }

  private mutating func add(_ status: AccessoryStatus, _ id: MetricFamily.Label) {
    if let known = status.state, known != .notInitialized {
      for state in AccessoryState.allCases where state != .notInitialized {
        let label = MetricFamily.Label(name: "state", value: state.word)
        add("accessory_state", state == known ? 1 : 0, [id, label])
      }
    }
    add("accessory_fault_code", status.faultCode.map(Double.init), [id])
    add("accessory_progress_ratio", status.progress.map { Double($0) / 100 }, [id])
  }

  private mutating func add(_ value: AccessoryValue, _ id: MetricFamily.Label) {
    let name = Self.label("name", value.name)
    // Names are unique, but may be the same after control characters were escaped and the rest cut.
    if name.value != value.name { return }
    switch value.content {
    case .number(let number):
      if let unit = value.unit, let base = BaseUnit.of(unit) {
        let quantity = Self.label("quantity", value.quantity?.rawValue ?? "")
        let family = "accessory_value_\(base.name)"
        if places[family] == nil {
          places[family] = families.count
          families.append(
            MetricFamily(family, unit: base.name, help: "Values that accessories measure, in \(base.name)."))
        }
        add(family, BaseUnit.convert(number, factor: base.factor), [id, name, quantity])
      } else {
        add("accessory_value", number, [id, name, Self.label("unit", value.unit?.rawValue ?? "")])
      }
    case .flag(let flag): add("accessory_value_flag", flag ? 1 : 0, [id, name])
    case .choice(let word, let number):
      add("accessory_value_choice", Double(number), [id, name, Self.label("word", word)])
    case .text, nil: break
    }
  }

  // MARK: - Families

  /// The families that don't depend on the values; those of values follow them, one for each unit.
  private static let fixed: [MetricFamily] = [
    .init("accessory_bridge_build", .info, help: "The program that exports these metrics."),
    .init("accessory_service_up", help: "Whether the service at this socket answers (1) or not (0)."),
    .init("accessory", .info, help: "What an accessory is, in labels."),
    .init("accessory_connected", help: "Whether the accessory is connected (1) or not (0)."),
    .init("accessory_disconnects", .counter, help: "How often the accessory was disconnected."),
    .init("accessory_request_failures", .counter, help: "How many requests of the service's clients have failed."),
    .init(
      "accessory_reading_failures", .counter,
      help: "How many readings failed that were asked for when the accessory was connected."),
    .init("accessory_alarm", help: "1 for each alarm of the service's rules that is raised."),
    .init("accessory_readings_stale", help: "Whether the readings are older than they should be (1) or not (0)."),
    .init(
      "accessory_readings_timestamp_seconds", unit: "seconds",
      help: "When the oldest of the regular readings was made, in seconds since 1970."),
    .init("accessory_battery_charge_ratio", unit: "ratio", help: "Charge of the battery, 0 to 1."),
    .init("accessory_battery_low", help: "Whether the battery is low (1) or not (0)."),
    .init("accessory_battery_charge_state", help: "What the battery does: 1 for the state that it is in."),
    .init("accessory_battery_volts", unit: "volts", help: "Voltage of the battery."),
    .init("accessory_battery_amperes", unit: "amperes", help: "Current of the battery, negative while it discharges."),
    .init("accessory_battery_temperature_celsius", unit: "celsius", help: "Temperatures of the battery."),
    .init("accessory_battery_cell_volts", unit: "volts", help: "Voltages of the battery's cells."),
    .init("accessory_battery_time_to_empty_seconds", unit: "seconds", help: "Time until the battery is empty."),
    .init("accessory_battery_time_to_full_seconds", unit: "seconds", help: "Time until the battery is full."),
    .init(
      "accessory_battery_remaining_coulombs", unit: "coulombs",
      help: "Charge that is left in the battery; an ampere hour is 3600 coulombs."),
    .init("accessory_battery_full_coulombs", unit: "coulombs", help: "Charge of the full battery."),
    .init("accessory_battery_cycles", help: "Charging cycles so far."),
    .init("accessory_battery_health_ratio", unit: "ratio", help: "Charge of the full battery, of that of a new one."),
    .init("accessory_battery_faults", help: "How many faults the battery has."),
    .init("accessory_battery_fault", help: "1 for each fault that the battery has."),
    .init("accessory_battery_warnings", help: "How many warnings the battery has."),
    .init("accessory_battery_warning", help: "1 for each warning that the battery has."),
    .init("accessory_state", help: "What the accessory does: 1 for the state that it is in."),
    .init("accessory_fault_code", help: "Number of the accessory's fault."),
    .init("accessory_progress_ratio", unit: "ratio", help: "How much of its work the accessory has done, 0 to 1."),
    .init("accessory_value", help: "Values in units that have no base unit, and without a unit."),
    .init("accessory_value_flag", help: "Values that are yes (1) or no (0)."),
    .init("accessory_value_choice", help: "Values that are a word, with the accessory's number for it."),
  ]
}
