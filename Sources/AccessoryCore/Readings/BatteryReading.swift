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
    /// Neither low nor high.
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
    /// It is being charged.
    case charging
    /// It supplies power.
    case discharging
    /// External power is there, but it isn't being charged.
    case notCharging = "not_charging"
    /// Charging is done.
    case full
  }

  /// How the value of a field was obtained.
  public enum Origin: String, Sendable, Hashable {
    /// The accessory said so.
    case reported
    /// Calculated from something that the accessory said.
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

  /// Percent, 0…100; nil when the accessory doesn't say. Never guessed from the level.
  public var percent: UInt8?
  /// The level; `unknown` when nothing tells.
  public var level: Level
  /// Millivolts; nil when the accessory doesn't say.
  public var millivolts: Int?
  /// Milliamperes, negative while discharging; nil when the accessory doesn't say.
  public var milliamperes: Int?
  /// What the battery is doing.
  public var charge: Charge

  /// Seconds until it is empty, at the present load; nil when the accessory doesn't say.
  public var secondsToEmpty: Int?
  /// Seconds until it is full, at the present rate; nil when the accessory doesn't say.
  public var secondsToFull: Int?
  /// Its temperatures; empty when the accessory doesn't say.
  public var temperatures: [Temperature] = []
  /// Millivolts of its cells, in their order, nil for one that isn't known; empty when the accessory doesn't say.
  public var cellMillivolts: [Int?] = []
  /// Remaining charge in milliampere hours; nil when the accessory doesn't say.
  public var remainingMilliampereHours: Int?
  /// Charge of the full battery in milliampere hours; nil when the accessory doesn't say.
  public var fullMilliampereHours: Int?
  /// Charging cycles so far; nil when the accessory doesn't say.
  public var cycles: Int?
  /// Its health: the charge it can hold, in percent of a new one, 0…100; nil when the accessory doesn't say.
  public var healthPercent: UInt8?
  /// What is wrong with it, by name; empty when nothing is, nil when the accessory doesn't say.
  public var faults: [String]?
  /// What it warns of, by name; empty when of nothing, nil when the accessory doesn't say.
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

  /// A reading. When the level is unknown and the percent isn't, the level is derived from it.
  public init(
    percent: UInt8? = nil, level: Level = .unknown, millivolts: Int? = nil, milliamperes: Int? = nil,
    charge: Charge = .unknown
  ) {
    self.percent = percent
    self.level = level
    self.millivolts = millivolts
    self.milliamperes = milliamperes
    self.charge = charge
    deriveLevel()
  }

  /// Derives the level from the percentage, if the level is unknown and the percentage isn't.
  public mutating func deriveLevel() {
    guard level == .unknown, let percent else { return }
    level = Level(percent: percent)
    derived.insert(.level)
  }
}

extension BatteryReading.Level {
  /// The level that a percent stands for, by UPower's default limits for low (20) and critical (5).
  public init(percent: UInt8) {
    switch percent {
    case ...5: self = .critical
    case ...20: self = .low
    case ..<80: self = .normal
    case ..<100: self = .high
    default: self = .full
    }
  }
}
