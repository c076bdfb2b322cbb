// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols
import TestSupport
import Testing

@testable import FamilyHIDPower

/// Which of several fields of one usage counts, for reading and for setting.
@Suite struct PowerPlaceTests {
  /// The reports of a device with this descriptor, after these feature reports.
  private func reports(
    _ descriptor: String, _ features: [String], _ quirks: PowerQuirks = .none
  ) -> PowerReports {
    let descriptor = HIDReportDescriptor(HIDSamples.bytes(descriptor))
    #expect(descriptor.damage == nil)
    var reports = PowerReports(descriptor, quirks)
    for report in features { reports.take(.feature, HIDSamples.bytes(report)) }
    return reports
  }

  /// A UPS with these parts.
  private static func ups(_ parts: String...) -> String { "05 84 09 04 a1 01" + parts.joined() + "c0" }

  /// A part of it with these items, in a collection of its own if it has a number.
  private static func part(_ usage: String, _ items: String..., number: Int? = nil) -> String {
    let items = items.joined()
    guard let number else { return "05 84 09 \(usage) a1 00 \(items) c0" }
    return "05 84 09 \(usage) a1 00 0b 0\(number) 00 ff 00 a1 00 \(items) c0 c0"
  }

  /// A feature report of one field of two bytes, in tenths of a volt.
  private static func volts(_ report: String, _ usage: String = "30") -> String {
    "85 \(report) 05 84 75 10 95 01 15 00 27 ff ff 00 00 67 21 d1 f0 00 55 06 09 \(usage) b1 a2 65 00 55 00"
  }

  /// A feature report of one byte without a unit.
  private static func byte(_ report: String, _ page: String, _ usage: String, _ maximum: String = "26 ff 00") -> String
  {
    "85 \(report) 05 \(page) 75 08 95 01 15 00 \(maximum) 09 \(usage) b1 a2"
  }

  private func number(_ reports: PowerReports, _ name: String) -> Double? {
    reports.values().first { $0.name == name }?.number
  }

  // MARK: - Published reports

  /// OpenUPS: the first fields stand before any logical range.
  @Test func aFieldBeforeAnyRangeHasAllItsBits() {
    let reports = reports(
      """
      05 84 09 04 a1 01 09 24 a1 00 75 08 95 01 85 0c 05 85 09 66 b1 a2 75 10 85 0d 09 68 b1 a2 05 84 85 0a 09 30 b1 a2
      09 02 a1 02 85 07 75 01 15 00 25 01 05 85 09 d0 b1 a3 09 44 b1 a3 09 45 b1 a3 95 05 b1 01 c0 c0 c0
      """, ["0c 55", "0d b0 04", "0a e2 04", "07 01"])
    let battery = reports.battery()
    #expect(battery.percent == 85)
    #expect(battery.timeToEmpty == .seconds(1_200))
    #expect(battery.millivolts == 12_500)
    #expect(battery.level == .high)
    #expect(battery.charge == .notCharging)
    #expect(reports.values().first { $0.name == "on_battery" }?.content == .flag(false))
  }

  /// An Eaton with a bypass, whose reports come in this order.
  private static let twoInputs =
    """
    05 84 09 04 a1 01 09 16 a1 00 09 1a a1 00 0b 01 00 ff 00 a1 00 85 31 75 10 95 01 15 00 27 ff ff 00 00 67 01 f0 00 00
    55 0f 09 32 b1 83 67 21 d1 f0 00 55 06 09 30 b1 83 c0 0b 02 00 ff 00 a1 00 85 35 67 01 f0 00 00 55 0f 09 32 b1 83
    67 21 d1 f0 00 55 06 09 30 b1 83 c0 c0 09 1c a1 00 85 41 67 01 f0 00 00 55 0f 09 32 b1 83 67 21 d1 f0 00 55 06 09 30
    b1 83 c0 c0 05 84 09 24 a1 00 09 02 a1 00 85 01 65 00 55 00 75 01 95 01 25 01 05 85 09 d0 b1 83 09 44 b1 83 09 45 b1
    83 09 42 b1 83 95 04 b1 01 c0 85 06 75 08 95 01 26 ff 00 09 66 b1 83 c0 c0
    """

  @Test func theBypassIsNotTheInput() {
    let told = ["31 f4 01 a5 08", "35 00 00 00 00", "41 f4 01 fc 08", "01 01", "06 64"]
    for order in [told, told.reversed()] {
      let reports = reports(Self.twoInputs, order)
      #expect(number(reports, "input_voltage") == 221.3)
      #expect(number(reports, "input_frequency") == 50)
      #expect(number(reports, "output_voltage") == 230)
      #expect(reports.battery().percent == 100)
    }
  }

