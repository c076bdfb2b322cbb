// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import TestSupport
import Testing

@testable import AccessoryDescriptions
@testable import AccessoryProtocols

/// Numbers and texts at fixed places of a text, without blanks between them.
@Suite struct FixedWidthTests {
  private typealias Column = ProtocolDescription.Column

  private static let columns: ProtocolDescription.Columns = {
    func tenths(_ name: String) -> ProtocolDescription.Field {
      var field = ProtocolDescription.Field(name, .decimal(suffix: ""))
      (field.formula, field.dashesMeanUnknown) = (.scaled(over: 10), true)
      return field
    }
    var hex = ProtocolDescription.Field("code", .hexadecimal)
    hex.form = .init(digits: 4, decimals: 0)
    return .init(
      .places,
      [
        Column(0, count: 4, tenths("volts")), Column(4, count: 4, tenths("degrees")), Column(8, count: 4, hex),
        Column(12, count: 6, .init("name", .plainText)), Column(18, count: 3, isOptional: true, tenths("more")),
      ])
  }()

  private func read(_ text: String) -> DecodedMessage {
    var decoding = Decoding(0, [:])
    decoding.readColumns(Self.columns, of: Array(text.utf8))
    return decoding.result
  }

  private func write(_ values: [String: PlainValue]) -> String {
    String(decoding: TextWriting.columns(Self.columns, values), as: UTF8.self)
  }

  @Test func fixedWidthFieldsAreWrittenAsTheyWereRead() {
    let text = "2305-0501F0Aab    "
    let message = read(text)
    #expect(message["volts"]?.value == .number(230.5) && message["degrees"]?.value == .number(-5))
    #expect(message["code"]?.value == .whole(0x1F0A) && message["name"]?.value == .text("ab"))
    #expect(message["more"] == nil && message.problemCount == 0)
    #expect(write(Dictionary(uniqueKeysWithValues: message.values.map { ($0.name, $0.value) })) == text)
  }

  /// Zeros in front of a number, blanks behind a text, dashes for what nobody knows; a text that is too long is cut.
  @Test func valuesAreFilledUpToTheirFieldsWidth() {
    let text = write(["volts": .number(1.5), "degrees": .nothing, "code": .whole(7), "name": .text("abcdefgh")])
    #expect(text == "0015----0007abcdef")
    let message = read(text)
    #expect(
      message["volts"]?.value == .number(1.5) && message["degrees"]?.value == .nothing && message.problemCount == 0)
  }

  /// Where the text ends in the middle of a number, that isn't a smaller number; a text is only shorter.
  @Test func aNumberThatIsCutIsUnknown() {
    let number = read("2305-0501F")
    #expect(number["code"]?.value == .nothing && number["name"]?.value == .nothing && number.problemCount == 2)
    let text = read("2305-0501F0Aab")
    #expect(text["name"]?.value == .text("ab") && text.problemCount == 0)
    #expect(read("2305-0501F0Aabcdef12")["more"] == nil, "of an optional one nothing is left")
  }

  /// Digits of a number's bytes, in their order and with their sign.
  @Test(
    arguments: [
      ("39 4B", 2, .bigEndian, .unsigned, 0x394B), ("394b", 2, .bigEndian, .unsigned, 0x394B),
      ("9CFF", 2, .littleEndian, .signed, -100), ("8001", 2, .bigEndian, .signMagnitude, -1),
      ("394", 2, .bigEndian, .unsigned, nil), ("39 4", 2, .bigEndian, .unsigned, nil),
      ("3G", 1, .bigEndian, .unsigned, nil),
      ("", 1, .bigEndian, .unsigned, nil),
    ] as [(String, Int, ByteOrder, ProtocolDescription.NumberFormat.Encoding, Int?)])
  func hexadecimalDigitsAreReadAndWrittenAsBytes(
    text: String, count: Int, order: ByteOrder, encoding: ProtocolDescription.NumberFormat.Encoding, number: Int?
  ) {
    let field = ProtocolDescription.Field(
      "a", .hexadecimalBytes(.init(byteCount: count, order: order, encoding: encoding)))
    let read = field.meaning(ofText: Array(text.utf8))
    #expect(read?.value == number.map { .whole($0) } && read?.raw == number)
    guard let number else { return }
    let written = String(decoding: TextWriting.text(field, .whole(number)), as: UTF8.self)
    #expect(written == text.uppercased().filter { $0 != " " })
  }

  /// Firmware differs in whether the unit is behind a number. One that is converted has another unit where it is sent.
  @Test(
    arguments: [
      ("12.4", 12.4), ("12.4V", 12.4), ("12.4 V", 12.4), ("12.4A", nil), ("V", nil), ("12.4VV", nil),
    ] as [(String, Double?)])
  func aNumberMayHaveItsUnit(text: String, number: Double?) {
    var field = ProtocolDescription.Field("a", .decimal(suffix: ""))
    field.unit = "V"
    #expect(field.meaning(ofText: Array(text.utf8))?.value == number.map { .number($0) })
    #expect(String(decoding: TextWriting.text(field, .number(12.4)), as: UTF8.self) == "12.4")
    field.formula = .scaled(over: 1_000)
    if text != "12.4" { #expect(field.meaning(ofText: Array(text.utf8)) == nil) }
  }

  /// UPSs fill what they don't measure with dashes or with "@".
  @Test(
    arguments: [
      ("--.-", true), ("---", true), ("@@.@", true), ("@@@", true), ("-@.-", false), ("..", false), ("", false),
      ("-1.0", false),
    ])
  func dashesStandForWhatIsNotMeasured(text: String, isUnknown: Bool) {
    var field = ProtocolDescription.Field("a", .decimal(suffix: ""))
    field.dashesMeanUnknown = true
    #expect((field.meaning(ofText: Array(text.utf8))?.value == .nothing) == isUnknown)
  }
}
