// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols
import FamilyAF1
import Testing

@testable import AccessoryDrivers

@Suite struct ReadingTests {
  // MARK: - Battery

  @Test(
    arguments: [
      (0, .critical), (5, .critical), (6, .low), (20, .low), (21, .normal), (79, .normal), (80, .high), (99, .high),
      (100, .full),
    ] as [(Int, BatteryReading.Level)])
  func aLevelFollowsFromThePercent(percent: Int, level: BatteryReading.Level) {
    let reading = BatteryReading(percent: percent)
    #expect(reading.level == level)
    #expect(reading.levelOrigin == .derived)
    #expect(reading.percent == percent)
  }

  /// Even where it contradicts the percent.
  @Test(arguments: BatteryReading.Level.allCases) func aLevelThatIsToldStays(level: BatteryReading.Level) {
    guard level != .unknown else { return }
    let reading = BatteryReading(percent: 3, level: level)
    #expect(reading.level == level)
    #expect(reading.levelOrigin == .reported)
  }

  @Test(arguments: BatteryReading.Level.allCases) func aPercentIsNeverMadeUp(level: BatteryReading.Level) {
    let reading = BatteryReading(level: level, millivolts: 4_200, charge: .full)
    #expect(reading.percent == nil)
    #expect(reading.level == level)
    #expect(reading.levelOrigin == .reported)
    #expect(reading.milliamperes == nil)
  }

  /// Every first byte there is, alone: a legal answer.
  @Test func everyLevelOfAF1IsReadFromItsByte() throws {
    for byte in UInt8.min...UInt8.max {
      let reading = BatteryReading(try AF1BatteryReply(decoding: [byte]))
      let expected: BatteryReading.Level = [1: .low, 2: .normal, 3: .high][byte] ?? .unknown
      #expect(reading == BatteryReading(level: expected))
    }
  }

  @Test(
    arguments: [
      ([2, 57, 0x80, 0x0E, 2], BatteryReading(percent: 57, level: .normal, millivolts: 3_712, charge: .discharging)),
      ([2, 0xFF, 0, 0, 0], BatteryReading(level: .normal)),
      ([0xFF, 15], BatteryReading(percent: 15)),
      ([0xFF, 0xFF, 0x10, 0x0E, 3], BatteryReading(millivolts: 3_600, charge: .full)),
      ([3, 101, 0xFF, 0xFF, 1], BatteryReading(level: .high, millivolts: 65_535, charge: .charging)),
      ([1, 4, 1], BatteryReading(percent: 4, level: .low)),
      ([1, 4, 1, 0, 9], BatteryReading(percent: 4, level: .low, millivolts: 1)),
    ] as [([UInt8], BatteryReading)])
  func aBatteryOfAF1IsReadFromItsBytes(payload: [UInt8], reading: BatteryReading) throws {
    #expect(BatteryReading(try AF1BatteryReply(decoding: payload)) == reading)
  }

  @Test func aLevelOfAF1IsDerivedFromThePercent() throws {
    let reading = BatteryReading(try AF1BatteryReply(decoding: [0xFF, 15]))
    #expect(reading.level == .low)
    #expect(reading.levelOrigin == .derived)
  }

  // MARK: - Status

  @Test(
    arguments: [
      ([0, 0, 0, 0xFF], AccessoryStatus(state: .idle, reportsFaults: true)),
      ([1, 0, 0, 0], AccessoryStatus(state: .busy, progress: 0, reportsFaults: true)),
      ([2, 0, 0, 100], AccessoryStatus(state: .paused, progress: 100, reportsFaults: true)),
      ([3, 0x02, 0x01, 101], AccessoryStatus(state: .fault, faultCode: 0x0102)),
      ([3, 0, 0, 50], AccessoryStatus(state: .fault, progress: 50, reportsFaults: true)),
      ([9, 1, 0, 0xFF], AccessoryStatus(state: .notInitialized, faultCode: 1)),
      ([0xFF, 0, 0, 0xFF], AccessoryStatus(state: .notInitialized, reportsFaults: true)),
    ] as [([UInt8], AccessoryStatus)])
  func aStatusOfAF1IsReadFromItsBytes(payload: [UInt8], status: AccessoryStatus) throws {
    #expect(AccessoryStatus(try AF1StatusReply(decoding: payload)) == status)
  }

  @Test func anIdentityOfAF1KeepsAllItsTexts() {
    let identity = AccessoryIdentity(
      AF1Identity(
        manufacturer: "m", name: "n", model: "o", serialNumber: "s", firmwareVersion: "f", hardwareVersion: "h"))
    #expect(
      [
        identity.manufacturer, identity.name, identity.model, identity.serialNumber, identity.firmwareRevision,
        identity.hardwareRevision,
      ] == ["m", "n", "o", "s", "f", "h"])
  }
}
