// SPDX-License-Identifier: Apache-2.0

/// Some of the brick's four outputs.
public struct EV3Motors: OptionSet, Sendable, Hashable {
  /// A bit a port.
  public let rawValue: UInt8
  /// Outputs by their bits.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Output A.
  public static let a = EV3Motors(rawValue: 1)
  /// Output B.
  public static let b = EV3Motors(rawValue: 2)
  /// Output C.
  public static let c = EV3Motors(rawValue: 4)
  /// Output D.
  public static let d = EV3Motors(rawValue: 8)
  /// All four.
  public static let all: EV3Motors = [.a, .b, .c, .d]

  /// The output with this number, 0…3.
  public static func number(_ number: Int) -> EV3Motors { EV3Motors(rawValue: 1 << UInt8(number & 3)) }
}

/// A port that something is read from: sensors at 1 to 4, and motors at A to D.
public enum EV3Port: UInt8, Sendable, Hashable, CaseIterable {
  /// The inputs.
  case one = 0
  case two, three, four
  /// The outputs, which can be read like inputs.
  case a = 0x10
  case b, c, d

  /// What is printed on the brick: "1", "A".
  public var name: String {
    rawValue < 0x10 ? String(rawValue + 1) : String(UnicodeScalar(UInt8(ascii: "A") + rawValue - 0x10))
  }

  /// The number of an output, 0…3; nil for an input.
  public var motorNumber: Int? { rawValue >= 0x10 ? Int(rawValue) - 0x10 : nil }
}

/// What is at a port. Values without a name here are kept.
public struct EV3DeviceType: RawRepresentable, Sendable, Hashable {
  /// The firmware's number.
  public var rawValue: UInt8
  /// The type with this number.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The NXT's touch sensor.
  public static let nxtTouch = EV3DeviceType(rawValue: 1)
  /// The NXT's light sensor.
  public static let nxtLight = EV3DeviceType(rawValue: 2)
  /// The NXT's microphone.
  public static let nxtSound = EV3DeviceType(rawValue: 3)
  /// The NXT's colour sensor.
  public static let nxtColor = EV3DeviceType(rawValue: 4)
  /// The NXT's ultrasonic sensor.
  public static let nxtUltrasonic = EV3DeviceType(rawValue: 5)
  /// The NXT's temperature sensor.
  public static let nxtTemperature = EV3DeviceType(rawValue: 6)
  /// The large motor.
  public static let largeMotor = EV3DeviceType(rawValue: 7)
  /// The medium motor.
  public static let mediumMotor = EV3DeviceType(rawValue: 8)
  /// The touch sensor.
  public static let touch = EV3DeviceType(rawValue: 16)
  /// The colour sensor.
  public static let color = EV3DeviceType(rawValue: 29)
  /// The ultrasonic sensor.
  public static let ultrasonic = EV3DeviceType(rawValue: 30)
  /// The gyroscope.
  public static let gyro = EV3DeviceType(rawValue: 32)
  /// The infrared sensor.
  public static let infrared = EV3DeviceType(rawValue: 33)
  /// It is being found out.
  public static let initializing = EV3DeviceType(rawValue: 0x7D)
  /// Nothing is there.
  public static let none = EV3DeviceType(rawValue: 0x7E)
  /// It belongs to another kind of port.
  public static let wrongPort = EV3DeviceType(rawValue: 0x7F)

  /// What it is, for people.
  public var name: String {
    switch self {
    case .nxtTouch: "NXT touch"
    case .nxtLight: "NXT light"
    case .nxtSound: "NXT sound"
    case .nxtColor: "NXT colour"
    case .nxtUltrasonic: "NXT ultrasonic"
    case .nxtTemperature: "NXT temperature"
    case .largeMotor: "large motor"
    case .mediumMotor: "medium motor"
    case .touch: "touch"
    case .color: "colour"
    case .ultrasonic: "ultrasonic"
    case .gyro: "gyro"
    case .infrared: "infrared"
    case .initializing: "initialising"
    case .none: "none"
    case .wrongPort: "wrong port"
    default: "type \(rawValue)"
    }
  }
}

/// What is at a port, and in which mode it is.
public struct EV3TypeAndMode: Sendable, Hashable {
  /// What it is.
  public var type: EV3DeviceType
  /// Its mode, whose meaning is the type's own.
  public var mode: UInt8

