// SPDX-License-Identifier: Apache-2.0

/// What is known of an accessory's battery, in the same terms for every kind of accessory.
public struct BatteryReading: Sendable, Hashable {
  /// How full the battery is, in words.
  public enum Level: String, Sendable, Hashable, CaseIterable {
    /// Not told.
    case unknown
    /// About to give out.
    case critical
    /// To be charged.
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
    /// Not told.
    case unknown
    /// Power goes in.
    case charging
    /// Power comes out.
    case discharging
    /// Neither, though there is power.
    case notCharging = "not_charging"
    /// Charging is done.
    case full
  }

  /// Where a field comes from.
  public enum Origin: String, Sendable, Hashable {
    /// The accessory said so.
    case reported
    /// Worked out from something that the accessory said.
    case derived
  }

  /// Percent, 0…100; nil when the accessory doesn't say. Never guessed from the level.
  public var percent: UInt8?
  /// The level; `unknown` when nothing tells.
  public var level: Level
  /// Whether the accessory told the level, or it follows from the percent.
  public var levelOrigin: Origin
  /// Millivolts; nil when the accessory doesn't say.
  public var millivolts: Int?
  /// Milliamperes, negative while discharging; nil when the accessory doesn't say.
  public var milliamperes: Int?
  /// What the battery is doing.
  public var charge: Charge

  /// A reading. When the level is unknown and the percent isn't, the level is derived from it.
  public init(
    percent: UInt8? = nil, level: Level = .unknown, millivolts: Int? = nil, milliamperes: Int? = nil,
    charge: Charge = .unknown
  ) {
    self.percent = percent
    self.millivolts = millivolts
    self.milliamperes = milliamperes
    self.charge = charge
    if level == .unknown, let percent {
      self.level = Level(percent: percent)
      levelOrigin = .derived
    } else {
      self.level = level
      levelOrigin = .reported
    }
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
