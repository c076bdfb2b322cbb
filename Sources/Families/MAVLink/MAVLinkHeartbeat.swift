// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

/// HEARTBEAT: the kind of a component and its state. Every component sends one about once a second.
public struct MAVLinkHeartbeat: Sendable, Hashable {
  /// The message's number.
  public static let number: UInt32 = 0

  /// Flags for how a vehicle is flown or driven.
  public struct Mode: OptionSet, Sendable, Hashable {
    /// The bits.
    public let rawValue: UInt8
    /// Flags with these bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// `customMode` has the mode in the autopilot's own numbers.
    public static let custom = Mode(rawValue: 0x01)
    /// It is in a test mode.
    public static let test = Mode(rawValue: 0x02)
    /// It chooses its own way, as in a mission.
    public static let auto = Mode(rawValue: 0x04)
    /// It goes where a ground station sends it.
    public static let guided = Mode(rawValue: 0x08)
    /// It stabilises its attitude.
    public static let stabilized = Mode(rawValue: 0x10)
    /// It is simulated.
    public static let simulated = Mode(rawValue: 0x20)
    /// It is remote-controlled.
    public static let manual = Mode(rawValue: 0x40)
    /// Its motors are enabled and may run.
    public static let armed = Mode(rawValue: 0x80)
  }

  /// The mode in the autopilot's own numbers.
  public var customMode: UInt32 = 0
  /// The kind of vehicle or component.
  public var type: UInt8
  /// The kind of autopilot; 8 for components that aren't autopilots.
  public var autopilot: UInt8
  /// How it is flown or driven.
  public var mode: Mode = []
  /// Its state, as a number.
  public var state: UInt8
  /// The version of the message definitions.
  public var definitions: UInt8 = 3

  /// A heartbeat of these parts.
  public init(type: UInt8, autopilot: UInt8, mode: Mode = [], customMode: UInt32 = 0, state: UInt8) {
    (self.type, self.autopilot, self.mode, self.customMode, self.state) = (type, autopilot, mode, customMode, state)
  }

  init(_ payload: RawSpan) {
    customMode = payload.padded(0)
    type = payload.padded(4)
    autopilot = payload.padded(5)
    mode = Mode(rawValue: payload.padded(6))
    state = payload.padded(7)
    definitions = payload.padded(8)
  }

  var payload: [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(littleEndian: customMode)
    bytes += [type, autopilot, mode.rawValue, state, definitions]
    return bytes
  }

  // MARK: - Interpretation

  /// The type of an onboard computer.
  public static let onboardController: UInt8 = 18
  /// The type of a ground station.
  public static let groundStation: UInt8 = 6
  /// The `autopilot` of components that aren't autopilots.
  public static let noAutopilot: UInt8 = 8

  /// The state in a word; nil for unknown numbers.
  public var stateWord: String? { Self.states.indices.contains(Int(state)) ? Self.states[Int(state)] : nil }

  /// The kind of vehicle or component in a word; nil for unknown numbers.
  public var typeWord: String? { Self.types.indices.contains(Int(type)) ? Self.types[Int(type)] : nil }

  /// The name of the autopilot; nil for unknown numbers.
  public var autopilotName: String? { Self.autopilots[autopilot] }

  /// The words of the flags that are set, in the order of the bits.
  public var modeWords: [String] {
    Self.modes.indices.filter { mode.rawValue >> UInt8($0) & 1 == 1 }.map { Self.modes[$0] }
  }

  private static let states = [
    "uninitialized", "booting", "calibrating", "standby", "active", "critical", "emergency", "powering off",
    "terminated",
  ]
  private static let modes = ["custom", "test", "auto", "guided", "stabilized", "simulated", "manual", "armed"]
  private static let autopilots: [UInt8: String] = [
    0: "generic", 2: "SLUGS", 3: "ArduPilot", 4: "OpenPilot", 9: "Paparazzi", 10: "UDB", 11: "FlexiPilot", 12: "PX4",
    13: "SMACCMPilot", 14: "AutoQuad", 15: "Armazila", 16: "Aerob", 17: "ASLUAV", 18: "SmartAP", 19: "AirRails",
    20: "ReflexPilot",
  ]
  private static let types = [
    "generic", "fixed wing", "quadrotor", "coaxial", "helicopter", "antenna tracker", "ground station", "airship",
    "free balloon", "rocket", "rover", "boat", "submarine", "hexarotor", "octorotor", "tricopter", "flapping wing",
    "kite", "onboard controller", "VTOL duorotor", "VTOL quadrotor", "VTOL tiltrotor", "VTOL fixed rotor",
    "VTOL tailsitter", "VTOL tiltwing", "VTOL", "gimbal", "ADS-B", "parafoil", "dodecarotor", "camera",
    "charging station", "FLARM", "servo", "open drone id", "decarotor", "battery", "parachute", "log", "OSD", "IMU",
    "GPS", "winch", "multirotor", "illuminator", "spacecraft", "quadruped", "VTOL gyrodyne", "gripper",
  ]
}
