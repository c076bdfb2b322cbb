// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

/// SYS_STATUS: the state of the autopilot and of its main battery. Fields that it doesn't know are nil.
public struct MAVLinkSystemStatus: Sendable, Hashable {
  /// The message's number.
  public static let number: UInt32 = 1

  /// The sensors and functions that exist, one bit for each.
  public var present: UInt32 = 0
  /// The sensors and functions that are in use, one bit for each.
  public var enabled: UInt32 = 0
  /// The sensors and functions that work, one bit for each.
  public var healthy: UInt32 = 0
  /// The load of the processor in thousandths, 0…1000.
  public var load: UInt16?
  /// The battery's voltage in millivolts.
  public var millivolts: UInt16?
  /// The battery's current in hundredths of an ampere, positive while discharging.
  public var centiamperes: Int16?
  /// Received frames that were lost, in hundredths of a percent.
  public var dropRate: UInt16 = 0
  /// Received frames that were damaged.
  public var communicationErrors: UInt16 = 0
  /// Four error counters, which each autopilot defines for itself.
  public var errors: [UInt16] = [0, 0, 0, 0]
  /// The battery's charge in percent, 0…100.
  public var percent: UInt8?
  /// More sensors: those that exist, that are in use, and that work. An extension; 0 if it is missing.
  public var extendedSensors: [UInt32] = [0, 0, 0]

  /// A message in which all fields are unknown.
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

  /// The sensors and functions that exist, are in use and don't work, in words.
  public var unhealthySensors: [String] {
    let bad = present & enabled & ~healthy
    return Self.sensors.indices.filter { bad >> UInt32($0) & 1 == 1 }.map { Self.sensors[$0] }
  }

  /// Bit 31, which isn't here, says that `extendedSensors` is used.
  private static let sensors = [
    "gyroscope", "accelerometer", "magnetometer", "barometer", "airspeed", "GPS", "optical flow", "vision position",
    "laser position", "ground truth", "rate control", "attitude", "yaw", "altitude", "position", "motors",
    "RC receiver", "gyroscope 2", "accelerometer 2", "magnetometer 2", "geofence", "AHRS", "terrain", "reversed motors",
    "logging",
    "battery", "proximity", "satellite link", "pre-arm check", "obstacle avoidance", "propulsion",
  ]
}

extension UInt8 {
  /// A percentage as the protocol encodes it; nil for −1, which means "unknown", and for other impossible values.
  var percent: UInt8? { self <= 100 ? self : nil }
}
