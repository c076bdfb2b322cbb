// SPDX-License-Identifier: Apache-2.0

/// The state of an accessory's battery, in the same terms for every kind of accessory.
public struct BatteryReading: Sendable, Hashable {
  /// How full the battery is, in words.
  public enum Level: String, Sendable, Hashable, CaseIterable {
    /// The accessory doesn't say.
    case unknown
    /// Nearly empty.
    case critical
    /// Should be charged.
    case low
    /// Between low and high.
    case normal
    /// Nearly full.
    case high
    /// Full.
    case full
  }

  /// What the battery is doing.
  public enum Charge: String, Sendable, Hashable, CaseIterable {
    /// The accessory doesn't say.
    case unknown
    /// The battery is being charged.
    case charging
    /// The battery supplies power.
    case discharging
    /// External power is connected, but the battery isn't being charged.
    case notCharging = "not_charging"
    /// Charging is done.
    case full
  }

  /// The fields of a reading, by the names that they have in the service's interface and in JSON documents. What else they are
  /// called has `Vocabulary`.
  public enum Field: String, Sendable, Hashable, CaseIterable {
    /// The cases are in the order of the properties of `BatteryReading`.
    case percent
    case percentTenths = "percent_tenths"
    case level
    case voltage = "voltage_mv"
    case current = "current_ma"
    case power = "power_mw"
    case charge
    case timeToEmpty = "time_to_empty_s"
    case timeToFull = "time_to_full_s"
    case temperatures
    case cells = "cells_mv"
    case remainingCapacity = "remaining_mah"
    case fullCapacity = "full_mah"
    case cycles
    case health = "health_percent"
    case faults, warnings
  }

  /// How the value of a field was obtained.
  public enum Origin: String, Sendable, Hashable {
    /// The accessory reported the value.
    case reported
    /// The value was calculated from something that the accessory reported.
    case derived
  }

  /// One of a battery's temperatures.
  public struct Temperature: Sendable, Hashable {
    /// The name of what was measured ("cell 1", "MOSFET"); nil where the accessory gives only a list.
    public var name: String?
    /// Thousandths of a degree Celsius; nil where it isn't known.
    public var millidegrees: Int?

    /// A temperature in thousandths of a degree Celsius.
    public init(_ millidegrees: Int?, name: String? = nil) {
      self.millidegrees = millidegrees
      self.name = name
    }
  }

  /// The charge in percent, 0…100; nil when the accessory doesn't say. Never guessed from the level.
  public var percent: Int?
  /// The same in tenths of a percent, 0…1000; nil when the accessory reports no decimals.
  public var percentTenths: Int?
  /// The level; `unknown` when the accessory reported neither a level nor a percentage.
  public var level: Level
  /// The voltage in millivolts; nil when the accessory doesn't say.
  public var millivolts: Int?
  /// The current in milliamperes, negative while discharging; nil when the accessory doesn't say.
  public var milliamperes: Int?
  /// The power in milliwatts, negative while discharging; nil when the accessory doesn't say. Never the product of the voltage and the
  /// current, unless a description says so, and then in `derived`.
  public var milliwatts: Int?
  /// What the battery is doing.
  public var charge: Charge

  /// The time until the battery is empty, at the present load; nil when the accessory doesn't say.
  public var timeToEmpty: Duration?
  /// The time until the battery is full, at the present rate; nil when the accessory doesn't say.
  public var timeToFull: Duration?
  /// The battery's temperatures; empty when the accessory doesn't say.
  public var temperatures: [Temperature] = []
  /// Millivolts of each cell, in their order, nil for a cell that isn't known; empty when the accessory doesn't say.
  public var cellMillivolts: [Int?] = []
  /// The remaining charge in milliampere hours; nil when the accessory doesn't say.
  public var remainingMilliampereHours: Int?
  /// The charge of the full battery in milliampere hours; nil when the accessory doesn't say.
  public var fullMilliampereHours: Int?
  /// Charging cycles so far; nil when the accessory doesn't say.
  public var cycles: Int?
  /// The charge of the full battery in percent of a new one's, 0…100; nil when the accessory doesn't say.
  public var healthPercent: Int?
  /// Names of the battery's faults; empty when there are none, nil when the accessory doesn't say.
  public var faults: [String]?
  /// Names of the battery's warnings; empty when there are none, nil when the accessory doesn't say.
  public var warnings: [String]?

  /// The fields that were calculated from others, and not reported by the accessory.
  public var derived: Set<Field> = []

  /// Whether the accessory reported the level, or it was derived from the percentage.
  public var levelOrigin: Origin {
    get { derived.contains(.level) ? .derived : .reported }
    set {
      if newValue == .derived { derived.insert(.level) } else { derived.remove(.level) }
    }
  }

  /// A reading. If the level is unknown and the percentage is known, the level is derived from it.
  public init(
    percent: Int? = nil, level: Level = .unknown, millivolts: Int? = nil, milliamperes: Int? = nil,
    charge: Charge = .unknown
  ) {
    self.percent = percent
    self.level = level
    self.millivolts = millivolts
    self.milliamperes = milliamperes
    self.charge = charge
    deriveLevel()
  }

  /// Derives the level from the percentage, if the level is unknown and the percentage is known. Up to the percentage `low`, which the
  /// accessory may say, it is low.
  public mutating func deriveLevel(low: Int = Level.lowPercent) {
    guard level == .unknown, let percent else { return }
    level = Level(percent: percent, low: low)
    derived.insert(.level)
  }
}

extension BatteryReading.Level {
  /// The percentage up to which a battery is low where nobody says otherwise, as by UPower's default limit.
  public static let lowPercent = 20

  /// The level for a percentage: up to `low` is low, and up to 5 critical, as by UPower's default limits.
  public init(percent: Int, low: Int = lowPercent) {
    switch percent {
    case ...min(5, low): self = .critical
    case ...low: self = .low
    case ..<80: self = .normal
    case ..<100: self = .high
    default: self = .full
    }
  }
}
