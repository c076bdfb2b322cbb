// SPDX-License-Identifier: Apache-2.0

// Commands for sensors, and for motors as sensors. `layer` is the position of the brick in a chain of bricks, 0…3.

private func place(_ port: EV3Port, _ layer: Int) -> [EV3Argument] {
  [.checked("layer", layer, 0...3), .number(Int(port.rawValue))]
}

private func asking<Reply>(
  _ subcode: UInt8, _ arguments: [EV3Argument], read: @escaping @Sendable (EV3Results) -> Reply
) -> EV3Command<Reply> {
  EV3Command([EV3Step(0x99, subcode, arguments)], read: read)
}

extension EV3Command where Reply == EV3TypeAndMode {
  /// The type of the device at a port, and its mode.
  public static func typeAndMode(_ port: EV3Port, layer: Int = 0) -> Self {
    asking(5, place(port, layer) + [.result(.int8), .result(.int8)]) {
      EV3TypeAndMode(type: EV3DeviceType(rawValue: $0.byte(0)), mode: $0.byte(1))
    }
  }
}

extension EV3Command where Reply == String {
  /// The name of the sensor at a port, such as "US-DIST-CM".
  public static func sensorName(_ port: EV3Port, layer: Int = 0) -> Self {
    asking(21, place(port, layer) + [.number(32), .bytes(32)]) { $0.text(0) }
  }

  /// The name of a mode of the sensor at a port.
  public static func modeName(_ port: EV3Port, mode: Int, layer: Int = 0) -> Self {
    asking(22, place(port, layer) + [.checked("mode", mode, 0...7), .number(16), .bytes(16)]) { $0.text(0) }
  }

  /// The unit in which the sensor at a port measures.
  public static func sensorUnit(_ port: EV3Port, layer: Int = 0) -> Self {
    asking(6, place(port, layer) + [.number(8), .bytes(8)]) { $0.text(0) }
  }
}

extension EV3Command where Reply == Int? {
  /// The raw value at a port; nil when there is none.
  public static func rawValue(_ port: EV3Port, layer: Int = 0) -> Self {
    asking(11, place(port, layer) + [.result(.int32)]) { $0.value(0) }
  }

  /// The value at a port in percent; nil when there is none. Type 0 and mode −1 keep the present type and mode.
  public static func percentValue(_ port: EV3Port, type: Int = 0, mode: Int = -1, layer: Int = 0) -> Self {
    Self([EV3Step(0x9A, nil, place(port, layer) + wanted(type, mode) + [.result(.int8)])]) { $0.value(0) }
  }
}

private func wanted(_ type: Int, _ mode: Int) -> [EV3Argument] {
  [.checked("type", type, 0...127), .checked("mode", mode, -1...7)]
}

extension EV3Command where Reply == Float? {
  /// The value at a port in its unit; nil when there is none. Type 0 and mode −1 keep the present type and mode.
  public static func value(_ port: EV3Port, type: Int = 0, mode: Int = -1, layer: Int = 0) -> Self {
    Self([EV3Step(0x9D, nil, place(port, layer) + wanted(type, mode) + [.result(.float)])]) {
      $0.sensorValues(.float)[0]
    }
  }
}

/// The format of sensor values.
public enum EV3Format: UInt8, Sendable, Hashable, CaseIterable {
  /// Percent of the sensor's range.
  case percent = 0x10
  /// The sensor's raw value.
  case raw = 0x12
  /// The unit of the measured quantity.
  case si = 0x13

  var kind: EV3ResultKind {
    switch self {
    case .percent: .int8
    case .raw: .int32
    case .si: .float
    }
  }
}

extension EV3Command where Reply == [Float?] {
  private static func ready(
    _ subcode: UInt8, _ kind: EV3ResultKind, _ port: EV3Port, _ type: Int, _ mode: Int, _ count: Int, _ layer: Int
  ) -> Self {
    let arguments = place(port, layer) + wanted(type, mode) + [.checked("values", count, 1...8)]
    return asking(subcode, arguments + Array(repeating: .result(kind), count: min(max(0, count), 8))) {
      $0.sensorValues(kind)
    }
  }

