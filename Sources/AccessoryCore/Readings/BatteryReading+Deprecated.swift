// SPDX-License-Identifier: Apache-2.0

extension BatteryReading {
  /// Seconds until the battery is empty.
  @available(*, deprecated, renamed: "timeToEmpty")
  public var secondsToEmpty: Int? {
    get { self[.timeToEmpty] }
    set { self[.timeToEmpty] = newValue }
  }

  /// Seconds until the battery is full.
  @available(*, deprecated, renamed: "timeToFull")
  public var secondsToFull: Int? {
    get { self[.timeToFull] }
    set { self[.timeToFull] = newValue }
  }

  /// A reading whose percentage is a byte.
  @available(*, deprecated, message: "the percentage is an Int")
  @_disfavoredOverload
  public init(
    percent: UInt8?, level: Level = .unknown, millivolts: Int? = nil, milliamperes: Int? = nil,
    charge: Charge = .unknown
  ) {
    self.init(
      percent: percent.map(Int.init), level: level, millivolts: millivolts, milliamperes: milliamperes, charge: charge)
  }
}

extension BatteryReading.Level {
  /// The level for a percentage that is a byte.
  @available(*, deprecated, message: "the percentage is an Int")
  @_disfavoredOverload
  public init(percent: UInt8) { self.init(percent: Int(percent)) }
}
