// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryProtocols

/// Several simulated accessories with one described protocol on one line. Each is a unit with its own values.
public struct DescribedUnits: SerialDevice {
  /// An event of a unit.
  public struct News: Sendable, Hashable {
    /// The unit's number.
    public var unit: Int
    /// The event.
    public var news: DescribedDevice.News
  }

  /// A scheduled action.
  public enum ScheduledAction: Sendable, Hashable {
    /// An action of a unit.
    case unit(Int, DescribedDevice.ScheduledAction)
    /// The late answer of a unit.
    case send(Int, [UInt8])
    /// The units in `pulled` are taken off the line, or put back.
    case pull
  }

  /// A label for dispatch queues. The driver's name is in `announcement`.
  public static var driver: String { "described" }

  /// The units by number.
  public private(set) var units: [Int: DescribedDevice]
  /// The units that receive requests but send nothing.
  public var silent: Set<Int> = []
  /// How late each unit answers, by number.
  public var delays: [Int: Duration] = [:]
  /// The units that `pull` takes off the line and puts back.
  public var pulled: Set<Int> = []

  private let numbers: [Int]
  private var first: DescribedDevice

  /// Units with these numbers, which start with the values of `device`. Throws `misconfigured` when the protocol
  /// doesn't have these units.
  public init(_ device: DescribedDevice, units: [Int]) throws(AccessoryError) {
    guard let range = device.description.units?.range else {
      throw AccessoryError(
        .misconfigured, "\(device.description.name) accessories have no unit numbers: only one can be on a line")
    }
    self.units = [:]
    for unit in units {
      guard range.contains(unit) else {
        throw AccessoryError(
          .misconfigured,
          "units of \(device.description.name) accessories are \(range.lowerBound) to \(range.upperBound), not \(unit)")
      }
      var one = device
      one.unit = unit
      // The line echoes once, not once for each unit.
      one.quirks.isEchoing = false
      self.units[unit] = one
    }
    first = device
    numbers = self.units.keys.sorted()
  }

  /// Nil: bytes are handled as they arrive.
  public var pause: Duration? { nil }

  /// The announcement of the line.
  public var announcement: Announcement { first.announcement }

  /// Changes the unit with this number, if there is one.
  public mutating func change<Failure>(
    _ unit: Int, _ body: (inout DescribedDevice) throws(Failure) -> Void
  ) throws(Failure) {
    guard var device = units[unit] else { return }
    try body(&device)
    units[unit] = device
  }

  /// Switches the units on.
  public mutating func start() -> [SerialEffect<Self>] {
    numbers.flatMap { unit in run(unit) { $0.start() } }
  }

  /// Passes bytes to the units. Each answers the requests with its number.
  public mutating func take(_ bytes: [UInt8]) -> [SerialEffect<Self>] {
    let echo: [SerialEffect<Self>] = first.quirks.isEchoing ? [.send(bytes)] : []
    return echo + numbers.flatMap { unit in run(unit) { $0.take(bytes) } }
  }

  /// Carries out a scheduled action.
  public mutating func perform(_ action: ScheduledAction) -> [SerialEffect<Self>] {
    switch action {
    case .unit(let unit, let action): return run(unit) { $0.perform(action) }
    case .send(let unit, let bytes): return silent.contains(unit) ? [] : [.send(bytes)]
    case .pull:
      silent.formSymmetricDifference(pulled)
      return []
    }
  }

  private mutating func run(
    _ unit: Int, _ body: (inout DescribedDevice) -> [SerialEffect<DescribedDevice>]
  ) -> [SerialEffect<Self>] {
    guard var device = units[unit] else { return [] }
    let effects = body(&device)
    units[unit] = device
    let isSilent = silent.contains(unit)
    return effects.compactMap { effect in
      switch effect {
      case .send(let bytes):
        if isSilent { return nil }
        return delays[unit].map { .after($0, .send(unit, bytes)) } ?? .send(bytes)
      case .after(let time, let action): return .after(time, .unit(unit, action))
      // Ignored, because it would also cancel the actions of other units.
      case .cancelAll: return nil
      case .report(let news): return isSilent ? nil : .report(News(unit: unit, news: news))
      }
    }
  }
}
