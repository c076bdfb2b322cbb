// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryProtocols
import Testing

@testable import AccessoryDescriptions
@testable import AccessoryDrivers

/// What descriptions mean, part by part.
@Suite struct DescriptionReaderTests {
  typealias Description = ProtocolDescription

  private func read(_ text: String) throws(ProfileProblems) -> Description {
    try DescriptionReader.read(Array(text.utf8), file: "f.yaml").description
  }

  /// A description whose one framing has this layout.
  private func layout(_ elements: String, _ rest: String = "") throws -> Description.Form {
    let text = "protocol: x\nversion: 1\nframings: {f: {layout: \(elements)\(rest)}}"
    return try #require(try read(text).framings.first).form
  }

  /// The fields of a message of bytes.
  private func steps(_ fields: String) throws -> [Description.Step] {
    let text = """
      protocol: x
      version: 1
      framings: {f: {layout: [start: DD, length: {type: u8, of: data}, data]}}
      messages: {m: {fields: \(fields)}}
      """
    guard case .fields(let steps) = try #require(try read(text).messages.first).body else { return [] }
    return steps
  }

  /// The body of a message in lines of text.
  private func lines(_ message: String) throws -> Description.Body {
    let text = """
      protocol: x
      version: 1
      framings: {f: {layout: [data, end: "\\r"]}}
      messages: {m: {\(message)}}
      """
    return try #require(try read(text).messages.first).body
  }

  private func field(
    _ name: String, _ type: Description.FieldType, _ change: (inout Description.Field) -> Void = { _ in }
  ) -> Description.Field {
    var field = Description.Field(name, type)
    change(&field)
    return field
  }

  private let u8 = Description.NumberFormat(byteCount: 1)
  private let u16 = Description.NumberFormat(byteCount: 2)

  // MARK: - The head and the line