  /// A type with a mode.
  public init(type: EV3DeviceType, mode: UInt8) {
    self.type = type
    self.mode = mode
  }
}

/// A button of the brick.
public enum EV3Button: UInt8, Sendable, Hashable, CaseIterable {
  /// The buttons.
  case up = 1
  case enter, down, right, left, back
  /// Whichever.
  case any
}

/// A pattern of the brick's light.
public enum EV3LED: UInt8, Sendable, Hashable, CaseIterable {
  /// Dark.
  case off
  /// Steady.
  case green, red, orange
  /// On and off.
  case greenFlash, redFlash, orangeFlash
  /// Brighter and darker.
  case greenPulse, redPulse, orangePulse
}

/// Which way a motor's positive speeds go.
public enum EV3Polarity: Int8, Sendable, Hashable, CaseIterable {
  /// Backward.
  case backward = -1
  /// The other way than before.
  case toggle
  /// Forward.
  case forward
}

/// What the brick warns of.
public struct EV3Warnings: OptionSet, Sendable, Hashable {
  /// A bit a warning.
  public let rawValue: UInt8
  /// Warnings by their bits.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// It is too hot.
  public static let temperature = EV3Warnings(rawValue: 0x01)
  /// It takes too much current.
  public static let current = EV3Warnings(rawValue: 0x02)
  /// The voltage is out of bounds.
  public static let voltage = EV3Warnings(rawValue: 0x04)
  /// Memory runs out.
  public static let memory = EV3Warnings(rawValue: 0x08)
  /// A program ended by an error.
  public static let dispatcher = EV3Warnings(rawValue: 0x10)
  /// The battery runs out.
  public static let batteryLow = EV3Warnings(rawValue: 0x40)
  /// It is busy.
  public static let busy = EV3Warnings(rawValue: 0x80)

  /// Each with its name.
  public static let named: [(warning: EV3Warnings, name: String)] = [
    (.temperature, "temperature"), (.current, "current"), (.voltage, "voltage"), (.memory, "memory"),
    (.dispatcher, "program"), (.batteryLow, "battery-low"), (.busy, "busy"),
  ]

  /// The names of those that are set.
  public var names: [String] { Self.named.filter { contains($0.warning) }.map(\.name) }
}

/// What a motor does, and where it is.
public struct EV3MotorReading: Sendable, Hashable {
  /// Percent of the full speed, −100…100.
  public var speed: Int
  /// Degrees since the count was last cleared (for LEGO's motors: one a degree).
  public var tacho: Int

  /// A value of these parts.
  public init(speed: Int, tacho: Int) {
    self.speed = speed
    self.tacho = tacho
  }
}

/// What the brick's power is like.
public struct EV3Power: Sendable, Hashable {
  /// Volts of the battery.
  public var volts: Float
  /// Amperes out of the battery.
  public var amperes: Float
  /// Amperes that the brick itself takes.
  public var internalAmperes: Float
  /// Amperes that the motors take.
  public var motorAmperes: Float

  /// A value of these parts.
  public init(volts: Float, amperes: Float, internalAmperes: Float, motorAmperes: Float) {
    self.volts = volts
    self.amperes = amperes
    self.internalAmperes = internalAmperes
    self.motorAmperes = motorAmperes
  }
}

/// A least and a greatest value.
public struct EV3Bounds: Sendable, Hashable {
  /// The least.
  public var minimum: Float
  /// The greatest.
  public var maximum: Float

  /// A value of these parts.
  public init(minimum: Float, maximum: Float) {
    self.minimum = minimum
    self.maximum = maximum
  }
}

/// Memory in kilobytes.
public struct EV3Memory: Sendable, Hashable {
  /// All there is.
  public var total: Int
  /// What is not used.
  public var free: Int

  /// A value of these parts.
  public init(total: Int, free: Int) {
    self.total = total
    self.free = free
  }
}

/// A colour of the brick's display, which has two.
public enum EV3Ink: UInt8, Sendable, Hashable, CaseIterable {
  /// The background's.
  case white
  /// The foreground's.
  case black
}

/// One of the brick's programs' places.
public enum EV3Slot: UInt8, Sendable, Hashable, CaseIterable {
  /// The brick's own menus.
  case gui
  /// The user's program.
  case user
  /// Direct commands.
  case command
  /// The terminal.
  case terminal
  /// The debugger.
  case debug
}
