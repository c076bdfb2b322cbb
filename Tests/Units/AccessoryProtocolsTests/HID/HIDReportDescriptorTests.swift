// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols
import TestSupport
import Testing

@Suite struct HIDReportDescriptorTests {
  /// A usage of the page of power devices, and one of that of batteries.
  private static func power(_ id: UInt16) -> HIDUsage { HIDUsage(page: 0x84, id: id) }
  private static func battery(_ id: UInt16) -> HIDUsage { HIDUsage(page: 0x85, id: id) }

  /// The bytes of a text in hexadecimal with spaces.
  private static func bytes(_ text: String) -> [UInt8] {
    Hexadecimal.bytes(text.filter { !$0.isWhitespace }) ?? []
  }

  /// A descriptor of one input report with one value of `width` bits behind `offset` bits that nothing uses.
  private func value(_ report: String, offset: UInt8, width: UInt8, _ logical: ClosedRange<Int32>) -> Int64? {
    func item(_ prefix: UInt8, _ value: Int32) -> [UInt8] {
      [prefix | 3] + (0..<4).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }
    var text: [UInt8] = [0x05, 0x84, 0x09, 0x04, 0xA1, 0x01]
    if offset > 0 { text += [0x75, 1, 0x95, offset, 0x81, 0x03] }
    text += item(0x14, logical.lowerBound) + item(0x24, logical.upperBound)
    text += [0x75, width, 0x95, 1, 0x09, 0x30, 0x81, 0x02, 0xC0]
    let descriptor = HIDReportDescriptor(text)
    #expect(descriptor.damage == nil)
    #expect(descriptor.fields.count == 1)
    return descriptor.fields.first?.value(in: Self.bytes(report))
  }

  /// A vector of NUT's getvaluetest, by its number there: the report, the field's place, its range, and its value.
  struct Vector: Sendable, CustomStringConvertible {
    let number: Int
    let report: String
    let offset, width: UInt8
    let maximum: Int32
    let value: Int64
    var description: String { "#\(number)" }

    init(_ number: Int, _ report: String, _ offset: UInt8, _ width: UInt8, _ maximum: Int32, _ value: Int64) {
      (self.number, self.report, self.offset, self.width) = (number, report, offset, width)
      (self.maximum, self.value) = (maximum, value)
    }
  }

  static let vectors: [Vector] =
    [
      Vector(1, "00 ff ff ff ff", 0, 32, 2_147_483_647, -1), Vector(2, "00 ff", 0, 8, 127, -1),
      Vector(3, "00 ff", 0, 8, 127, 127), Vector(4, "00 ff", 0, 8, 255, 255), Vector(5, "13 14", 0, 8, 255, 20),
      Vector(6, "0f 17 09", 0, 16, 65_535, 2_327), Vector(7, "33 00 0a 08 80", 0, 32, 65_535, 2_560),
      Vector(8, "00 00 08 00 00", 0, 32, 65_535, 2_048), Vector(9, "06 00 00 08", 0, 8, 255, 0),
      Vector(10, "06 00 00 08", 8, 8, 255, 0), Vector(11, "06 00 00 08", 16, 8, 255, 8),
      // Its usage prints one more.
      Vector(0, "0c 64 11 0d", 8, 16, 65_535, 3_345),
    ]
    // The bits of one report, of which the third and the fourth are set.
    + (UInt8(0)...10).map { bit in
      Vector(12 + Int(bit), "16 0c 00 00 00", bit, 1, 1, bit == 2 || bit == 3 ? 1 : 0)
    }

