// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryProtocols

// Conversions of MAVLink messages to the types that all drivers share. What MAVLink calls unknown is told in the messages' types: −1,
// the highest number, or 0 for cells 11 to 14 and for the time that remains.
//
// Left out: the weight and the design voltages of SMART_BATTERY_INFO, and BATTERY_INFO (372), which this family doesn't read.

extension AccessoryStatus {
  /// The status in a heartbeat. The fault code is the number of MAVLink's state: 5 critical, 6 emergency, 8 terminated.
  init(_ heartbeat: MAVLinkHeartbeat) {
    let state: AccessoryState? =
      switch heartbeat.state {
      case 1, 2, 4, 7: .busy
      case 3: .idle
      case 5, 6, 8: .fault
      default: nil
      }
    self.init(
      state: state, faultCode: state == .fault ? UInt16(heartbeat.state) : nil, reportsFaults: state != nil)
  }
}

extension AccessoryIdentity {
  /// The identity in an autopilot's heartbeat and version, as far as they are known.
  init(_ heartbeat: MAVLinkHeartbeat?, _ version: MAVLinkAutopilotVersion?) {
    self.init(
      manufacturer: heartbeat?.autopilotName ?? "", model: heartbeat?.typeWord ?? "",
      serialNumber: version?.serialNumber ?? "", firmwareRevision: version?.firmware ?? "",
      hardwareRevision: version.flatMap { $0.board == 0 ? nil : "board \($0.board)" } ?? "")
  }
}

extension BatteryReading {
  /// The reading in a battery's messages. Fields that they leave out come from `system`, if it isn't nil: SYS_STATUS
  /// has only one battery, so pass it only for a single battery.
  init(_ status: MAVLinkBatteryStatus, _ info: MAVLinkBatteryInfo?, _ system: MAVLinkSystemStatus?) {
    self.init()
    percent = (status.percent ?? system?.percent).map(Int.init)
    millivolts = status.millivolts ?? system?.millivolts.map(Int.init)
    if status.millivolts != nil, status.isSumOfCells { derived.insert(.voltage) }
    take(centiamperes: status.centiamperes ?? system?.centiamperes)
    cellMillivolts = status.cells.map { $0.map(Int.init) }
    if let temperature = status.centidegrees { temperatures = [Temperature(Int(temperature) * 10)] }
    timeToEmpty = status.secondsRemaining.map { .seconds($0) }
    fullMilliampereHours = info?.fullMilliampereHours.map(Int.init)
    cycles = info?.cycles.map(Int.init)
    if let health = info?.healthPercent {
      healthPercent = Int(health)
      derived.insert(.health)
    }
    faults = status.faultWords
    switch status.state {
    case .low: level = .low
    case .critical: level = .critical
    case .emergency:
      level = .critical
      warnings = ["emergency"]
    case .charging:
      charge = .charging
      derived.remove(.charge)
    case .ok, .failed, .unhealthy, nil: break
    }
    self = bounded
    deriveLevel()
  }

  /// The reading in SYS_STATUS.
  init(_ system: MAVLinkSystemStatus) {
    self.init(percent: system.percent.map(Int.init), millivolts: system.millivolts.map(Int.init))
    take(centiamperes: system.centiamperes)
  }

  /// Sets the current. A `BatteryReading` counts a charging current as positive, MAVLink a discharging one. Its sign
  /// determines whether the battery is being charged.
  private mutating func take(centiamperes: Int16?) {
    guard let centiamperes else { return }
    milliamperes = -10 * Int(centiamperes)
    if centiamperes == 0 { return }
    charge = centiamperes > 0 ? .discharging : .charging
    derived.insert(.charge)
  }
}

extension MAVLinkSystemStatus {
  /// Whether the message has data of a battery.
  var knowsBattery: Bool { millivolts != nil || centiamperes != nil || percent != nil }
}

extension AutopilotPicture {
  /// The main battery's reading; nil when nothing is known of a battery.
  var battery: BatteryReading? {
    if let main = mainBattery {
      return BatteryReading(main, infos[main.id], batteries.count == 1 ? system?.content : nil)
    }
    return system.flatMap { $0.content.knowsBattery ? BatteryReading($0.content) : nil }
  }

