// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Testing

@testable import AccessoryDescriptions
@testable import AccessoryProtocols

private typealias Formula = ProtocolDescription.Formula
private typealias Field = ProtocolDescription.Field

/// Formulas of values: how they are read, calculated, and turned back.
@Suite struct FormulaTests {
  private static let u16 = ProtocolDescription.FieldType.number(.init(byteCount: 2))

  private func field(_ text: String, _ type: ProtocolDescription.FieldType = u16) throws -> Field {
    var field = Field("a", type)
    field.formula = try Formula(text)
    return field
  }

  // MARK: - Fields

  @Test(
    arguments: [
      ("raw", 7, .whole(7)), ("(raw - 2731) / 10", 2_982, .number(25.1)), ("raw / 10", 20, .number(2)),
      ("raw * 0.1", 3, .number(0.3)), ("raw / 10 - 273.15", 2_982, .number(25.05)), ("-raw / 100", 5, .number(-0.05)),
      ("raw * 3", 5, .whole(15)), ("-(raw - 5) * -2", 7, .whole(4)), ("0x10 + raw", 1, .whole(17)),
      ("raw - 2 - 3", 10, .whole(5)), ("100 / 4 / 5 + raw", 1, .whole(6)), ("2 + raw * 3", 4, .whole(14)),
      ("if(raw > 100, 100 - raw, raw)", 101, .whole(-1)), ("if(raw > 100, 100 - raw, raw)", 100, .whole(100)),
      ("if(raw >= 0x8000, raw - 0x10000, raw) / 8", 0xFFF0, .number(-2)), ("1000 / raw", 3, .number(1_000.0 / 3)),
      ("raw * raw", 12, .whole(144)), ("percent(raw, 0, 200)", 50, .number(25)),
      ("if(raw == 1 or raw == 3, 1, 0)", 3, .whole(1)), ("if(not raw == 1, 1, 0)", 1, .whole(0)),
    ] as [(String, Int, PlainValue)])
  func aFormulaIsCalculatedExactly(text: String, raw: Int, value: PlainValue) throws {
    #expect(try field(text).meaning(of: raw) == value)
  }

  @Test(arguments: [
    "raw / (1 - 1)", "1 / (raw - 5)", "raw * 1000000000 * 1000000000", "raw + 0.000000001 * 0.000000001 * 0.1",
    "if(raw > 9, raw)",
  ])
  func whatCannotBeCalculatedIsUnknown(text: String) throws {
    #expect(try field(text).meaning(of: text.contains("1000000000") ? 100 : 5) == .nothing)
  }

  @Test func largeNumbersOverflowToUnknown() throws {
    let field = try field("raw * 1000 + 1", .number(.init(byteCount: 8)))
    #expect(field.meaning(of: .max) == .nothing && field.meaning(of: .min) == .nothing)
    #expect(field.meaning(of: 9_223_372_036_854_774) == .whole(9_223_372_036_854_774_001))
  }

  /// The sums of a text's digits are exact, too: 12.34 + 0.1 is 12.44.
  @Test func numbersOfTextsAreCalculatedExactly() throws {
    let field = try field("(raw + 0.1) * 3", .decimal(suffix: ""))
    #expect(field.meaning(ofText: Array("12.34".utf8))?.value == .number(37.32))
    #expect(field.meaning(ofText: Array("12".utf8))?.value == .number(36.3))
  }

  // MARK: - Back

  @Test(
    arguments: [
      ("(raw - 2731) / 10", 25.1, 2_982), ("(30000 - raw) / 10", -1.5, 30_015), ("raw / 10 - 273.15", 25.05, 2_982),
      ("if(raw > 100, 100 - raw, raw)", -1, 101), ("if(raw > 100, 100 - raw, raw)", 42, 42),
      ("if(raw <= 100, raw, 100 - raw)", -5, 105), ("raw * 100 / 255", 50, 128),
    ] as [(String, Double, Int)])
  func aLinearFormulaIsTurnedBack(text: String, value: Double, raw: Int) throws {
    #expect(try Formula(text).isInvertible)
    #expect(try field(text).raw(for: .number(value)) == raw)
  }

  /// Where another field says how the bytes are meant, its number chooses the branch.
  @Test func theEncodingFollowsAnotherField() throws {
    let field = try field("if(version == 1, -sign_magnitude / 100, (10000 - raw) / 100)")
    #expect(field.meaning(of: 0x8064, bits: 0x8064, sent: { _ in 1 }) == .number(1))
    #expect(field.meaning(of: 9_900, bits: 9_900, sent: { _ in 0 }) == .number(1))
    #expect(field.meaning(of: 9_900, bits: 9_900) == .number(1), "without a version")
    #expect(field.raw(for: .number(1), sent: { _ in 1 }) == 0x8064)
    #expect(field.raw(for: .number(1), sent: { _ in 0 }) == 9_900)
  }

  @Test func numbersOfOtherFieldsAreExact() throws {
    let field = try field("raw * k / 3")
    #expect(field.meaning(of: 1, sent: { _ in 2 }) == .number(2.0 / 3))
    #expect(field.meaning(of: 3, sent: { _ in 2 }) == .number(2) && field.meaning(of: 3) == .nothing)
    #expect(field.raw(for: .number(2), sent: { _ in 2 }) == 3)
  }

