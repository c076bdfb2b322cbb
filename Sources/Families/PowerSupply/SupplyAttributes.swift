// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// The files of a power supply (Documentation/ABI/testing/sysfs-class-power of the kernel): voltages in microvolts, currents in
/// microamperes, charges in microampere hours, energies in microwatt hours, temperatures in tenths of a degree, times in seconds.
///
/// Each driver has only some of the files, and some write 0 for unknown. So a voltage, a capacity, a time or a count of 0 is unknown.
///
/// Not read: alarm thresholds, the average voltage, the coulomb counter, and dates of manufacture. Few drivers have them, and they
/// differ in their meaning.
struct SupplyAttributes: Sendable, Hashable {
  private let texts: [String: String]

  init(_ texts: [String: String]) { self.texts = texts }

  subscript(name: String) -> String? { texts[name] }

  /// A number that is small enough to multiply: no battery has 10¹² of any unit.
  private func number(_ name: String) -> Int? {
    texts[name].flatMap { Int($0) }.flatMap { $0.magnitude <= 1_000_000_000_000 ? $0 : nil }
  }

  /// A number above 0.
  private func positive(_ name: String) -> Int? { number(name).flatMap { $0 > 0 ? $0 : nil } }

  /// The files for a battery reading.
  static let ofBatteries = [
    "type", "present", "status", "capacity", "capacity_level", "health", "voltage_now", "current_now", "current_avg",
    "power_now", "charge_now", "charge_full", "charge_full_design", "energy_now", "energy_full", "energy_full_design",
    "cycle_count", "temp", "time_to_empty_now", "time_to_empty_avg", "time_to_full_now", "time_to_full_avg",
  ]

  /// Whether it has a battery, so isn't a charger.
  var hasBattery: Bool { PowerSupplyIdentity(kind: texts["type"] ?? "", isOfDevice: false).hasBattery }

  var battery: BatteryReading {
    var reading = BatteryReading(charge: charge)
    reading.millivolts = positive("voltage_now").map { $0 / 1_000 }
    setCurrent(&reading)
    setCapacity(&reading)
    reading.timeToEmpty = (positive("time_to_empty_now") ?? positive("time_to_empty_avg")).map { .seconds($0) }
    reading.timeToFull = (positive("time_to_full_now") ?? positive("time_to_full_avg")).map { .seconds($0) }
    if let tenths = number("temp") { reading.temperatures = [.init(tenths * 100)] }
    reading.cycles = positive("cycle_count")
    setHealth(&reading)
    reading.level = Self.levels[texts["capacity_level"] ?? ""] ?? .unknown
    reading.deriveLevel()
    return reading
  }

  private static let levels: [String: BatteryReading.Level] = [
    "Critical": .critical, "Low": .low, "Normal": .normal, "High": .high, "Full": .full,
  ]

  private var charge: BatteryReading.Charge {
    switch texts["status"] {
    case "Charging": .charging
    case "Discharging": .discharging
    case "Not charging": .notCharging
    case "Full": .full
    default: .unknown
    }
  }

  /// Sets the current and the power, which are negative while discharging. Some drivers give them a sign then, most don't.
  private func setCurrent(_ reading: inout BatteryReading) {
    let power = number("power_now").map { Int($0.magnitude) }
    var milliamperes = (number("current_now") ?? number("current_avg")).map { Int($0.magnitude) / 1_000 }
    if milliamperes == nil, let power, let voltage = positive("voltage_now") {
      milliamperes = Int((Double(power) / Double(voltage) * 1_000).rounded())
      reading.derived.insert(.current)
    }
    let sign = reading.charge == .discharging ? -1 : 1
    (reading.milliamperes, reading.milliwatts) = (milliamperes.map { sign * $0 }, power.map { sign * $0 / 1_000 })
  }

