// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryProtocols

/// Several pretended accessories of one described protocol on one line, each a unit with values of its own.
public struct DescribedUnits: SerialDevice {
  /// What one of them tells.
  public struct News: Sendable, Hashable {
    /// Which one.
    public var unit: Int
    /// What.
    public var news: DescribedDevice.News
  }

  /// What happens in time.
  public enum Moment: Sendable, Hashable {
    /// Something that a unit does.
    case unit(Int, DescribedDevice.Moment)
    /// A unit that answers late answers.
    case send(Int, [UInt8])
    /// The units of `pulled` are taken off the line, or put back.
    case pull
  }

  /// A label for queues; which driver speaks with it is in its announcement.
  public static var driver: String { "described" }

  /// The units by their numbers.
  public private(set) var units: [Int: DescribedDevice]
  /// The numbers of those that hear, and say nothing.
  public var silent: Set<Int> = []
  /// How much later units answer.
  public var delays: [Int: Duration] = [:]
  /// The numbers of those that `pull` takes off the line and puts back.
  public var pulled: Set<Int> = []

  private let numbers: [Int]
  private var first: DescribedDevice

  /// Units of these numbers, each with the values of `device` to begin with. Throws `misconfigured` when the protocol has no such
  /// units.
  public init(_ device: DescribedDevice, units: [Int]) throws(AccessoryError) {
    guard let range = device.description.units?.range else {
      throw AccessoryError(
        .misconfigured, "\(device.description.name) accessories are alone on their line: there are no units")
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
      // What the line gives back it gives back once.
      one.quirks.isEchoing = false
      self.units[unit] = one
    }
    first = device
    numbers = self.units.keys.sorted()
  }

  /// Bytes are taken as they come.
  public var pause: Duration? { nil }

  /// By what others find the line.
  public var announcement: Announcement { first.announcement }

  /// Changes one of the units, if there is one of this number.
  public mutating func change<Failure>(
    _ unit: Int, _ body: (inout DescribedDevice) throws(Failure) -> Void
  ) throws(Failure) {
    guard var device = units[unit] else { return }
    try body(&device)
    units[unit] = device
  }

  /// Begins to send what they send by themselves.
  public mutating func start() -> [SerialEffect<Self>] {
    numbers.flatMap { unit in run(unit) { $0.start() } }
  }

  /// Has them answer what arrives: each what is for it.
  public mutating func take(_ bytes: [UInt8]) -> [SerialEffect<Self>] {
    let echo: [SerialEffect<Self>] = first.quirks.isEchoing ? [.send(bytes)] : []
    return echo + numbers.flatMap { unit in run(unit) { $0.take(bytes) } }
  }

  /// The moment has come.
  public mutating func happen(_ moment: Moment) -> [SerialEffect<Self>] {
    switch moment {
    case .unit(let unit, let moment): return run(unit) { $0.happen(moment) }
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
      case .after(let time, let moment): return .after(time, .unit(unit, moment))
      // The others go on.
      case .forget: return nil
      case .tell(let news): return isSilent ? nil : .tell(News(unit: unit, news: news))
      }
    }
  }
}