  @Test(arguments: vectors) func valuesAreThoseOfNUTsVectors(_ vector: Vector) {
    // The first two are signed.
    let minimum: Int32 = [1, 2].contains(vector.number) ? -1 : 0
    #expect(
      value(vector.report, offset: vector.offset, width: vector.width, minimum...vector.maximum) == vector.value)
  }

  /// As Eaton's 9PX: what stands behind the cut, here the power summary, isn't there; what stands before it is read.
  @Test func aDescriptorOf4703BytesCutTo1156IsReadAsFarAsItGoes() {
    var text = Self.bytes("05 84 09 04 a1 01 09 10 a1 00 75 08 95 01 15 00 26 ff 00")
    // A battery pack each, with a page of the maker's between; 22 bytes.
    while text.count + 22 <= 4_670 {
      text += Self.bytes(
        "09 12 a1 00 85 \(Self.hex(UInt8(text.count / 22 % 255 + 1))) 09 30 b1 82 06 ff ff 09 90 b1 82 05 84 c0")
    }
    let summary = Self.bytes("c0 09 24 a1 00 85 ff 05 85 09 66 b1 82 c0 c0")
    // Items without a meaning fill it up to the length.
    text += Self.filling(4_703 - text.count - summary.count) + summary
    #expect(text.count == 4_703)
    let whole = HIDReportDescriptor(text)
    #expect(whole.damage == nil)
    #expect(whole.fields.contains { $0.usage == Self.battery(0x66) })
    let cut = HIDReportDescriptor(text.prefix(1_156))
    #expect(cut.damage != nil)
    #expect(cut.fields.count > 50 && cut.fields.count < whole.fields.count)
    #expect(Array(whole.fields.prefix(cut.fields.count)) == cut.fields)
    #expect(!cut.fields.contains { $0.usage == Self.battery(0x66) })
  }

  /// Usage minimums, of two bytes each, or of three.
  private static func filling(_ count: Int) -> [UInt8] {
    let odd: [UInt8] = count % 2 == 1 ? [0x1A, 0, 0] : []
    return odd + (0..<((count - odd.count) / 2)).flatMap { _ -> [UInt8] in [0x19, 0] }
  }

  private static func hex(_ byte: UInt8) -> String { (byte < 16 ? "0" : "") + String(byte, radix: 16) }

  @Test func aReportThatIsTooShortHasNoValue() {
    #expect(value("0c 64 11", offset: 8, width: 16, 0...65_535) == nil)
    #expect(value("", offset: 0, width: 8, 0...255) == nil)
  }

  private static let cyberPower = HIDReportDescriptor(HIDSamples.cyberPower)

  @Test func cyberPowersDescriptorIsReadWhole() throws {
    let descriptor = Self.cyberPower
    #expect(descriptor.damage == nil)
    #expect(descriptor.hasNumberedReports)
    #expect(descriptor.applications == [Self.power(0x04)])
    #expect(descriptor.byteCount(of: .init(kind: .feature, number: 8)) == 6)
    #expect(descriptor.byteCount(of: .init(kind: .input, number: 11)) == 2)
    #expect(descriptor.byteCount(of: .init(kind: .output, number: 8)) == nil)

    // The values that NUT prints of this report, in its issue 439.
    let report = Self.bytes("08 64 27 09 2c 01")
    let summary = [Self.power(0x04), Self.power(0x24)]
    let charge = try #require(descriptor.field(.feature, summary + [Self.battery(0x66)]))
    #expect(charge.value(in: report) == 100)
    let runtime = try #require(descriptor.field(.input, summary + [Self.battery(0x68)]))
    #expect((runtime.report, runtime.offset, runtime.width, runtime.unit) == (8, 8, 16, .second))
    #expect(runtime.value(in: report) == 2_343)
    let limit = try #require(descriptor.field(.feature, summary + [Self.battery(0x2A)]))
    #expect(limit.value(in: report) == 300)

    // Bits of one byte, in the order of their usages.
    let status = summary + [Self.power(0x02)]
    let flags: [(UInt16, Int64)] = [(0xD0, 1), (0x44, 0), (0x45, 0), (0x42, 0), (0x46, 1), (0x43, 0)]
    for (id, expected) in flags {
      let field = try #require(descriptor.field(.input, status + [Self.battery(id)]))
      #expect(field.value(in: [0x0B, 0x11]) == expected)
    }
  }

  @Test func amountsAreInTheirUnits() throws {
    let summary = [Self.power(0x04), Self.power(0x24)]
    let voltage = try #require(Self.cyberPower.field(.feature, summary + [Self.power(0x30)]))
    #expect(voltage.unit == .volt)
    #expect(voltage.amount(273) == 27.3)
    let input = try #require(Self.cyberPower.field(.feature, [Self.power(0x04), Self.power(0x1A), Self.power(0x30)]))
    #expect(input.amount(230) == 230)
    // A physical range: the device counts minutes, and says seconds.
    let delay = try #require(Self.cyberPower.field(.feature, [Self.power(0x04), Self.power(0x1C), Self.power(0x57)]))
    #expect(delay.logical == -1...32_767)
    #expect(delay.amount(-1) == -60)
    #expect(delay.amount(2) == 120)
    #expect(delay.number(for: 120) == 2)
    // Rather later than sooner.
    #expect(delay.number(for: 61) == 2)
    #expect(delay.number(for: 1e9) == nil)
    let power = try #require(Self.cyberPower.field(.feature, [Self.power(0x04), Self.power(0x1C), Self.power(0x44)]))
    #expect(power.number(for: 450) == 450)
    #expect(voltage.number(for: 24.3) == 243)
    // Its byte ends at 255.
    #expect(voltage.number(for: 27.3) == nil)
    #expect(power.unit == .watt)
    #expect(power.amount(450) == 450)
  }

  @Test func writingChangesOneFieldOnly() throws {
    let field = try #require(
      Self.cyberPower.field(.feature, [Self.power(0x04), Self.power(0x24), Self.battery(0x68)]))
    var report: [UInt8] = [8, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]
    let isPut = field.put(0x0102, into: &report)
    #expect(isPut)
    #expect(report == [8, 0xFF, 0x02, 0x01, 0xFF, 0xFF])
    #expect(field.value(in: report) == 0x0102)
    let isTooMuchPut = field.put(65_536, into: &report)
    #expect(!isTooMuchPut)
    var short: [UInt8] = [8, 0]
    let isShortPut = field.put(1, into: &short)
    #expect(!isShortPut)
    #expect(short == [8, 0])
  }

  /// What makers write for 255 and 65535 in items that are too short.
  @Test func aMaximumBelowTheMinimumHasNoSign() {
    for (text, expected) in [("25 ff", 255), ("26 ff ff", 65_535), ("27 ff ff ff ff", 4_294_967_295)]
      as [(String, Int64)]
    {
      let descriptor = HIDReportDescriptor(Self.bytes("05 84 09 04 a1 01 15 00 \(text) 75 20 95 01 09 30 81 02 c0"))
      #expect(descriptor.fields.first?.logical == 0...expected)
    }
  }

  /// What a field of these items says with a report of `size` bits.
  private func field(_ items: String, size: String, _ report: String) -> (field: HIDReportField, value: Int64?)? {
    let descriptor = HIDReportDescriptor(Self.bytes("05 84 09 04 a1 01 \(items) 75 \(size) 95 01 09 30 81 02 c0"))
    #expect(descriptor.damage == nil)
    return descriptor.fields.first.map { ($0, $0.value(in: Self.bytes(report))) }
  }

  @Test(
    arguments: [
      // No range, a minimum alone, and a maximum below the minimum whatever its sign.
      ("", "08", "00 55", 0...255, 85), ("15 00", "10", "00 58 02", 0...65_535, 600),
      ("15 ff", "08", "00 ff", -128...127, -1), ("15 0a 25 05", "08", "00 55", 0...255, 85),
      ("", "20", "00 ff ff ff ff", 0...4_294_967_295, 4_294_967_295), ("", "01", "00 01", 0...1, 1),
      // A range that is left over from smaller values, or from signed ones.
      ("15 00 25 01", "08", "00 55", 0...1, 85), ("15 00 25 00", "08", "00 55", 0...0, 85),
      ("15 00 26 ff 00", "10", "00 b0 04", 0...255, 1_200), ("15 00 25 ff", "10", "00 b0 04", 0...255, 1_200),
      ("16 ff ff 26 ff 7f", "08", "00 c8", -1...32_767, 200), ("16 ff ff 26 ff 7f", "08", "00 ff", -1...32_767, -1),
      // Signed values, and what stands above them.
      ("16 ff ff 26 ff 7f", "20", "00 ff ff 00 00", -1...32_767, -1), ("15 81 25 7f", "08", "00 80", -127...127, -128),
      ("26 ff 7f 15 00", "10", "00 ff ff", 0...32_767, 32_767),
    ] as [(String, String, String, ClosedRange<Int64>, Int64)])
  func aFieldHasTheRangeThatIsSaidOrThatOfItsSize(
    _ items: String, size: String, report: String, range: ClosedRange<Int64>, value: Int64
  ) {
    let told = field(items, size: size, report)
    #expect(told?.field.logical == range)
    #expect(told?.value == value)
  }

  /// Without both of its ends, with one number, and beside a logical range that isn't said, there is no physical range.
  @Test(arguments: [
    ("15 00 25 64 35 00 46 e8 03", 500), ("15 00 25 64 46 e8 03", 50), ("15 00 25 64 35 05 45 05", 50),
    ("15 00 25 64 35 0a 45 05", 50), ("35 00 46 e8 03", 50), ("15 00 25 64 35 00 45 00", 50),
  ])
  func aPhysicalRangeNeedsBothEnds(_ items: String, amount: Double) {
    #expect(field(items, size: "08", "00 32")?.field.amount(50) == amount)
  }

  @Test func aCollectionsNumberFollowsIt() {
    for text in ["09 1a a1 00 0b 02 00 ff 00 a1 00 09 30 81 02 c0 c0", "09 1a a1 82 09 30 81 02 c0"] {
      let descriptor = HIDReportDescriptor(Self.bytes("05 84 09 04 a1 01 75 08 95 01 \(text) 09 35 81 02 c0"))
      #expect(descriptor.damage == nil)
      #expect(
        descriptor.fields.map(\.path) == [
          [Self.power(0x04), Self.power(0x1A), HIDUsage(page: 0xFF, id: 2), Self.power(0x30)],
          [Self.power(0x04), Self.power(0x35)],
        ])
    }
  }

  /// Some makers forget the bit "variable"; an array of one usage would say nothing.
  @Test func aSingleValueOfASingleUsageIsNoArray() {
    let descriptor = HIDReportDescriptor(Self.bytes("05 84 a1 01 75 08 95 01 09 30 b1 20 19 60 29 62 b1 20 c0"))
    #expect(descriptor.fields.map(\.usage.id) == [0x30])
  }

  @Test func exponentsAreFourBitsWithASignOrAByte() {
    for (byte, expected) in [("05", 5), ("0e", -2), ("0f", -1), ("08", -8), ("fe", -2)] {
      let descriptor = HIDReportDescriptor(Self.bytes("05 84 a1 01 55 \(byte) 75 08 95 01 09 30 81 02 c0"))
      #expect(descriptor.fields.first?.exponent == expected)
    }
  }

  @Test func oneUsageServesAllValuesAndRangesServeOneEach() {
    let one = HIDReportDescriptor(Self.bytes("05 84 a1 01 75 08 95 03 09 30 81 02 c0"))
    #expect(one.fields.map(\.usage.id) == [0x30, 0x30, 0x30])
    #expect(one.fields.map(\.offset) == [0, 8, 16])
    let range = HIDReportDescriptor(Self.bytes("05 84 a1 01 75 01 95 03 19 60 29 62 81 02 c0"))
    #expect(range.fields.map(\.usage.id) == [0x60, 0x61, 0x62])
    // Of alternatives the first counts, and a usage of four bytes has its page.
    let other = HIDReportDescriptor(Self.bytes("05 84 a1 01 75 08 95 01 a9 01 0b 66 00 85 00 09 30 a9 00 81 02 c0"))
    #expect(other.fields.map(\.usage) == [Self.battery(0x66)])
  }

  @Test func pushAndPopKeepTheGlobalItems() {
    let descriptor = HIDReportDescriptor(
      Self.bytes("05 84 a1 01 75 08 95 01 a4 05 85 75 10 09 66 81 02 b4 09 30 81 02 c0"))
    #expect(descriptor.fields.map(\.usage) == [Self.battery(0x66), Self.power(0x30)])
    #expect(descriptor.fields.map(\.width) == [16, 8])
  }

  @Test func aDescriptorThatIsCutAnywhereKeepsWhatIsWhole() {
    let text = Self.bytes(
      "05 84 09 04 a1 01 09 24 a1 00 85 01 75 08 95 01 25 64 05 85 09 66 81 a2 09 68 75 10 81 a2 c0 c0")
    let whole = HIDReportDescriptor(text)
    #expect(whole.damage == nil)
    #expect(whole.fields.count == 2)
    for count in 0..<text.count {
      let cut = HIDReportDescriptor(text.prefix(count))
      #expect(cut.damage != nil, "cut at \(count)")
      #expect(Array(whole.fields.prefix(cut.fields.count)) == cut.fields)
    }
    #expect(HIDReportDescriptor(text.dropLast(2)).damage == "it ends inside a collection")
    #expect(HIDReportDescriptor(text.prefix(5)).damage == "it ends in the item at byte 4")
  }

  @Test(arguments: [
    // Four billion values of four billion bits, in one report and in many steps.
    ("75 ff 97 ff ff ff ff 81 02", "byte 7: report 0 has more than 16384 bytes: 4294967295 values of 255 bits"),
    (
      "77 ff ff ff ff 97 ff ff ff ff 81 03",
      "byte 10: report 0 has more than 16384 bytes: 4294967295 values of 4294967295 bits"
    ),
    ("75 01 96 ff ff 09 30 81 02", "byte 7: more than 4096 values"),
    ("b4", "byte 0: a Pop without a Push"), ("c0", "byte 0: the end of a collection that wasn't begun"),
    ("85 00", "byte 0: a report of the number 0"), ("86 00 01", "byte 0: a report of the number 256"),
    ("0c", "byte 0: an item of the reserved kind"), ("fe 05 00", "it ends in the item at byte 0"),
  ])
  func nonsenseIsAnErrorWithItsPlace(_ text: String, damage: String) {
    let descriptor = HIDReportDescriptor(Self.bytes(text))
    #expect(descriptor.damage == damage)
    #expect(descriptor.fields.count <= HIDReportDescriptor.fieldLimit)
  }

  @Test func depthIsLimited() {
    #expect(HIDReportDescriptor([UInt8](repeating: 0xA0, count: 70)).damage?.contains("64 collections") == true)
    #expect(HIDReportDescriptor([UInt8](repeating: 0xA4, count: 70)).damage?.contains("64 items Push") == true)
  }

  @Test func keyboardsHaveNoValues() {
    // The keys of the boot keyboard are an array of usages (HID 1.11, appendix E.6); its modifiers are values.
    let descriptor = HIDReportDescriptor(
      Self.bytes(
        "05 01 09 06 a1 01 05 07 19 e0 29 e7 15 00 25 01 75 01 95 08 81 02 95 01 75 08 81 01 95 06 75 08 15 00 25 65"
          + "05 07 19 00 29 65 81 00 c0"))
    #expect(descriptor.damage == nil)
    #expect(descriptor.fields.count == 8)
    #expect(descriptor.byteCount(of: .init(kind: .input, number: 0)) == 9)
  }
}