  // MARK: - Neighbours

  /// The number may also stand in the kind of the collection.
  @Test func aCollectionsNumberMayBeItsKind() {
    let descriptor = Self.ups(
      "09 1a a1 82 \(Self.volts("02")) c0", "05 84 09 1a a1 81 \(Self.volts("01")) c0")
    #expect(number(reports(descriptor, ["01 a5 08", "02 00 00"]), "input_voltage") == 221.3)
    // A bypass alone is no input.
    let bypass = reports(Self.ups("09 1a a1 82 \(Self.volts("02")) c0"), ["02 00 00"])
    #expect(!bypass.values().contains { $0.name == "input_voltage" })
  }

  @Test func ofTwoAlikeTheFirstCountsAndALaterReportDoesNot() {
    let inputs = Self.ups(Self.part("1a", Self.volts("01"), Self.volts("03")), Self.part("1a", Self.volts("02")))
    #expect(number(reports(inputs, ["01 a5 08", "02 00 00", "03 00 00"]), "input_voltage") == 221.3)
  }

  @Test func outletsAndTheChargerTellNothingOfTheDevice() {
    let outlets = Self.part("18", Self.part("20", Self.volts("02"), Self.byte("03", "84", "35"), number: 1))
    let descriptor = Self.ups(
      outlets, Self.part("10", Self.part("14", Self.volts("04")), Self.part("12", Self.volts("05"))),
      Self.part("1c", Self.volts("01")))
    let reports = reports(descriptor, ["01 fc 08", "05 f0 00", "02 00 00", "03 00", "04 00 00"])
    #expect(number(reports, "output_voltage") == 230)
    #expect(reports.battery().millivolts == 24_000)
    #expect(!reports.values().contains { $0.name == "load" })
    #expect(!reports.fields.features(with: PowerReports.valueUsages).contains(3))
  }

  @Test func aMakersOnlyOutletIsTheOutput() throws {
    let descriptor = Self.ups(
      Self.part("18", Self.part("20", Self.byte("03", "84", "35"), Self.byte("04", "84", "57"))))
    let quirks = PowerQuirks.of(vendor: 0x09AE, product: 0x3024)
    let reports = reports(descriptor, ["03 11"], quirks)
    #expect(number(reports, "load") == 17)
    #expect(try reports.fields.setting(PowerUsage.delayBeforeShutdown)?.report == 4)
  }

  @Test func theSummaryCountsBeforeBatteryPacks() {
    let packs = Self.part(
      "10", Self.part("12", Self.byte("01", "85", "66"), number: 1),
      Self.part("12", Self.byte("02", "85", "66"), number: 2))
    let summary = Self.part("24", Self.byte("03", "85", "66"))
    #expect(reports(Self.ups(packs, summary), ["03 50", "01 02", "02 00"]).battery().percent == 80)
    // Without a summary the first pack stands for all.
    #expect(reports(Self.ups(packs), ["02 00", "01 28"]).battery().percent == 40)
    // What the summary can't mean is not believed: the battery is asked then.
    #expect(reports(Self.ups(packs, summary), ["03 ff", "01 28"]).battery().percent == 40)
  }

  /// Tripp Lite's summary tells the output's voltage.
  @Test func aBatteryHasItsOwnVoltage() {
    let descriptor = Self.ups(
      Self.part("24", Self.volts("01")), Self.part("10", Self.part("12", Self.volts("02"), Self.volts("03", "40"))))
    let reports = reports(descriptor, ["01 b0 04", "02 88 00", "03 78 00"])
    #expect(reports.battery().millivolts == 13_600)
    #expect(number(reports, "rated_battery_voltage") == 12)
  }

  @Test func aSummaryInTwoPiecesIsOne() {
    let flags = "09 02 a1 02 75 01 95 01 15 00 25 01 85 01 05 85 09 d0"
    let fill = "75 07 95 01"
    let descriptor = Self.ups(
      Self.part("24", "\(flags) b1 a2 \(fill) b1 01 c0"), Self.part("24", "\(flags) 81 a2 \(fill) 81 01 c0"))
    var reports = reports(descriptor, ["01 01"])
    #expect(reports.flag(PowerUsage.acPresent) == true)
    reports.take(.input, HIDSamples.bytes("01 00"))
    #expect(reports.flag(PowerUsage.acPresent) == false)
  }

  // MARK: - Setting

