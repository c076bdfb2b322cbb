// SPDX-License-Identifier: Apache-2.0

/// A set of the brick's four outputs.
public struct EV3Motors: OptionSet, Sendable, Hashable {
  /// A bit for each output.
  public let rawValue: UInt8
  /// The outputs whose bits are set.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Output A.
  public static let a = EV3Motors(rawValue: 1)
  /// Output B.
  public static let b = EV3Motors(rawValue: 2)
  /// Output C.
  public static let c = EV3Motors(rawValue: 4)
  /// Output D.
  public static let d = EV3Motors(rawValue: 8)
  /// All four outputs.
  public static let all: EV3Motors = [.a, .b, .c, .d]

  /// The output with this number, 0…3.
  public static func number(_ number: Int) -> EV3Motors { EV3Motors(rawValue: 1 << UInt8(number & 3)) }
}

/// A port that can be read: sensors at 1 to 4, and motors at A to D.
public enum EV3Port: UInt8, Sendable, Hashable, CaseIterable {
  /// The inputs.
  case one = 0
  case two, three, four
  /// The outputs, which can be read like inputs.
  case a = 0x10
  case b, c, d

  /// The name that is printed on the brick: "1", "A".
  public var name: String {
    rawValue < 0x10 ? String(rawValue + 1) : String(UnicodeScalar(UInt8(ascii: "A") + rawValue - 0x10))
  }

  /// The number of an output, 0…3; nil for an input.
  public var motorNumber: Int? { rawValue >= 0x10 ? Int(rawValue) - 0x10 : nil }
}

/// The type of the device at a port. Values without a name here are kept.
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
  /// The brick is still identifying the device.
  public static let initializing = EV3DeviceType(rawValue: 0x7D)
  /// No device is connected.
  public static let none = EV3DeviceType(rawValue: 0x7E)
  /// The device belongs to another kind of port.
  public static let wrongPort = EV3DeviceType(rawValue: 0x7F)

  /// The name of the type, for people.
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

/// The type and the mode of the device at a port.
public struct EV3TypeAndMode: Sendable, Hashable {
  /// The type.
  public var type: EV3DeviceType
  /// The mode; each type defines its own modes.
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
  /// Any of the buttons.
  case any
}

/// A pattern of the brick's light.
public enum EV3LED: UInt8, Sendable, Hashable, CaseIterable {
  /// Dark.
  case off
  /// On.
  case green, red, orange
  /// Flashing.
  case greenFlash, redFlash, orangeFlash
  /// Pulsing.
  case greenPulse, redPulse, orangePulse
}

/// The direction in which a motor turns at positive speeds.
public enum EV3Polarity: Int8, Sendable, Hashable, CaseIterable {
  /// Backward.
  case backward = -1
  /// The opposite of the present direction.
  case toggle
  /// Forward.
  case forward
}

/// A set of the brick's warnings.
public struct EV3Warnings: OptionSet, Sendable, Hashable {
  /// A bit for each warning.
  public let rawValue: UInt8
  /// The warnings whose bits are set.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The brick is too hot.
  public static let temperature = EV3Warnings(rawValue: 0x01)
  /// The brick takes too much current.
  public static let current = EV3Warnings(rawValue: 0x02)
  /// The battery's voltage is out of bounds.
  public static let voltage = EV3Warnings(rawValue: 0x04)
  /// The memory is nearly full.
  public static let memory = EV3Warnings(rawValue: 0x08)
  /// A program ended with an error.
  public static let dispatcher = EV3Warnings(rawValue: 0x10)
  /// The battery is nearly empty.
  public static let batteryLow = EV3Warnings(rawValue: 0x40)
  /// The brick is busy.
  public static let busy = EV3Warnings(rawValue: 0x80)

  /// All warnings with their names.
  public static let named: [(warning: EV3Warnings, name: String)] = [
    (.temperature, "temperature"), (.current, "current"), (.voltage, "voltage"), (.memory, "memory"),
    (.dispatcher, "program"), (.batteryLow, "battery-low"), (.busy, "busy"),
  ]

  /// The names of the warnings in this set.
  public var names: [String] { Self.named.filter { contains($0.warning) }.map(\.name) }
}

/// The speed and the position of a motor.
public struct EV3MotorReading: Sendable, Hashable {
  /// Percent of the full speed, −100…100.
  public var speed: Int
  /// The count since it was last cleared: one for each degree with LEGO's motors.
  public var tacho: Int

  /// A value of these parts.
  public init(speed: Int, tacho: Int) {
    self.speed = speed
    self.tacho = tacho
  }
}

/// The brick's power supply.
public struct EV3Power: Sendable, Hashable {
  /// The battery's voltage, in volts.
  public var volts: Float
  /// The current that the battery supplies, in amperes.
  public var amperes: Float
  /// The current that the brick itself takes, in amperes.
  public var internalAmperes: Float
  /// The current that the motors take, in amperes.
  public var motorAmperes: Float

  /// A value of these parts.
  public init(volts: Float, amperes: Float, internalAmperes: Float, motorAmperes: Float) {
    self.volts = volts
    self.amperes = amperes
    self.internalAmperes = internalAmperes
    self.motorAmperes = motorAmperes
  }
}

/// The least and the greatest value of a sensor.
public struct EV3Bounds: Sendable, Hashable {
  /// The least value.
  public var minimum: Float
  /// The greatest value.
  public var maximum: Float

  /// A value of these parts.
  public init(minimum: Float, maximum: Float) {
    self.minimum = minimum
    self.maximum = maximum
  }
}

/// The size of a memory, in kilobytes.
public struct EV3Memory: Sendable, Hashable {
  /// The whole size, in kilobytes.
  public var total: Int
  /// The unused part, in kilobytes.
  public var free: Int

  /// A value of these parts.
  public init(total: Int, free: Int) {
    self.total = total
    self.free = free
  }
}

/// A colour of the brick's display, which has two colours.
public enum EV3Ink: UInt8, Sendable, Hashable, CaseIterable {
  /// The colour of the background.
  case white
  /// The colour of the foreground.
  case black
}

/// A place in which the brick runs a program.
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
