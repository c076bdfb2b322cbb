// SPDX-License-Identifier: Apache-2.0

extension AccessoryValue {
  /// What a value measures, so that programs can interpret it. Programs should know the constants below; any other word
  /// is possible. Where Home Assistant has a device class for a quantity, the word is the same.
  public struct Quantity: RawRepresentable, Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The word: lower case, with underscores.
    public var rawValue: String
    /// The quantity with this word.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// The quantity with this word.
    public init(stringLiteral word: String) { rawValue = word }
    /// The word. Escape it before showing it if it came from an accessory.
    public var description: String { rawValue }

    /// Voltage.
    public static let voltage: Quantity = "voltage"
    /// Electric current.
    public static let current: Quantity = "current"
    /// Power; real power where there are several kinds.
    public static let power: Quantity = "power"
    /// Apparent power.
    public static let apparentPower: Quantity = "apparent_power"
    /// Reactive power.
    public static let reactivePower: Quantity = "reactive_power"
    /// Real power as a part of apparent power.
    public static let powerFactor: Quantity = "power_factor"
    /// Energy.
    public static let energy: Quantity = "energy"
    /// Electric charge.
    public static let charge: Quantity = "charge"
    /// Electric resistance.
    public static let resistance: Quantity = "resistance"
    /// Frequency.
    public static let frequency: Quantity = "frequency"
    /// Temperature.
    public static let temperature: Quantity = "temperature"
    /// A difference of temperatures.
    public static let temperatureDifference: Quantity = "temperature_delta"
    /// Humidity.
    public static let humidity: Quantity = "humidity"
    /// Pressure.
    public static let pressure: Quantity = "pressure"
    /// Light that falls on something.
    public static let illuminance: Quantity = "illuminance"
    /// Fine dust up to 1 µm.
    public static let pm1: Quantity = "pm1"
    /// Fine dust up to 2.5 µm.
    public static let pm25: Quantity = "pm25"
    /// Fine dust up to 10 µm.
    public static let pm10: Quantity = "pm10"
    /// Carbon dioxide.
    public static let carbonDioxide: Quantity = "carbon_dioxide"
    /// Speed.
    public static let speed: Quantity = "speed"
    /// Rotational speed.
    public static let rotation: Quantity = "rotation"
    /// An angle.
    public static let angle: Quantity = "angle"
    /// Where something is.
    public static let position: Quantity = "position"
    /// How far something is.
    public static let distance: Quantity = "distance"
    /// How long something takes, or has lasted.
    public static let duration: Quantity = "duration"
    /// Mass.
    public static let mass: Quantity = "weight"
    /// Volume.
    public static let volume: Quantity = "volume"
    /// How loud something is.
    public static let loudness: Quantity = "sound_pressure"
    /// Strength of a signal.
    public static let signalStrength: Quantity = "signal_strength"
    /// An amount of data.
    public static let dataSize: Quantity = "data_size"
    /// An amount of data per time.
    public static let dataRate: Quantity = "data_rate"
    /// A part of a whole, such as a duty cycle, or a setting between none and all, such as a volume.
    public static let ratio: Quantity = "ratio"
    /// How many things there are, or how often something happened.
    public static let count: Quantity = "count"
    /// What something is doing, or how it is set.
    public static let state: Quantity = "state"
    /// Whether something is wrong.
    public static let problem: Quantity = "problem"
    /// What identifies something, such as a name or a number.
    public static let identity: Quantity = "identity"

    /// All constants of this type.
    public static let known: [Quantity] = [
      voltage, current, power, apparentPower, reactivePower, powerFactor, energy, charge, resistance, frequency,
      temperature, temperatureDifference, humidity, pressure, illuminance, pm1, pm25, pm10, carbonDioxide, speed,
      rotation, angle, position, distance, duration, mass, volume, loudness, signalStrength, dataSize, dataRate, ratio,
      count, state, problem, identity,
    ]
  }
}