  @Test func aDescriptionsHeadIsRead() throws {
    let text = """
      protocol: my-gadget.2
      version: 1
      description: The one on the desk
      byte_order: little
      line: {baud: 9600, parity: even, dtr: on, settle: 2s}
      framings: {f: {layout: [start: DD, a: u16, b: u16be, c: u8, data: 1]}}
      """
    let described = try DescriptionReader.read(Array(text.utf8), file: "f.yaml")
    #expect(described.name == "my-gadget.2" && described.description.summary == "The one on the desk")
    var line = TerminalSettings()
    line.baudRate = 9_600
    line.parity = .even
    line.dtr = .on
    line.settle = .seconds(2)
    #expect(described.line == line)
    let little = Description.NumberFormat(byteCount: 2, order: .littleEndian)
    let one = Description.NumberFormat(byteCount: 1, order: .littleEndian)
    #expect(
      described.description.framings == [
        Description.Framing(
          name: "f",
          form: .layout([
            .init("start", .constant([0xDD])), .init("a", .number(little)), .init("b", .number(u16)),
            .init("c", .number(one)), .init("data", .body(1)),
          ]))
      ])
  }

  // MARK: - Framings

  @Test func everyElementOfALayoutIsRead() throws {
    let form = try layout(
      """
      [start: DD A5, address: i16, length: {type: u16le, of: length..check, adjust: -2, nibble_check: true},
       constant: "*\\xFF", data, check: {algorithm: crc-16/xmodem, over: start..data, order: little, as: hex,
       unless_empty: true, bump: [28, 0D 0A]}, end: "\\r\\n"]
      """.replacing("0D 0A", with: "0D, 0A"))
    var check = Description.Check(.frame(.crc(.crc16XMODEM)), covers: 0...4, order: .littleEndian)
    check.notation = .hexadecimal
    check.isPresentIfEmpty = false
    check.incrementedBytes = [0x28, 0x0D, 0x0A]
    #expect(
      form
        == .layout([
          .init("start", .constant([0xDD, 0xA5])),
          .init("address", .number(.init(byteCount: 2, encoding: .signed))),
          .init(
            "length", .length(.init(byteCount: 2, order: .littleEndian), of: 2...5, adjust: -2, nibbleCheck: true)),
          .init("constant", .constant([0x2A, 0xFF])), .init("data", .body(nil)), .init("check", .check(check)),
          .init("end", .constant([0x0D, 0x0A])),
        ]))
  }

  @Test func optionsOfHexadecimalFramingsAreRead() throws {
    let rest = ", digits: hex, first_digit: single, checks: digits, length: digits, max: 100, interrupts: true"
    let text =
      "protocol: x\nversion: 1\nframings: {f: {layout: [start: \":\", command: u8, data, end: 0A]\(rest)}}"
    let framing = try #require(try read(text).framings.first)
    var digits = Description.Hexadecimal()
    digits.beginsWithOneDigit = true
    digits.checksCoverDigits = true
    digits.lengthCountsDigits = true
    #expect(
      framing.form
        == .hexadecimal(
          [
            .init("start", .constant([0x3A])), .init("command", .number(u8)), .init("data", .body(nil)),
            .init("end", .constant([0x0A])),
          ], digits))
    #expect(framing.limit == 100 && framing.interrupts)
  }

  @Test func framingsOfWindowsAndPairsAreRead() throws {
    let text = """
      protocol: x
      version: 1
      framings:
        q: {layout: [data, end: 0A]}
        p: {pairs: {begin: "\\r\\n", separator: "\\t", close: Checksum}}
      """
    let description = try read(text)
    #expect(description.framings.map(\.name) == ["q", "p"], "in the order of the file")
    let window = try read("protocol: x\nversion: 1\nframings: {w: {window: {pattern: 00 3A, mask: C0 FF}}}")
    #expect(window.framings[0].form == .window(pattern: [0, 0x3A], mask: [0xC0, 0xFF]))
    #expect(
      description.framings[1].form
        == .pairs(.init(begin: [13, 10], separator: 9, close: Array("Checksum".utf8))))
  }

  @Test func everyChecksumIsReadByItsName() throws {
    for (name, algorithm) in DescriptionReader.algorithms {
      let form = try layout("[data: 3, check: {algorithm: \(name), over: data}]")
      #expect(
        form == .layout([.init("data", .body(3)), .init("check", .check(.init(algorithm, covers: 0...0)))]), "\(name)")
    }
    #expect(
      DescriptionReader.algorithms.map(\.name).contains("crc-32/iso-hdlc"),
      "the catalogue's names are in small letters")
  }

  // MARK: - Bytes

  @Test(
    arguments: [
      ("DD A5", [0xDD, 0xA5]), ("dda5", [0xDD, 0xA5]), ("77", [0x77]), ("0F66 0D", [0x0F, 0x66, 0x0D]),
      ("\"DD\"", [0x44, 0x44]), ("'DD'", [0x44, 0x44]), ("\"\\r\\n\\t\\0\\\\\\\"\"", [13, 10, 9, 0, 0x5C, 0x22]),
      ("\"\\xDF\\xff\\x00\"", [0xDF, 0xFF, 0]), ("\"é\"", [0xE9]), ("{text: \"10 20\"}", Array("10 20".utf8)),
      ("{text: AB}", [0x41, 0x42]), ("{hex: \"10 20\"}", [0x10, 0x20]),
      ("[\"(\", 9A 0B, {text: \"10\"}]", [0x28, 0x9A, 0x0B, 0x31, 0x30]),
    ] as [(String, [UInt8])])
  func bytesAreReadInTheirNotations(text: String, expectation: [UInt8]) throws {
    let form = try layout("[start: \(text), data: 1]")
    #expect(form == .layout([.init("start", .constant(expectation)), .init("data", .body(1))]))
  }

  // MARK: - Numbers

  @Test(
    arguments: [
      ("1", 1, 1), ("0.01", 1, 100), ("-0.1", -1, 10), ("1/3", 1, 3), ("2/4", 1, 2), ("100/255", 20, 51),
      ("1.50", 3, 2), ("0.000000001", 1, 1_000_000_000),
      ("999999999.999999999", 999_999_999_999_999_999, 1_000_000_000),
    ] as [(String, Int, Int)])
  func scalesAreReadAsFractions(text: String, numerator: Int, denominator: Int) {
    #expect(DescriptionReader.fraction(text) == Description.Fraction(numerator, over: denominator))
  }

  @Test(arguments: [
    "", ".", "1.", ".1", "1e3", "0x10", "1/0", "1/-3", "1//3", "1.2.3", "--1", "+1", "1000000000", "0.0000000001",
    "٣", "nan", "1/2/3", "1 /2",
  ])
  func whatIsNoScaleIsRefused(text: String) { #expect(DescriptionReader.fraction(text) == nil) }

  @Test(
    arguments: [("0", 0), ("12", 12), ("-3", -3), ("0x1F", 31), ("-0x10", -16), ("0X0a", 10), ("007", 7)]
      as [(String, Int)])
  func wholeNumbersAreReadInTheirNotations(text: String, number: Int) { #expect(WholeNumber.read(text) == number) }

  @Test(arguments: [
    "", "-", "+1", "--1", "0x", "0x-1", "0x+1", "1.0", "1_000", "9223372036854775808", "0xFFFFFFFFFFFFFFFF", "٣", " 1",
  ])
  func whatIsNoWholeNumberIsRefused(text: String) { #expect(WholeNumber.read(text) == nil) }

  @Test func numberFormatsHaveTheirRanges() {
    let range = { (name: String) in
      DescriptionReader(file: "f", takenNames: []).numberFormat(name).flatMap { DescriptionReader.range(of: $0) }
    }
    #expect(range("u8") == 0...255 && range("i8") == -128...127 && range("m8") == -127...127)
    #expect(range("bcd16") == 0...9_999 && range("u64") == 0...Int.max && range("i64") == Int.min...Int.max)
    #expect(range("u32") == 0...0xFFFF_FFFF && range("f32") == nil && range("bcd32") == 0...99_999_999)
    #expect(range("bcd40") == 0...9_999_999_999 && range("bcd64") == 0...9_999_999_999_999_999)
    #expect(DescriptionReader(file: "f", takenNames: []).numberFormat("u8le") == nil, "one byte has no order")
  }

  // MARK: - Fields

  @Test func everyTypeOfFieldIsRead() throws {
    let steps = try steps(
      """
      [{name: a, type: u16le}, {name: b, type: bcd8}, {name: c, type: f32}, {name: d, type: date16},
       {name: e, type: text, bytes: 10, padding: "-"}, {name: f, type: text0}, {name: g, type: ptext},
       {name: h, type: hex, bytes: 12}, {name: i, type: scattered, places: [0.2, 1.0..6], sign: 0.0},
       {name: j, type: text}]
      """)
    let types: [Description.FieldType] = [
      .number(.init(byteCount: 2, order: .littleEndian)), .number(.init(byteCount: 1, encoding: .bcd)),
      .number(.init(byteCount: 4, encoding: .float)), .packedDate(.bigEndian), .text(count: 10, padding: [0x2D]),
      .terminatedText, .prefixedText, .bytes(12),
      .scattered(
        [.init(byte: 0, lowest: 2), .init(byte: 1, lowest: 0, count: 7)], sign: .init(byte: 0, lowest: 0)),
      .restOfText(padding: [0, 0x20]),
    ]
    #expect(steps == zip("abcdefghij", types).map { .field(field(String($0), $1)) })
  }

  @Test func meaningsOfNumbersAreRead() throws {
    let steps = try steps(
      """
      [{name: a, type: u8, bits: 0..3, stay: true, hidden: true}, {name: b, type: u8, stay: true, truth: true},
       {name: c, type: u8, value: (raw - 40) / 3, unit: °C, quantity: temperature, unknown: [0, 0xFF]},
       {name: d, type: u8, words: {0: idle, 0x10: "on"}}, {name: battery.faults, type: u16, flags: {15: hot}, list: true},
       {name: e, type: u16, value: "if(f == 1, -sign_magnitude / 100, (10000 - raw) / 100)"},
       {name: f, type: u8, value: "if(raw > 100, 100 - raw, raw)"}]
      """)
    let unequal = try Description.Formula("if(f == 1, -sign_magnitude / 100, (10000 - raw) / 100)")
    let split = try Description.Formula("if(raw > 100, 100 - raw, raw)")
    let expectation: [Description.Field] = [
      field("a", .number(u8)) {
        $0.bits = .init(lowest: 0, count: 4, staysHere: true); $0.isHidden = true
      },
      field("b", .number(u8)) {
        $0.bits = .init(lowest: 0, count: 8, staysHere: true); $0.isBoolean = true
      },
      field("c", .number(u8)) {
        $0.formula = .scaled(over: 3, offset: -40)
        $0.unit = "°C"
        $0.quantity = "temperature"
        $0.unknownNumbers = [0, 255]
      },
      field("d", .number(u8)) { $0.words = [0: "idle", 16: "on"] },
      field("battery.faults", .number(u16)) {
        $0.flags = [15: "hot"]; $0.isList = true
      },
      field("e", .number(u16)) {
        $0.formula = unequal
      },
      field("f", .number(u8)) { $0.formula = split },
    ]
    #expect(steps == expectation.map { .field($0) })
  }

  @Test func everyStepOfABodyIsRead() throws {
    let steps = try steps(
      """
      [{name: n, type: u8}, {skip: 4}, {name: a, type: u8, repeat: 3}, {name: b, type: u16, repeat: n},
       {group: [{name: c, type: u8}], repeat: prefixed}, {at_least: {n: 2}, fields: [{name: d, type: u8}]},
       {tail: [{name: e, type: u8, repeat: end}]}]
      """)
    let listed = { (name: String, format: Description.NumberFormat) in
      Description.Step.field(self.field(name, .number(format)) { $0.isList = true })
    }
    #expect(
      steps == [
        .field(field("n", .number(u8))), .skip(4), .group([listed("a", u8)], .fixed(3)),
        .group([listed("b", u16)], .field("n")), .group([listed("c", u8)], .prefixedBytes),
        .when(.init("n", 2...1_000_000_000_000), [.field(field("d", .number(u8)))]),
        .tail([.group([listed("e", u8)], .toEnd)]),
      ])
  }

  @Test func taggedBodiesAreRead() throws {
    let text = """
      protocol: x
      version: 1
      framings: {f: {layout: [start: DD, length: {type: u8, of: data}, data]}}
      messages: {m: {tags: {0x79: [{name: n, type: u8}], 128: [{name: k, type: u16, value: raw * l}],
        0xC0: [{name: l, type: u8}]}}}
      """
    guard case .tags(let tags) = try #require(try read(text).messages.first).body else {
      return #expect(Bool(false), "it has tags")
    }
    #expect(tags.keys.sorted() == [0x79, 0x80, 0xC0])
    #expect(tags[0x79] == [.field(field("n", .number(u8)))])
  }

  // MARK: - Texts

  @Test func columnsOfALineAreRead() throws {
    let body = try lines(
      """
      columns: [{name: a, type: number, suffix: V, unknown: "---", form: 00.0}, {name: b, type: hexnumber, column: 4},
        {name: c, type: bitstring, flags: {7: fail}}, {name: d, type: bitstring, lowest_first: true, column: 5, bits: 2,
        truth: true}, {name: e, type: text, may_be_missing: true}], separation: ","
      """)
    #expect(
      body
        == .columns(
          .init(
            .byte(0x2C),
            [
              .init(
                0,
                field("a", .decimal(suffix: "V")) {
                  $0.unknownTexts = ["---"]
                  $0.form = .init(digits: 2, decimals: 1)
                }),
              .init(4, field("b", .hexadecimal)),
              .init(5, field("c", .bitText(firstIsHighest: true)) { $0.flags = [7: "fail"] }),
              .init(
                5,
                field("d", .bitText(firstIsHighest: false)) {
                  $0.bits = .init(lowest: 2, count: 1)
                  $0.isBoolean = true
                }), .init(6, isOptional: true, field("e", .plainText)),
            ])))
    let places = try lines("columns: [{name: a, type: text, at: 16..25}]")
    #expect(places == .columns(.init(.places, [.init(16, count: 10, field("a", .plainText))])))
  }

  @Test func wordsOfAColumnAreNumbered() throws {
    let body = try lines(
      "columns: [{name: a, type: word, translate: {ON: 1, OFF: 0}, truth: true}, {name: b, type: word, translate: {L: line, B: battery}}]"
    )
    #expect(
      body
        == .columns(
          .init(
            .blanks,
            [
              .init(0, field("a", .word(["ON": 1, "OFF": 0])) { $0.isBoolean = true }),
              .init(1, field("b", .word(["L": 0, "B": 1])) { $0.words = [0: "line", 1: "battery"] }),
            ])))
  }

  @Test func textsOfPairsAndPatternsAreRead() throws {
    let pairs = try lines("pairs: {Volt: {name: a, type: number}}, line_end: \"\\r\\n\", separator: \"=\"")
    #expect(
      pairs == .pairs(.init(lineEnd: [13, 10], separator: [0x3D], fields: ["Volt": field("a", .decimal(suffix: ""))])))
    let pattern = try lines("pattern: \"41 {{ {a}, {b}V\\r\", types: {a: {type: hexnumber, value: raw / 4}}")
    #expect(
      pattern
        == .pattern(
          .init([
            .literal(Array("41 { ".utf8)), .field(field("a", .hexadecimal) { $0.formula = .scaled(over: 4) }),
            .literal(Array(", ".utf8)), .field(field("b", .decimal(suffix: ""))), .literal(Array("V".utf8)),
          ])))
  }
}