  @Test(arguments: ["raw * raw", "1000 / raw", "if(raw > 3, raw * raw, raw)"])
  func aFormulaThatIsNotLinearCannotBeTurnedBack(text: String) throws {
    #expect(try !Formula(text).isInvertible)
  }

  // MARK: - Derived values

  @Test(
    arguments: [
      ("a - b", .number(-1.5)), ("percent(a, b)", .number(40)), ("percent(a, 0, 2)", .number(50)),
      ("percent(a, 2, 1)", nil), ("first(x, a)", .whole(1)), ("first(x, y)", nil), ("if(t, a)", .whole(1)),
      ("if(not t, a)", nil), ("if(x, a, b)", .number(2.5)), ("min(l)", .number(3.5)), ("max(l)", .number(4)),
      ("sum(l, a)", .number(8.5)), ("charging(-a, 0.5)", .text("discharging")),
      ("charging(a, 2)", .text("not_charging")),
      ("charging(b)", .text("charging")), ("if('hot' in f, 'warn')", .text("warn")), ("if('cold' in f, 'warn')", nil),
      ("if(w == 'on', b)", .number(2.5)), ("number(w)", .whole(9)), ("a / (a - 1)", nil), ("a + x", nil),
      ("if(a < 1 or t, b)", .number(2.5)), ("if(x and t, a, b)", .number(2.5)),
      ("if(a >= 1 and a <= 3.5, a)", .whole(1)),
      ("0.1 + 0.2 + b - b", .number(0.3)),
    ] as [(String, PlainValue?)])
  func aDerivedValueIsCalculated(text: String, value: PlainValue?) throws {
    let known: [String: PlainValue] = [
      "a": .whole(1), "b": .number(2.5), "t": .flag(true), "w": .text("on"), "x": .nothing,
      "l": .list([.number(4), .number(3.5)]), "f": .list([.text("hot")]),
    ]
    #expect(try Formula(text).derived({ known[$0] }, sent: { $0 == "w" ? 9 : nil }) == value)
  }

  // MARK: - Mistakes

  @Test(
    arguments: [
      ("", 1, "a number, a name or a ( was expected, not the end"), ("raw +", 6, "not the end"),
      ("(raw", 5, "a ) was expected, not the end"), ("raw)", 4, "an operator, like + or *, was expected"),
      ("raw raw", 5, "an operator"), ("raw = 1", 5, "== compares"), ("raw % 10", 5, "/ 100 is a hundredth"),
      ("raw ^ 2", 5, "has no meaning"), ("sqrt(raw)", 1, "is not a function: there are if, first"),
      ("if(raw)", 1, "if needs 2 to 3 values, not 1"), ("first()", 1, "first needs 2 to 16 values, not 0"),
      ("raw < 1 < 2", 9, "join comparisons by and"), ("'text", 1, "has no end"),
      ("raw * 1.2.3", 7, "nine on each side"),
      ("raw * 1000000000000000000000", 7, "at most 12 digits"), ("raw * 0.0000000001", 7, "nine on each side"),
      ("1 + raw / 0.0 * 2", 11, "divided by 0"), ("and", 1, "a value was expected"),
      ("number(1)", 1, "needs the name of a value"),
      ("\u{1F600}", 1, "has no meaning"),
    ] as [(String, Int, String)])
  func aMistakeIsReportedWithItsPlace(text: String, column: Int, message: String) {
    let error = #expect(throws: FormulaError.self) { try Formula(text) }
    #expect(error?.column == column && error?.message.contains(message) == true, "\(String(describing: error))")
  }

  /// Hostile texts: long, deep, with many parts.
  @Test func hostileFormulasAreRefused() {
    let long = "raw" + String(repeating: " + 1", count: 2_560)
    let deep = String(repeating: "(", count: 10_000) + "raw" + String(repeating: ")", count: 10_000)
    for text in [long, deep] {
      #expect(throws: FormulaError.self) { try Formula(text) }
    }
    let nested = String(repeating: "(", count: 500) + "raw" + String(repeating: ")", count: 500)
    let signs = String(repeating: "-", count: 1_000) + "raw"
    let negations = String(repeating: "not ", count: 200) + "raw"
    let calls = String(repeating: "first(1,", count: 100) + "raw" + String(repeating: ")", count: 100)
    for text in [nested, signs, negations, calls] {
      let error = #expect(throws: FormulaError.self) { try Formula(text) }
      #expect(error?.message.contains("nested at most 24 deep") == true, "\(text.prefix(20))")
    }
    let many = "raw" + String(repeating: "+1", count: 300)
    #expect(throws: FormulaError.self) { try Formula(many) }
  }

  /// A formula of comparisons of comparisons takes no longer than it has parts.
  @Test func nestedComparisonsAreCalculatedOnce() throws {
    var text = "a"
    for _ in 0..<23 { text = "(\(text) == b)" }
    #expect(try Formula(text).derived({ _ in .flag(true) }, sent: { _ in nil }) == .flag(true))
  }

  @Test func formulasWithTheSameValuesAreEqual() throws {
    #expect(try Formula("raw * 0.1") == Formula("raw / 10"))
    #expect(try Formula("raw / 10 - 1") == Formula("(raw - 10) * 0.1") && Formula("raw") == .raw)
    #expect(try Formula("raw * raw") != Formula("raw") && Formula("a - b") != Formula("b - a"))
    #expect(try Set([Formula("raw * 0.5"), Formula("raw / 2")]).count == 1)
  }
}