  private func setCapacity(_ reading: inout BatteryReading) {
    reading.percent = number("capacity").flatMap { (0...100).contains($0) ? $0 : nil }
    reading.remainingMilliampereHours = number("charge_now").flatMap { $0 >= 0 ? $0 / 1_000 : nil }
    reading.fullMilliampereHours = positive("charge_full").map { $0 / 1_000 }
    if reading.percent == nil,
      let part = share("charge_now", of: "charge_full") ?? share("energy_now", of: "energy_full")
    {
      reading.percent = part
      reading.derived.insert(.percent)
    }
    // A charge is energy divided by voltage, as exactly as one number for the voltage allows.
    guard reading.remainingMilliampereHours == nil, let voltage = positive("voltage_now") else { return }
    func charge(_ name: String) -> Int? {
      number(name).flatMap { $0 >= 0 ? Int(Double($0) / Double(voltage) * 1_000) : nil }
    }
    if let remaining = charge("energy_now") {
      reading.remainingMilliampereHours = remaining
      reading.derived.insert(.remainingCapacity)
    }
    if reading.fullMilliampereHours == nil, let full = charge("energy_full"), full > 0 {
      reading.fullMilliampereHours = full
      reading.derived.insert(.fullCapacity)
    }
  }

  /// One number in percent of another; nil if either is unknown.
  private func share(_ part: String, of whole: String) -> Int? {
    guard let part = number(part), part >= 0, let whole = positive(whole) else { return nil }
    return min(100, part * 100 / whole)
  }

  private func setHealth(_ reading: inout BatteryReading) {
    if let health = share("charge_full", of: "charge_full_design") ?? share("energy_full", of: "energy_full_design") {
      reading.healthPercent = health
      reading.derived.insert(.health)
    }
    var faults: [String]?
    if let health = texts["health"], health != "Unknown" {
      let name = String(health.lowercased().map { $0 == " " ? "-" : $0 })
      let isWarning = name == "warm" || name == "cool"
      faults = name == "good" || isWarning ? [] : [name]
      reading.warnings = isWarning ? [name] : []
    }
    if texts["present"] == "0", faults?.contains("no-battery") != true { faults = (faults ?? []) + ["no-battery"] }
    reading.faults = faults
  }

  // MARK: - Values

  private struct Row: Sendable {
    let name: String
    let file: String
    let quantity: AccessoryValue.Quantity?
    let unit: MeasurementUnit
    /// The number of decimal places of the file's number.
    let places: Int
    /// Whether it is what the battery or the charger is made for.
    var isLimit: Bool { name.hasSuffix("_full") || name.hasSuffix("_max") }

    init(
      _ name: String, _ file: String, _ quantity: AccessoryValue.Quantity?, _ unit: MeasurementUnit, places: Int = 6
    ) {
      (self.name, self.file, self.quantity, self.unit, self.places) = (name, file, quantity, unit, places)
    }
  }

  private static let numbers: [Row] = [
    Row("power", "power_now", .power, .watt),
    Row("energy", "energy_now", .energy, .wattHour),
    Row("energy_full", "energy_full", .energy, .wattHour),
    Row("energy_design", "energy_full_design", .energy, .wattHour),
    Row("charge_design", "charge_full_design", .charge, .ampereHour),
    Row("voltage_design", "voltage_min_design", .voltage, .volt),
    Row("charge_start_threshold", "charge_control_start_threshold", nil, .percent, places: 0),
    Row("charge_end_threshold", "charge_control_end_threshold", nil, .percent, places: 0),
  ]
  /// Values of chargers. A battery's are in its reading.
  private static let ofChargers: [Row] = [
    Row("voltage", "voltage_now", .voltage, .volt), Row("voltage_max", "voltage_max", .voltage, .volt),
    Row("current", "current_now", .current, .ampere), Row("current_max", "current_max", .current, .ampere),
    Row("input_current_limit", "input_current_limit", .current, .ampere),
  ]

  static let ofValues = (numbers + ofChargers).map(\.file) + ["type", "online", "technology", "usb_type"]

  /// The values beside the battery. Unknown ones are left out.
  var values: [AccessoryValue] {
    var values: [AccessoryValue] = []
    if let online = number("online") {
      values.append(AccessoryValue("online", quantity: .state, content: .flag(online > 0), importance: .headline))
    }
    for row in Self.numbers + (hasBattery ? [] : Self.ofChargers) {
      guard let number = number(row.file) else { continue }
      values.append(
        AccessoryValue(
          row.name, quantity: row.quantity, unit: row.unit, content: .decimal(number, places: row.places),
          importance: row.isLimit ? .rated : nil))
    }
    for name in ["technology", "usb_type"] {
      guard let text = texts[name], text != "Unknown" else { continue }
      values.append(AccessoryValue(name, content: .text(text), importance: .rated))
    }
    return values
  }
}