  /// The first values at a port in percent, as soon as the sensor is in that mode. A value that doesn't exist is nil.
  /// Type 0 and mode −1 keep the present type and mode.
  public static func readyPercent(
    _ port: EV3Port, type: Int = 0, mode: Int = -1, count: Int = 1, layer: Int = 0
  ) -> Self {
    ready(27, .int8, port, type, mode, count, layer)
  }

  /// The same as raw values of the sensor. They are whole numbers; beyond 2²⁴ a `Float` loses their last digits.
  public static func readyRaw(_ port: EV3Port, type: Int = 0, mode: Int = -1, count: Int = 1, layer: Int = 0) -> Self {
    ready(28, .int32, port, type, mode, count, layer)
  }

  /// The same in the unit of the measured quantity.
  public static func readySI(_ port: EV3Port, type: Int = 0, mode: Int = -1, count: Int = 1, layer: Int = 0) -> Self {
    ready(29, .float, port, type, mode, count, layer)
  }

  /// The first values at a port in a format, without waiting for the sensor.
  public static func values(
    _ port: EV3Port, _ format: EV3Format, type: Int = 0, mode: Int = -1, count: Int = 1, layer: Int = 0
  ) -> Self {
    let arguments =
      place(port, layer) + wanted(type, mode)
      + [.number(Int(format.rawValue)), .checked("values", count, 1...8)]
    let results = Array(repeating: EV3Argument.result(format.kind), count: min(max(0, count), 8))
    return Self([EV3Step(0x9E, nil, arguments + results)]) { $0.sensorValues(format.kind) }
  }
}

extension EV3Command where Reply == Float {
  /// By how much the value at a port has changed since `clearChanges`.
  public static func changes(_ port: EV3Port, layer: Int = 0) -> Self {
    asking(25, place(port, layer) + [.result(.float)]) { $0.float(0) }
  }

  /// How often the sensor at a port was pressed and released since `clearChanges`.
  public static func bumps(_ port: EV3Port, layer: Int = 0) -> Self {
    asking(31, place(port, layer) + [.result(.float)]) { $0.float(0) }
  }
}

extension EV3Command where Reply == EV3Bounds {
  /// The least and the greatest value that the sensor at a port can report.
  public static func bounds(_ port: EV3Port, layer: Int = 0) -> Self {
    asking(30, place(port, layer) + [.result(.float), .result(.float)]) {
      EV3Bounds(minimum: $0.float(0), maximum: $0.float(1))
    }
  }
}

extension EV3Command where Reply == Bool {
  /// Whether the sensor at a port is being set up.
  public static func isSensorBusy(_ port: EV3Port, layer: Int = 0) -> Self {
    Self([EV3Step(0x9B, nil, place(port, layer) + [.result(.int8)])]) { $0.flag(0) }
  }
}

extension EV3Command where Reply == [EV3DeviceType] {
  /// The types of the devices at all ports, from input 1 on; a chain of bricks has up to 32 ports.
  public static var devices: Self {
    let size = 32
    return Self([EV3Step(0x98, nil, .number(size), .bytes(size), .result(.int8))]) { results in
      results.bytes(0).map { EV3DeviceType(rawValue: $0) }
    }
  }
}

extension EV3Command where Reply == Void {
  /// Sets changes and bumps at a port to 0.
  public static func clearChanges(_ port: EV3Port, layer: Int = 0) -> Self { asking(26, place(port, layer)) { _ in } }

  /// Sets all counts of sensors to 0.
  public static func clearAll(layer: Int = 0) -> Self { asking(10, [.checked("layer", layer, 0...3)]) { _ in } }

  /// Stops all motors and sensors.
  public static func stopAll(layer: Int = 0) -> Self { asking(13, [.checked("layer", layer, 0...3)]) { _ in } }
}
