// SPDX-License-Identifier: Apache-2.0

/// SYS_STATUS: how the autopilot is, and its main battery. What it doesn't know is nil.
public struct MAVLinkSystemStatus: Sendable, Hashable {
  /// The message's number.
  public static let number: UInt32 = 1

  /// The sensors and functions that there are, a bit each.
  public var present: UInt32 = 0
  /// Those that are in use.
  public var enabled: UInt32 = 0
  /// Those that are well.
  public var healthy: UInt32 = 0
  /// Load of the processor in thousandths, 0…1000.
  public var load: UInt16?
  /// The battery's voltage in millivolts.
  public var millivolts: UInt16?
  /// The battery's current in hundredths of an ampere; positive: it is being discharged.
  public var centiamperes: Int16?
  /// Received frames that were lost, in hundredths of a percent.
  public var dropRate: UInt16 = 0
  /// Received frames that were damaged.
  public var communicationErrors: UInt16 = 0
  /// Four counters whose meaning is the autopilot's own.
  public var errors: [UInt16] = [0, 0, 0, 0]
  /// How full the battery is in percent, 0…100.
  public var percent: UInt8?
  /// More sensors that there are, in use, and well: an extension, 0 where it is missing.
  public var extendedSensors: [UInt32] = [0, 0, 0]

  /// A status in which nothing is known.
  public init() {}

  init(_ payload: RawSpan) {
    present = payload.padded(0)
    enabled = payload.padded(4)
    healthy = payload.padded(8)
    load = payload.padded(12, as: UInt16.self).unless(.max).flatMap { $0 <= 1_000 ? $0 : nil }
    millivolts = payload.padded(14, as: UInt16.self).unless(.max)
    centiamperes = payload.padded(16, as: Int16.self).unless(-1)
    dropRate = payload.padded(18)
    communicationErrors = payload.padded(20)
    errors = (0..<4).map { payload.padded(22 + 2 * $0) }
    percent = payload.padded(30, as: UInt8.self).percent
    extendedSensors = (0..<3).map { payload.padded(31 + 4 * $0) }
  }

  var payload: [UInt8] {
    var bytes: [UInt8] = []
    for sensors in [present, enabled, healthy] { bytes.append(littleEndian: sensors) }
    bytes.append(littleEndian: load ?? .max)
    bytes.append(littleEndian: millivolts ?? .max)
    bytes.append(littleEndian: centiamperes ?? -1)
    bytes.append(littleEndian: dropRate)
    bytes.append(littleEndian: communicationErrors)
    for index in 0..<4 { bytes.append(littleEndian: errors.indices.contains(index) ? errors[index] : 0) }
    bytes.append(percent ?? .max)
    for index in 0..<3 {
      bytes.append(littleEndian: extendedSensors.indices.contains(index) ? extendedSensors[index] : 0)
    }
    return bytes
  }

  /// What is there and in use and not well, in words.
  public var unhealthySensors: [String] {
    let bad = present & enabled & ~healthy
    return Self.sensors.indices.filter { bad >> UInt32($0) & 1 == 1 }.map { Self.sensors[$0] }
  }

  /// Bit 31 only says that there are more.
  private static let sensors = [
    "gyroscope", "accelerometer", "magnetometer", "barometer", "airspeed", "GPS", "optical flow", "vision position",
    "laser position", "ground truth", "rate control", "attitude", "yaw", "altitude", "position", "motors",
    "RC receiver", "gyroscope 2", "accelerometer 2", "magnetometer 2", "geofence", "AHRS", "terrain", "reversed motors",
    "logging",
    "battery", "proximity", "satellite link", "pre-arm check", "obstacle avoidance", "propulsion",
  ]
}

extension UInt8 {
  /// A percentage as the protocol has it, signed with -1 for none: what can't be one is none.
  var percent: UInt8? { self <= 100 ? self : nil }
}