  @Test func theDevicesOwnFieldIsSetAndNotAnOutlets() throws {
    let outlet = Self.part("18", Self.part("20", Self.byte("02", "84", "57"), number: 1))
    let summary = Self.part("24", Self.byte("01", "84", "57"))
    for descriptor in [Self.ups(outlet, summary), Self.ups(summary, outlet)] {
      #expect(try reports(descriptor, []).fields.setting(PowerUsage.delayBeforeShutdown)?.report == 1)
    }
    let alone = #expect(throws: PowerFields.Doubt.self) {
      try reports(Self.ups(outlet), []).fields.setting(PowerUsage.delayBeforeShutdown)
    }
    #expect(alone?.text == "only in the feature report 2, for its outlets or for another part of it")
    #expect(try reports(Self.ups(summary), []).fields.setting(PowerUsage.test) == nil)
  }

  @Test(arguments: [
    // Two reports of one part, two packs, two outputs, and two values in one report.
    ups(part("24", byte("01", "84", "57"), byte("02", "84", "57"))),
    ups(part("1c", byte("01", "84", "57")), part("1c", byte("02", "84", "57"))),
    ups(part("24", "85 01 75 08 95 02 15 00 26 ff 00 09 57 b1 a2")),
    ups(part("16", part("1c", byte("02", "84", "57"))), part("1c", byte("01", "84", "57"))),
  ])
  func whereTwoFieldsCanBeMeantNothingIsSet(_ descriptor: String) {
    let doubt = #expect(throws: PowerFields.Doubt.self) {
      try reports(descriptor, []).fields.setting(PowerUsage.delayBeforeShutdown)
    }
    #expect(doubt?.text.hasSuffix("and which one is meant isn't certain") == true)
  }

  @Test func ofTwoPacksNoneIsTested() {
    let packs = Self.ups(
      Self.part(
        "10", Self.part("12", Self.byte("01", "84", "58"), number: 1),
        Self.part("12", Self.byte("02", "84", "58"), number: 2)))
    #expect(throws: PowerFields.Doubt.self) { try reports(packs, []).fields.setting(PowerUsage.test) }
  }

  // MARK: - What can't be

  /// The flags' range is still there when the charge comes.
  @Test func aRangeThatIsLeftOverCutsNothing() {
    let descriptor = Self.ups(
      Self.part(
        "24", "09 02 a1 02 85 07 75 01 95 08 15 00 25 01 05 85 09 d0 b1 a2 c0",
        "85 0c 75 08 95 01 09 66 b1 a2 85 0d 75 10 09 68 b1 a2"))
    let battery = reports(descriptor, ["07 01", "0c 55", "0d b0 04"]).battery()
    #expect(battery.percent == 85)
    #expect(battery.timeToEmpty == .seconds(1_200))
  }

  @Test func whatCannotBeIsUnknown() {
    let summary = Self.ups(
      Self.part(
        "24", Self.byte("0c", "85", "66"), "85 0d 75 10 27 ff ff 00 00 09 68 b1 a2",
        "05 84 09 02 a1 02 85 07 75 08 25 01 05 85 09 42 b1 a2 85 08 09 46 b1 a2 c0"))
    func battery(_ features: String...) -> BatteryReading { reports(summary, features).battery() }
    #expect(battery("0c ff").percent == nil)
    #expect(battery("0c 65").percent == nil)
    // Full, and empty.
    #expect(battery("0c 00", "08 01").percent == nil)
    #expect(battery("0c 00", "08 00").level == .critical)
    // A time of zero counts with a low battery only.
    #expect(battery("0c 50", "0d 00 00").timeToEmpty == nil)
    #expect(battery("0c 50", "0d 00 00", "07 01").timeToEmpty == .zero)
    #expect(battery("0c 08", "0d 00 00").timeToEmpty == .zero)
    #expect(battery("0c 50", "0d ff ff").timeToEmpty == nil)
    // A flag of one byte.
    #expect(battery("0c 50", "07 01").level == .low)
    #expect(battery("0c 50", "07 80").level == .high)
  }

  @Test(
    arguments: [
      ("65 00", "19 00", 25_000), ("65 00", "2a 01", 24_850), ("65 00", "a5 0b", 24_950),
      ("67 01 00 01 00", "2a 01", 24_850),
      ("67 01 00 01 00", "19 00", 25_000), ("65 00", "ff ff", nil), ("65 00", "f4 01", nil),
    ] as [(String, String, Int?)])
  func temperaturesAreInTheUnitThatTheyCanBeIn(_ unit: String, _ value: String, millidegrees: Int?) {
    let descriptor = Self.ups(Self.part("12", "85 01 75 10 95 01 15 00 27 ff ff 00 00 \(unit) 09 36 b1 a2"))
    #expect(reports(descriptor, ["01 \(value)"]).battery().temperatures.first?.millidegrees == millidegrees)
  }
}