  /// All values except those of status and battery.
  var values: [AccessoryValue] {
    var values = flightValues + systemValues
    if let main = mainBattery { values += Self.extras(of: main, "battery") }
    for other in otherBatteries { values += Self.values(of: other, infos[other.id]) }
    if let severity {
      values.append(AccessoryValue("text", content: .text(String(decoding: text, as: UTF8.self))))
      values.append(
        AccessoryValue(
          "text_severity", quantity: .state, content: Self.choice(severity.severityWord, severity.severity)))
    }
    return values
  }

  private var flightValues: [AccessoryValue] {
    let told = heartbeat?.content
    let custom = told.flatMap { $0.mode.contains(.custom) ? Double($0.customMode) : nil }
    return [
      AccessoryValue(
        "armed", quantity: .state, content: told.map { .flag($0.mode.contains(.armed)) },
        importance: .headline),
      AccessoryValue(
        "state", quantity: .state, content: told.map { Self.choice($0.stateWord, $0.state) }),
      AccessoryValue(
        "mode", quantity: .state, content: told.map { .text(Self.list($0.modeWords.filter { $0 != "armed" })) },
        importance: .shown),
      AccessoryValue("custom_mode", quantity: .state, number: custom),
    ]
  }

  private var systemValues: [AccessoryValue] {
    let told = system?.content
    return [
      AccessoryValue(
        "load", quantity: .ratio, unit: .percent, content: told?.load.map { .decimal(Int($0), places: 1) }),
      AccessoryValue("unhealthy", quantity: .problem, content: told.map { .text(Self.list($0.unhealthySensors)) }),
      AccessoryValue(
        "drop_rate", quantity: .ratio, unit: .percent, content: told.map { .decimal(Int($0.dropRate), places: 2) }),
      AccessoryValue("communication_errors", quantity: .count, number: told.map { Double($0.communicationErrors) }),
    ]
  }

  /// A word for a number; a number without a word keeps its digits.
  private static func choice(_ word: String?, _ number: UInt8) -> AccessoryValue.Content {
    .choice(word: word ?? "\(number)", number: Int(number))
  }

  private static func list(_ words: [String]) -> String { words.isEmpty ? "none" : words.joined(separator: ", ") }

  /// The values of a battery that a `BatteryReading` has no field for.
  private static func extras(of status: MAVLinkBatteryStatus, _ name: String) -> [AccessoryValue] {
    // 1 Wh is 36 hectojoules.
    let wattHours = status.consumedHectojoules.map { (Double($0) / 36 * 1_000).rounded() / 1_000 }
    // 0 means that the autopilot doesn't know it.
    func known(_ word: String?, _ number: UInt8) -> AccessoryValue.Content? {
      number == 0 ? nil : .text(word ?? "\(number)")
    }
    return [
      AccessoryValue("\(name)_function", quantity: .identity, content: known(status.functionWord, status.function)),
      AccessoryValue("\(name)_type", quantity: .identity, content: known(status.typeWord, status.type)),
      AccessoryValue(
        "\(name)_consumed", quantity: .charge, unit: .milliampereHour,
        number: status.consumedMilliampereHours.map { Double($0) }),
      AccessoryValue("\(name)_energy", quantity: .energy, unit: .wattHour, number: wattHours),
      AccessoryValue(
        "\(name)_state", quantity: .state,
        content: status.state.map { .choice(word: "\($0)", number: Int($0.rawValue)) }),
    ]
  }

  /// The values of a battery that isn't the main one.
  static func values(of status: MAVLinkBatteryStatus, _ info: MAVLinkBatteryInfo?) -> [AccessoryValue] {
    let name = "battery_\(status.id)"
    let reading = BatteryReading(status, info, nil)
    return [
      AccessoryValue("\(name)_percent", quantity: .ratio, unit: .percent, number: reading.percent.map { Double($0) }),
      AccessoryValue(
        "\(name)_voltage", quantity: .voltage, unit: .volt, content: reading.millivolts.map { .decimal($0, places: 3) },
        isDerived: reading.derived.contains(.voltage)),
      AccessoryValue(
        "\(name)_current", quantity: .current, unit: .ampere,
        content: reading.milliamperes.map { .decimal($0, places: 3) }),
      AccessoryValue(
        "\(name)_temperature", quantity: .temperature, unit: .celsius,
        content: reading.temperatures.first?.millidegrees.map { .decimal($0, places: 3) }),
      AccessoryValue(
        "\(name)_time_to_empty", quantity: .duration, unit: .second, number: reading[.timeToEmpty].map { Double($0) }),
      AccessoryValue("\(name)_faults", quantity: .problem, content: reading.faults.map { .text(list($0)) }),
    ] + extras(of: status, name)
  }
}
