// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDiscovery
import AccessoryFamilies
import AccessoryProtocols
import AccessoryTesting
import Glibc
import TestSupport
import Testing

@testable import AccessoryDrivers
@testable import AccessoryExport
@testable import FamilyHIDPower

/// What UPSs are in NUT's words, for every state that NUT's drivers tell apart.
///
/// `Tests/Peers/UPS` has the words in files, and a script there has Debian's drivers say theirs for the same states. With
/// ACCESSORY_BRIDGE_GOLDENS=renew the files are written anew.
@Suite struct NUTWordsTests {
  private static let folder = "Tests/Peers/UPS/"

  private func words(_ battery: BatteryReading, _ values: [AccessoryValue]) -> String {
    let device = Device(id: "U1", path: "/dev/pts/7", source: .simulator)
    var accessory = ExportedAccessory(MirroredAccessory(service: "s", device: device), id: "U1", name: "U1")
    (accessory.battery, accessory.values) = (battery, ValuesReading(values, at: MonotonicTime(nanoseconds: 0)))
    return UPSStatus(accessory, isUPS: true).text
  }

  /// The file's text: each combination of words with its states, in the order in which they come.
  private func table(_ title: String, _ said: [(state: String, words: String)]) -> String {
    var states: [String: [String]] = [:]
    for (state, words) in said { states[words, default: []].append(state) }
    let lines = states.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value.joined(separator: " "))\n" }
    return "# \(title)\n" + lines.joined()
  }

  private func check(_ file: String, _ text: String) throws {
    if let word = getenv("ACCESSORY_BRIDGE_GOLDENS"), String(cString: word) == "renew" {
      try Page.write(text, to: Self.folder + file)
    }
    let kept = try Page(Self.folder + file).lines.joined(separator: "\n")
    #expect(kept == text, "the words for some state have changed")
  }

  // MARK: - HID

  @Test func everyCombinationOfFlagsHasItsWords() throws {
    var text = ""
    for line in try Page(Self.folder + "states.txt").lines where !line.isEmpty && line.first != "#" {
      let parts = line.split(separator: " ").map(String.init)
      let ids = parts[1].split(separator: ":").compactMap { UInt16($0, radix: 16) }
      let quirks = PowerQuirks.of(vendor: ids[0], product: ids[1])
      let descriptor = HIDReportDescriptor(HIDSamples.bytes(parts[2]))
      let said = (0..<1 << (parts.count - 3)).map { state -> (String, String) in
        var reports = PowerReports(descriptor, quirks)
        reports.take(.feature, [1, UInt8(state & 0xFF), UInt8(state >> 8)])
        reports.take(.feature, [2, 60])
        return (String(state, radix: 16), words(reports.battery(), reports.values()))
      }
      text += table(parts[0], said)
    }
    try check("ours-hid.txt", text)
  }

  /// A test that is in progress isn't an outage, but the end that a UPS announces is believed.
  @Test(arguments: [
    ("01", "05", "OL DISCHRG LB CAL"), ("00", "05", "OB DISCHRG LB CAL"), ("00", "06", "OB DISCHRG LB"),
    ("02", "05", "ALARM OB DISCHRG LB"),
  ])
  func aTestOfTheBatteryIsCalibration(_ flags: String, _ test: String, _ expected: String) {
    // ACPresent, ShutdownImminent, Discharging and BelowRemainingCapacityLimit, and Test in report 3.
    let descriptor = HIDReportDescriptor(
      HIDSamples.bytes(
        """
        05 84 09 04 a1 01 09 24 a1 00 85 01 15 00 25 01 75 01 95 01 05 85 09 d0 b1 a2 05 84 09 69 b1 a2 05 85 09 45 b1 a2
        09 42 b1 a2 95 04 b1 01 95 01 85 03 75 08 25 06 05 84 09 58 b1 a2 c0 c0
        """))
    var reports = PowerReports(descriptor)
    let bits = (UInt8(flags, radix: 16) ?? 0) | 0x0C
    reports.take(.feature, [1, bits])
    reports.take(.feature, [3, UInt8(test, radix: 16) ?? 0])
    #expect(words(reports.battery(), reports.values()) == expected)
  }

  // MARK: - Limits

  /// The descriptor of a small UPS: charge in report 12, time to empty in 13, flags in 7, and a limit in 17.
  private func small(limit usage: String, size: String) -> HIDReportDescriptor {
    HIDReportDescriptor(
      HIDSamples.bytes(
        """
        05 84 09 04 a1 01 09 24 a1 00 05 85 15 00 26 ff 00 75 08 95 01 85 0c 09 66 b1 a2 27 ff ff 00 00 75 10
        66 01 10 55 00 85 0d 09 68 b1 a2 85 11 09 \(usage) 75 \(size) b1 a2 65 00 85 07 25 01 75 01 09 d0 b1 a2 09 45 b1 a2
        95 06 b1 01 c0 c0
        """))
  }

  private func variables(_ descriptor: HIDReportDescriptor, _ texts: String...) -> UPSVariables {
    var reports = PowerReports(descriptor)
    for text in texts { reports.take(.feature, HIDSamples.bytes(text)) }
    let device = Device(id: "U1", path: "/dev/hidraw0", source: .simulator)
    var accessory = ExportedAccessory(MirroredAccessory(service: "s", device: device), id: "U1", name: "U1")
    accessory.battery = reports.battery()
    accessory.values = ValuesReading(reports.values(), at: MonotonicTime(nanoseconds: 0))
    return UPSVariables(accessory, isUPS: true, version: "1")
  }

  @Test(arguments: [("12", "10", "OB DISCHRG"), ("0a", "10", "OB DISCHRG LB"), ("12", "30", "OB DISCHRG LB")])
  func theLimitOfTheUPSCounts(_ charge: String, _ limit: String, _ status: String) {
    let number = UInt8(limit) ?? 0
    let told = variables(small(limit: "29", size: "08"), "0c \(charge)", "0d 10 27", "07 02", "11 " + hex(number))
    #expect(told["ups.status"]?.value == status)
    #expect(told["battery.charge.low"]?.value == limit)
    #expect(told["battery.runtime.low"] == nil)
  }

  @Test func theTimeThatIsLeftCounts() {
    let descriptor = small(limit: "2a", size: "10")
    let low = variables(descriptor, "0c 50", "0d 3c 00", "07 02", "11 78 00")
    #expect(low["ups.status"]?.value == "OB DISCHRG LB")
    #expect(low["battery.runtime.low"]?.value == "120")
    #expect(low["battery.charge.low"] == nil)
    // 15 % are enough for as long as the UPS has time.
    #expect(variables(descriptor, "0c 0f", "0d 10 27", "07 02", "11 78 00")["ups.status"]?.value == "OB DISCHRG")
    // A limit of nothing is none, and neither is "unknown".
    for limit in ["11 00 00", "11 ff ff"] {
      let none = variables(descriptor, "0c 0f", "0d 10 27", "07 02", limit)
      #expect(none["ups.status"]?.value == "OB DISCHRG LB")
      #expect(none["battery.charge.low"]?.value == "20")
      #expect(none["battery.runtime.low"] == nil)
    }
  }

  /// A UPS that tells its capacity in milliampere hours tells its limit so, too.
  @Test func aLimitInAmpereHoursIsAPercentage() {
    let descriptor = HIDReportDescriptor(
      HIDSamples.bytes(
        """
        05 84 09 04 a1 01 09 24 a1 00 05 85 15 00 27 ff ff 00 00 75 10 95 01 85 01 09 66 b1 a2 09 67 b1 a2 09 29 b1 a2
        75 08 09 2c b1 a2 25 01 75 01 09 d0 b1 a2 95 07 b1 01 c0 c0
        """))
    // 1,400 of 7,000 mAh, and low from 2,100 mAh on.
    #expect(variables(descriptor, "01 78 05 58 1b 34 08 00 00")["battery.charge.low"]?.value == "30")
    #expect(variables(descriptor, "01 78 05 58 1b 34 08 00 00")["ups.status"]?.value == "OB LB")
  }

  private func hex(_ byte: UInt8) -> String { (byte < 16 ? "0" : "") + String(byte, radix: 16) }

  // MARK: - Megatec

  /// The words for a line of text from a UPS.
  private func said(_ line: String, request: String = "status") throws -> String {
    let description = try #require(DescriptionLibrary.builtIn.described("megatec")).description
    var latest = LatestValues(description)
    let decoder = MessageDecoder(try DescribedCodec(description))
    var codec = try DescribedCodec(description)
    var batch = FrameBatch<DescribedHeader>()
    codec.decode(Array(line.utf8).span.bytes, into: &batch)
    let reply = try #require(description.requests.first { $0.name == request }?.reply)
    latest.take(
      decoder.decode(reply, batch.header(at: 0), batch.payloadBytes(at: 0).span.bytes, known: [:]),
      at: MonotonicTime(nanoseconds: 0))
    let (reported, derived) = latest.values(now: MonotonicTime(nanoseconds: 0))
    return words(
      BatteryReading(described: reported, derived: derived), AccessoryValue.all(described: reported, derived: derived))
  }

  private func bits(_ state: Int, _ count: Int = 8) -> String {
    let digits = String(state, radix: 2)
    return String(repeating: "0", count: count - digits.count) + digits
  }

  @Test func everyByteOfMegatecHasItsWords() throws {
    var text = ""
    for output in ["226.0", "100.0", "200.0", "250.0", "350.0"] {
      let states = (0..<256).map { state in
        (String(state, radix: 16), "(226.0 195.0 \(output) 014 50.0 24.9 25.0 \(bits(state))\r")
      }
      text += table("226.0 V in, \(output) V out", try states.map { ($0.0, try said($0.1)) })
    }
    try check("ours-megatec.txt", text)
  }

  /// The other dialect has the same bits, in other places.
  @Test func theExtendedStatusSaysTheSame() throws {
    for state in 0..<256 {
      // Bits 7 to 4, one that nobody knows, then 2 to 0.
      let digits = bits(state)
      let extended = "00" + digits.prefix(4) + "0" + digits.suffix(3) + "01"
      let line = "(226.0 50.0 226.0 50.0 000.0 014 369.1 ---.- 024.9 ---.- 025.0 \(extended)\r"
      #expect(try said(line, request: "extended") == said("(226.0 195.0 226.0 014 50.0 24.9 25.0 \(digits)\r"))
    }
  }
}
