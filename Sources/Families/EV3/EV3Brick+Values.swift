// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryProtocols

// The values of a brick and its ports, in the types that all drivers share.

extension EV3Brick {
  /// Asks, in two messages, for the brick's own values and for those of the devices at its ports. Each device is read
  /// in its current mode, which isn't changed. Throws what `ask` throws.
  public func values() async throws(AccessoryError) -> [AccessoryValue] { try await readValues().value }

  /// The same, and says what the brick doesn't answer.
  public func readValues() async throws(AccessoryError) -> Read<[AccessoryValue]> {
    var batch = EV3Batch()
    let (brick, types) = try adding { () throws(EV3MessageError) in
      (
        try BrickPlaces(&batch),
        try EV3Port.allCases.map { port throws(EV3MessageError) in
          (port, try batch.add(.typeAndMode(port)))
        }
      )
    }
    let reply = try await send(batch)
    let used = types.filter { Self.isDevice(reply[$0.1].type) }.map { (port: $0.0, type: reply[$0.1].type) }
    // What the ports don't tell hides nothing of the brick.
    return try await answers([
      ("brick", { @Sendable () async throws(AccessoryError) in brick.values(reply) }),
      ("ports", { @Sendable () async throws(AccessoryError) in try await values(at: used) }),
    ]).map { ($0["brick"] ?? []) + ($0["ports"] ?? used.flatMap { Self.values($0.port, $0.type) }) }
  }

  /// Whether a type is that of a device that can be read.
  private static func isDevice(_ type: EV3DeviceType) -> Bool {
    type.rawValue != 0 && ![.initializing, .none, .wrongPort].contains(type)
  }

  /// The places in the reply that hold the brick's own values.
  private struct BrickPlaces {
    let power: EV3Batch.Place<EV3Power>
    let rise: EV3Batch.Place<Float>
    let warnings: EV3Batch.Place<EV3Warnings>
    let memory: EV3Batch.Place<EV3Memory>
    let volume, sleep: EV3Batch.Place<Int>
    let firmware, hardware, system: EV3Batch.Place<String>

    init(_ batch: inout EV3Batch) throws(EV3MessageError) {
      (power, rise) = (try batch.add(.power), try batch.add(.batteryTemperatureRise))
      memory = try batch.add(.memory)
      (firmware, hardware) = (try batch.add(.firmwareVersion), try batch.add(.hardwareVersion))
      system = try batch.add(.osVersion)
      (volume, sleep) = (try batch.add(.volume), try batch.add(.sleepMinutes))
      warnings = try batch.add(.warnings)
    }

    func values(_ reply: EV3BatchReply) -> [AccessoryValue] {
      let (power, memory, warnings) = (reply[power], reply[memory], reply[warnings])
      return [
        AccessoryValue(
          "internal_current", quantity: .current, unit: .ampere, number: Double(measured: power.internalAmperes),
          importance: .detail),
        AccessoryValue(
          "motor_current", quantity: .current, unit: .ampere, number: Double(measured: power.motorAmperes)),
        AccessoryValue(
          "battery_temperature_rise", quantity: .temperatureDifference, unit: .kelvin,
          number: Double(measured: reply[rise]),
          importance: .detail),
        AccessoryValue(
          "memory_total", quantity: .dataSize, unit: .kibibyte, number: Double(memory.total), importance: .rated),
        AccessoryValue("memory_free", quantity: .dataSize, unit: .kibibyte, number: Double(memory.free)),
        AccessoryValue("volume", quantity: .ratio, unit: .percent, number: Double(reply[volume]), importance: .setting),
        AccessoryValue(
          "sleep_time", quantity: .duration, unit: .minute, number: Double(reply[sleep]), importance: .setting),
        AccessoryValue("firmware_version", quantity: .identity, content: .text(reply[firmware])),
        AccessoryValue("hardware_version", quantity: .identity, content: .text(reply[hardware])),
        AccessoryValue("os_version", quantity: .identity, content: .text(reply[system])),
      ]
        + EV3Warnings.named.map { warning, name in
          let name = String(name.map { $0 == "-" ? "_" : $0 })
          return AccessoryValue("warning_\(name)", quantity: .problem, content: .flag(warnings.contains(warning)))
        }
    }
  }

  /// The values of the devices at these ports.
  private func values(
    at ports: [(port: EV3Port, type: EV3DeviceType)]
  ) async throws(AccessoryError) -> [AccessoryValue] {
    guard !ports.isEmpty else { return [] }
    var batch = EV3Batch()
    let places = try adding { () throws(EV3MessageError) in
      try ports.map { port, _ throws(EV3MessageError) in
        (value: try batch.add(.value(port)) as EV3Batch.Place<Float?>, unit: try batch.add(.sensorUnit(port)))
      }
    }
    let reply = try await send(batch)
    return zip(ports, places).flatMap { at, place in
      let (quantity, unit) = Self.meaning(of: reply[place.unit])
      return Self.values(at.port, at.type, quantity, unit, reply[place.value].flatMap { Double(measured: $0) })
    }
  }

  /// The device at a port, and what it measures.
  private static func values(
    _ port: EV3Port, _ type: EV3DeviceType, _ quantity: AccessoryValue.Quantity? = nil, _ unit: MeasurementUnit? = nil,
    _ number: Double? = nil
  ) -> [AccessoryValue] {
    let name = "port_\(port.name.lowercased())"
    return [
      AccessoryValue(
        "\(name)_device", quantity: .identity, content: .choice(word: type.name, number: Int(type.rawValue))),
      AccessoryValue(name, quantity: quantity, unit: unit, number: number),
    ]
  }

  /// The quantity and the unit for a symbol of the firmware.
  static func meaning(of symbol: String) -> (quantity: AccessoryValue.Quantity?, unit: MeasurementUnit?) {
    let symbol = String(symbol.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    return switch symbol {
    case "": (nil, nil)
    case "pct": (.ratio, .percent)
    case "deg": (.angle, .degree)
    case "D/s": (.rotation, .degreePerSecond)
    case "cm": (.distance, .centimetre)
    case "inch": (.distance, "in")
    case "dB", "dBa": (.loudness, .decibel)
    case "C": (.temperature, .celsius)
    case "F": (.temperature, "°F")
    default: (nil, MeasurementUnit(rawValue: symbol))
    }
  }
}

extension Double {
  /// The number with only as many digits as its four bytes are accurate to; nil for NaN and infinities.
  fileprivate init?(measured value: Float) {
    guard value.isFinite else { return nil }
    self = Double("\(value)") ?? Double(value)
  }
}
