// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

/// The part of a power device to which a field belongs: the innermost of its collections that isn't just a group of flags.
struct PowerPlace: Sendable, Hashable {
  /// The kind of part.
  let part: HIDUsage
  /// The number among several such parts. Nil is the main one: makers number the main input 1 and the bypass 2.
  var number: UInt16?

  static let ups = PowerPlace(part: PowerUsage.ups)
  static let summary = PowerPlace(part: PowerUsage.powerSummary)
  static let batterySystem = PowerPlace(part: PowerUsage.batterySystem)
  static let battery = PowerPlace(part: PowerUsage.batteryCollection)
  static let charger = PowerPlace(part: PowerUsage.charger)
  static let converter = PowerPlace(part: PowerUsage.powerConverter)
  static let input = PowerPlace(part: PowerUsage.input)
  static let output = PowerPlace(part: PowerUsage.output)
  static let flow = PowerPlace(part: PowerUsage.flow)
  /// The nominal values of the main input and the output, as Eaton, Liebert and Phoenixtec number them.
  static let (inputFlow, outputFlow) = (
    PowerPlace(part: PowerUsage.flow, number: 1), PowerPlace(part: PowerUsage.flow, number: 4)
  )
  /// The place of the maker's own usages: they have one meaning for the whole device.
  static let maker = PowerPlace(part: HIDUsage(page: 0, id: 0))

  /// The places where flags are read.
  private static let all = [summary, ups, output, input, converter, batterySystem, battery, charger, maker]
  /// The places where the battery's voltage, current and temperature are read, as NUT does.
  static let cells = [batterySystem, battery, summary]
  private static let capacity = [summary, battery, batterySystem, ups]
  private static let load = [output, summary, converter, ups]
  private static let rating = [output, outputFlow, flow, summary, converter, ups]
  private static let transfer = [input, output, converter, summary, ups]
  private static let delay = [summary, output, ups, converter]

  private static let usual: [HIDUsage: [PowerPlace]] = [
    PowerUsage.remainingCapacity: capacity, PowerUsage.relativeCharge: capacity,
    PowerUsage.fullChargeCapacity: capacity, PowerUsage.capacityMode: capacity, PowerUsage.runTimeToEmpty: capacity,
    PowerUsage.averageTimeToEmpty: capacity, PowerUsage.averageTimeToFull: capacity,
    PowerUsage.remainingCapacityLimit: capacity, PowerUsage.remainingTimeLimit: capacity,
    PowerUsage.warningCapacityLimit: capacity,
    PowerUsage.cycleCount: cells, PowerUsage.manufacturerDate: cells,
    PowerUsage.percentLoad: load, PowerUsage.apparentPower: load, PowerUsage.activePower: load,
    PowerUsage.configApparentPower: rating, PowerUsage.configActivePower: rating,
    PowerUsage.lowVoltageTransfer: transfer, PowerUsage.highVoltageTransfer: transfer,
    PowerUsage.delayBeforeShutdown: delay, PowerUsage.delayBeforeStartup: delay, PowerUsage.delayBeforeReboot: delay,
    PowerUsage.test: [batterySystem, battery, output, summary, ups],
    PowerUsage.audibleAlarm: [summary, ups, batterySystem, battery, output],
  ]

  /// The places where a usage with one meaning for the whole device is read, in order of preference. Other inputs, outlets, and parts
  /// that only their maker knows are left out.
  static func places(of usage: HIDUsage) -> [PowerPlace] { usual[usage] ?? all }
}

extension PowerPlace {
  /// How well a field fits its place. The lowest rank is the best.
  struct Rank: Comparable {
    /// The path to the part: by the power summary, from the device, or by the power converter.
    var way = 1
    /// The number of the part among its kind.
    var number: UInt16 = 0
    /// The part's order in the descriptor. For the device and the summary it is 0: there is one of each, which makers describe in
    /// several pieces.
    var order = 0

    static func < (one: Rank, other: Rank) -> Bool {
      (one.way, one.number, one.order) < (other.way, other.number, other.order)
    }
  }

  private struct Step {
    let part: HIDUsage
    var number: UInt16 = 0
    let order: Int
  }

  /// The collections of a field from the device inwards, each with its number. Collections around the device and groups of flags are
  /// left out.
  private static func steps(to field: HIDReportField) -> [Step] {
    var steps: [Step] = []
    for (usage, order) in zip(field.path.dropLast(), field.collections) {
      switch usage {
      case PowerUsage.ups, PowerUsage.powerSupply: steps = [Step(part: PowerUsage.ups, order: order)]
      case PowerUsage.presentStatus, PowerUsage.changedStatus: break
      case _ where usage.page == HIDUsage.numbers: if !steps.isEmpty { steps[steps.count - 1].number = usage.id }
      case _ where usage.id == 0: break
      default: steps.append(Step(part: usage, order: order))
      }
    }
    return steps
  }

  /// The place of a field, and its rank there; nil if it belongs to an unknown part or to an outlet. `outletIsOutput` says that the
  /// maker calls the output an outlet.
  static func of(_ field: HIDReportField, outletIsOutput: Bool) -> (place: PowerPlace, rank: Rank)? {
    let steps = steps(to: field)
    guard let own = steps.last else { return nil }
    if let outlets = steps.firstIndex(where: { PowerUsage.outlets.contains($0.part) }) {
      guard outletIsOutput, PowerUsage.outlets.contains(own.part), !steps[outlets...].contains(where: { $0.number > 0 })
      else { return nil }
      return (.output, Rank(way: 3, order: own.order))
    }
    guard field.usage.page < 0xFF00 else { return (.maker, Rank()) }
    let way = steps.dropLast()
    let isOfBattery = own.part == PowerUsage.batteryCollection || own.part == PowerUsage.charger
    guard
      way.allSatisfy({ step in
        let isKnown = PowerUsage.ways.contains(step.part) || isOfBattery && step.part == PowerUsage.batterySystem
        return isKnown && step.number <= 1
      })
    else { return nil }
    var rank = Rank(number: own.number, order: own.order)
    if way.contains(where: { $0.part == PowerUsage.powerSummary }) {
      rank.way = 0
    } else if way.contains(where: { $0.part == PowerUsage.powerConverter }) {
      rank.way = 2
    }
    if PowerUsage.ways.prefix(2).contains(own.part) { rank.order = 0 }
    // Battery packs are alike: the first is the main one.
    let isMain = own.part == PowerUsage.batteryCollection || own.number <= (own.part == PowerUsage.flow ? 0 : 1)
    return (PowerPlace(part: own.part, number: isMain ? nil : own.number), rank)
  }
}
