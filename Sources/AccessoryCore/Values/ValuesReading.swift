// SPDX-License-Identifier: Apache-2.0

/// The values of an accessory, each with the time at which it was read. There are at most `ReadingLimits.values`, each
/// within the limits, and each name occurs once.
public struct ValuesReading: Sendable, Hashable {
  /// A value that was read.
  public struct Entry: Sendable, Hashable {
    /// The value.
    public var value: AccessoryValue
    /// When it was read.
    public var time: MonotonicTime

    /// A value, with the time at which it was read.
    public init(_ value: AccessoryValue, at time: MonotonicTime) {
      self.value = value
      self.time = time
    }

    /// The entry's age at the time `now`; never negative.
    public func age(_ now: MonotonicTime) -> Duration { max(.zero, now - time) }
  }

  /// The values, in the order in which they were first added.
  public private(set) var entries: [Entry] = []
  private var places: [String: Int] = [:]

  /// A reading without values.
  public init() {}

  /// Values that were read at one time.
  public init(_ values: [AccessoryValue], at time: MonotonicTime) { take(values, at: time) }

  /// The values without their times.
  public var values: [AccessoryValue] { entries.map(\.value) }

  /// The value with this name; nil where there is none.
  public subscript(name: String) -> Entry? { places[name].map { entries[$0] } }

  /// Adds values. They replace earlier values of the same names; the others stay. Returns the values that are new or
  /// have changed. Values beyond the limit are dropped.
  @discardableResult
  public mutating func take(_ values: [AccessoryValue], at time: MonotonicTime) -> [AccessoryValue] {
    var changed: [AccessoryValue] = []
    for value in values {
      let value = value.bounded
      if let place = places[value.name] {
        if entries[place].value != value { changed.append(value) }
        entries[place] = Entry(value, at: time)
      } else if entries.count < ReadingLimits.values {
        places[value.name] = entries.count
        entries.append(Entry(value, at: time))
        changed.append(value)
      }
    }
    return changed
  }
}
