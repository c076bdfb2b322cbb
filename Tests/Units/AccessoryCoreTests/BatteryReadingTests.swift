// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Testing

@Suite struct BatteryReadingTests {
  /// What an accessory doesn't say is unknown, and no list says that there is nothing wrong.
  @Test func nothingIsKnownAtFirst() {
    let reading = BatteryReading(millivolts: 3_700)
    for field in BatteryReading.Field.allCases { #expect(reading[field] == (field == .voltage ? 3_700 : nil)) }
    #expect(reading.temperatures == [] && reading.cellMillivolts == [] && reading.derived == [])
    #expect(reading.faults == nil && reading.warnings == nil)
  }

  /// Every field that is a number is set and read by its name, and no other changes.
  @Test(arguments: BatteryReading.Field.allCases) func aFieldByItsName(field: BatteryReading.Field) throws {
    var reading = BatteryReading()
    reading[field] = 42
    guard let measure = field.term.measure, case .number = field.term.form else {
      return #expect(reading == BatteryReading())
    }
    let plausible = measure.plausible(in: measure.published)
    let range = Int(plausible.range.lowerBound)...Int(plausible.range.upperBound)
    let overrun = Int(plausible.overrun)
    #expect(reading[field] == 42 && BatteryReading.Field(rawValue: field.rawValue) == field)
    for other in BatteryReading.Field.allCases where other != field { #expect(reading[other] == nil) }
    for bound in [range.lowerBound, range.upperBound] {
      reading[field] = bound
      #expect(reading[field] == bound)
    }
    // What is a little too much is the most that can be; what can't be is unknown.
    reading[field] = range.upperBound + overrun
    #expect(reading[field] == range.upperBound)
    for number in [range.lowerBound - 1, range.upperBound + overrun + 1, .min, .max] {
      reading[field] = 42
      reading[field] = number
      #expect(reading[field] == nil)
    }
  }

  @Test func aLevelIsDerivedWhenItIsAskedFor() {
    var reading = BatteryReading()
    reading[.percent] = 15
    #expect(reading.level == .unknown && reading.levelOrigin == .reported)
    reading.deriveLevel()
    #expect(reading.level == .low && reading.levelOrigin == .derived && reading.derived == [.level])
    reading.percent = 90
    reading.deriveLevel()
    #expect(reading.level == .low)
    reading.levelOrigin = .reported
    #expect(reading.derived == [])
    #expect(BatteryReading(percent: 15).derived == [.level])
    #expect(BatteryReading(percent: 15, level: .high).derived == [])
  }

  /// What a driver tells too much of is cut; what is within the limits stays as it is.
  @Test func aBatteryReadingIsCutToItsBounds() {
    var good = BatteryReading(percent: 57, level: .normal, millivolts: 52_000, milliamperes: -1_500)
    good.cellMillivolts = [3_300, nil, 3_301]
    good.temperatures = [.init(24_950, name: "MOS"), .init(nil), .init(-40_000)]
    (good.faults, good.warnings) = ([], ["cell overvoltage"])
    good.timeToEmpty = .seconds(3_600)
    #expect(good.bounded == good)

    var much = BatteryReading(percent: 200, millivolts: .max, milliamperes: .min)
    much.timeToFull = .seconds(-1)
    much.cellMillivolts = Array(repeating: 3_300, count: 300) + [.max]
    much.cellMillivolts[1] = .min
    much.temperatures = Array(repeating: .init(.max, name: String(repeating: "ä", count: 40)), count: 300)
    much.faults = Array(repeating: String(repeating: "x", count: 65), count: 300)
    let cut = much.bounded
    #expect(cut.percent == nil && cut.millivolts == nil && cut.milliamperes == nil && cut.timeToFull == nil)
    #expect(cut.cellMillivolts.count == 255 && cut.cellMillivolts[1] == nil && cut.cellMillivolts[2] == 3_300)
    #expect(cut.temperatures.count == 255)
    #expect(cut.temperatures[0] == .init(nil, name: String(repeating: "ä", count: 32)))
    #expect(cut.faults == Array(repeating: String(repeating: "x", count: 64), count: 255))
    #expect(cut.warnings == nil)
    #expect(cut.bounded == cut)
  }
}
