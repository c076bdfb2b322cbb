// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryProtocols
import TestSupport
import Testing

@testable import AccessoryDescriptions
@testable import AccessoryDrivers

/// Descriptions in the keys of earlier versions are read as before.
@Suite struct OldNamesTests {
  private static let folder = ProjectFolder.path + "/Tests/Data/OldDescriptions"

  private static func read(_ path: String) throws -> DescribedProtocol {
    try DescriptionReader.read(SmallFile.read(path, limit: 1 << 20), file: path)
  }

  /// Today's spelling of an old file.
  private static func today(_ file: String) -> String {
    let shipped = ProjectFolder.path + "/Sources/CDescriptions/Descriptions/" + file
    let isShipped = BuiltInDescriptions.names.contains(String(file.dropLast(5)))
    return isShipped ? shipped : ProjectFolder.path + "/Examples/Protocols/" + file
  }

  @Test func noOldFileIsGone() {
    #expect(Directory.names(in: Self.folder).filter { $0.hasSuffix(".yaml") }.count == 20)
  }

  /// Files that have got something more since: fields, numbers that mean "unknown", a PIN that some packs of JBD ask for.
  private static let grown = [
    "daly.yaml", "elm327.yaml", "jbd.yaml", "jk.yaml", "pylontech.yaml", "renogy.yaml", "srne.yaml", "vedirect.yaml",
    "vesc.yaml",
  ]
  /// Files whose messages tell more: the words of NUT's status.
  private static let fuller = ["megatec.yaml", "pi30.yaml"]

  @Test(
    arguments: Directory.names(in: folder).filter { $0.hasSuffix(".yaml") && !(grown + fuller).contains($0) }.sorted())
  func anOldFileMeansWhatTodaysMeans(file: String) throws {
    let (old, new) = (try Self.read(Self.folder + "/" + file), try Self.read(Self.today(file)))
    #expect(new.notes.isEmpty, "today's has no old keys")
    #expect(old.description.framings == new.description.framings && old.line == new.line)
    #expect(old.description.messages == new.description.messages)
    #expect(old.description.requests == new.description.requests)
    #expect(old.description.derived == new.description.derived && old.description.plan == new.description.plan)
    #expect(old.description.units == new.description.units && old.description.parameters == new.description.parameters)
    #expect(DescriptionCheck.problems(in: old, file: file).map(\.description) == [])
  }

  /// Nothing is gone, and today's file says all that the old one's examples expect.
  @Test(arguments: grown) func anOldFileMeansTheBeginningOfTodays(file: String) throws {
    let read = try Self.read(Self.folder + "/" + file)
    #expect(DescriptionCheck.problems(in: read, file: file).map(\.description) == [])
    let old = read.description
    var new = try Self.read(Self.today(file)).description
    #expect(Array(new.framings.prefix(old.framings.count)) == old.framings && new.units == old.units)
    for message in old.messages {
      #expect(new.messages.first { $0.name == message.name }?.conditions == message.conditions, "\(message.name)")
    }
    #expect(new.requests.prefix(old.requests.count).map(\.name) == old.requests.map(\.name))
    #expect(new.derived == old.derived && Array(new.plan.polls.prefix(old.plan.polls.count)) == old.plan.polls)
    // The old scale of its current was wrong.
    guard file != "srne.yaml" else { return }
    new.examples = old.examples
    #expect(try ExampleCheck(new).problems() == [])
  }

  /// Every value that an old file reads is the same by today's.
  @Test(arguments: fuller) func todaysFileReadsWhatAnOldOneDoes(file: String) throws {
    let old = try Self.read(Self.folder + "/" + file).description
    let new = try Self.read(Self.today(file)).description
    #expect(old.framings == new.framings && old.plan.polls == new.plan.polls && old.parameters == new.parameters)
    #expect(old.requests == new.requests && old.messages.map(\.name) == new.messages.map(\.name))
    #expect(old.derived.allSatisfy(new.derived.contains))
    for (old, new) in zip(old.messages, new.messages) {
      for field in old.fields {
        #expect(
          new.fields.contains {
            $0.name == field.name && $0.type == field.type && $0.unit == field.unit && $0.role == field.role
          },
          "\(old.name) \(field.name)")
      }
    }
  }

  // MARK: - Old keys

  private static let head =
    "protocol: x\nversion: 1\nframings: {f: {layout: [start: DD, n: u8, length: {type: u8, of: data}, data]}}\n"

  private static func notes(_ text: String) throws -> [String] {
    try DescriptionReader.read(Array((head + text + "\n").utf8), file: "f").notes.map(\.description)
  }

  @Test(
    arguments: [
      ("offset: -40", "value: raw - 40"), ("scale: 0.01", "value: raw / 100"), ("scale: -0.1", "value: -raw / 10"),
      ("offset: -2731, scale: 0.1", "value: (raw - 2731) / 10"), ("scale: 1/3", "value: raw / 3"),
      ("offset: -30000, scale: -0.1", "value: (30000 - raw) / 10"), ("offset: 5, scale: -1", "value: -5 - raw"),
      ("scale: 100/255", "value: raw * 20 / 51"), ("scale: 2.5", "value: raw * 5 / 2"),
      ("above: {100: {offset: -100, scale: -1}}", "value: if(raw > 100, 100 - raw, raw)"),
      (
        "offset: -5, variants: {by: n, 1: {encoding: sign-magnitude, offset: 0}, 2: {scale: 2}}",
        "value: if(n == 1, sign_magnitude, if(n == 2, (raw - 5) * 2, raw - 5))"
      ),
    ] as [(String, String)])
  func theArithmeticOfAFieldBecomesAFormula(old: String, today: String) throws {
    let fields = { (keys: String) in "messages: {m: {fields: [{name: n, type: u8}, {name: a, type: u16, \(keys)}]}}" }
    let notes = try Self.notes(fields(old))
    #expect(notes.count == 1 && notes[0].hasSuffix(" is an old spelling: write \(today)"), "\(notes)")
    #expect(notes[0].hasPrefix("f:4:"))
    func read(_ text: String) throws -> ProtocolDescription {
      try DescriptionReader.read(Array((Self.head + fields(text) + "\n").utf8), file: "f").description
    }
    #expect(try read(old) == read(today.replacing("value: ", with: "value: \"") + "\""))
  }

  @Test(
    arguments: [
      ("rule: first, of: [a, b]", "first(a, b)"), ("rule: percent, of: [a, b]", "percent(a, b)"),
      ("rule: percent-of-range, of: [a, b, a]", "percent(a, b, a)"), ("rule: difference, of: [a, b]", "a - b"),
      ("rule: product, of: [a, b]", "a * b"), ("rule: sum, of: [a, l]", "sum(a, l)"), ("rule: sum, of: l", "sum(l)"),
      ("rule: least, of: l", "min(l)"), ("rule: greatest, of: [l]", "max(l)"), ("rule: negated, of: a", "-a"),
      ("rule: if, of: [a, t]", "if(t, a)"), ("rule: unless, of: [a, t]", "if(not t, a)"),
      ("rule: within, of: a, from: 1, to: 3.5", "if(a >= 1 and a <= 3.5, a)"),
      ("rule: charge-by-sign, of: a, dead_band: 0.05", "charging(a, 0.05)"),
      ("rule: charge-by-sign, of: a", "charging(a)"), ("rule: word, of: t, word: on", "if(t, 'on')"),
      ("rule: word, of: f, contains: hot, word: it's", "if('hot' in f, \"it's\")"),
      ("rule: number, of: w", "number(w)"),
    ] as [(String, String)])
  func aRuleOfADerivedValueBecomesAFormula(old: String, formula: String) throws {
    let text = """
      messages: {m: {fields: [{name: a, type: u8}, {name: b, type: u8}, {name: l, type: u8, repeat: 2}, {name: t, type: u8,
        truth: true}, {name: f, type: u8, flags: {0: hot}}, {name: w, type: u8, words: {1: bulk}}]}}
      derived:
        - {name: d, \(old)}
      """
    let described = try DescriptionReader.read(Array((Self.head + text + "\n").utf8), file: "f")
    #expect(described.description.derived.map(\.formula) == [try ProtocolDescription.Formula(formula)])
    #expect(described.notes.map(\.message) == ["rule and of is an old spelling: write value: \(formula)"])
  }

  @Test(
    arguments: [
      ("scale: 0", "4:52: scale must be a number other than 0 (write a formula in its place: value: raw / 100)"),
      ("offset: 1.5", "4:53: offset must be a whole number (write a formula in its place: value: (raw - 2731) / 10)"),
      (
        "variants: {1: {scale: 2}}",
        "4:55: variants must be {by: FIELD, 1: {offset: …, scale: …}} (write a formula in their place: if(FIELD == 1, …, …))"
      ),
      (
        "above: {x: {scale: 2}}",
        "4:52: above must be a number with a rule (write a formula in its place: if(raw > 100, 100 - raw, raw))"
      ),
      ("scale: 2, value: raw", "4:52: scale is a part of value today: leave it out"),
    ] as [(String, String)])
  func oldKeysThatCannotBeReadSayWhatToWrite(old: String, mistake: String) {
    #expect(DescriptionSample.message("fields: [{name: a, type: u8, \(old)}]") == [mistake])
  }

  /// As many variants, and names as long, as a description could have.
  @Test func theLongestOldRulesAreFormulasToo() throws {
    let name = String(repeating: "n", count: 64)
    let rules = (1...16).map {
      "\(0xFF00 + $0): {encoding: sign-magnitude, offset: -999999999, scale: -999999/7}"
    }
    let variants = "offset: 5, variants: {by: \(name), \(rules.joined(separator: ", "))}, above: {100: {scale: 1/3}}"
    let text = "messages: {m: {fields: [{name: \(name), type: u16}, {name: a, type: u16, \(variants)}]}}"
    #expect(try Self.notes(text).count == 1)
    let names = (0..<16).map { String(repeating: "n", count: 62) + "\(10 + $0)" }
    let fields = names.map { "{name: \($0), type: u8}" }.joined(separator: ", ")
    let of = names.joined(separator: ", ")
    let derived = "messages: {m: {fields: [\(fields)]}}\nderived: [{name: d, rule: first, of: [\(of)]}]"
    #expect(try Self.notes(derived).count == 1)
  }

  /// What can't be turned back is noted, too, since a simulator can't send it.
  @Test func aFormulaThatIsNotLinearIsNoted() throws {
    let notes = try Self.notes("messages: {m: {fields: [{name: a, type: u8, value: 1000 / raw}]}}")
    #expect(
      notes == [
        "f:4:52: value isn't linear in raw, so no number to send can be calculated from it: a simulated accessory sends 0"
      ])
  }

  @Test(
    arguments: [
      (
        "messages: {m: {fields: [{name: n, type: u8}, {when: {n: 2}, fields: [{name: d, type: u8}]}]}}",
        "messages: {m: {fields: [{name: n, type: u8}, {at_least: {n: 2}, fields: [{name: d, type: u8}]}]}}",
        "when is an old spelling: write at_least"
      ),
      (
        "messages: {m: {columns: [{name: a, type: text, optional: true}]}}",
        "messages: {m: {columns: [{name: a, type: text, may_be_missing: true}]}}",
        "optional is an old spelling: write may_be_missing"
      ),
      (
        "messages: {m: {columns: [{name: a, type: text, at: 16, count: 10}], separation: places}}",
        "messages: {m: {columns: [{name: a, type: text, at: 16..25}]}}",
        "separation: places with at and count is an old spelling: write the characters of each column, like at: 16..25"
      ),
      (
        "messages: {m: {table: {A: {name: a, type: text, optional: true}}}}",
        "messages: {m: {table: {A: {name: a, type: text, may_be_missing: true}}}}",
        "optional is an old spelling: write may_be_missing"
      ),
      (
        "messages: {m: {pattern: \"{a}\", types: {a: {type: bitstring, first: lowest}}}}",
        "messages: {m: {pattern: \"{a}\", types: {a: {type: bitstring, lowest_first: true}}}}",
        "first: lowest is an old spelling: write lowest_first: true"
      ),
      (
        "messages: {m: {pairs: {A: {name: a, type: word, words: {L: line}}}, line_end: 0A}}",
        "messages: {m: {pairs: {A: {name: a, type: word, translate: {L: line}}}, line_end: 0A}}",
        "words is an old spelling: write translate"
      ),
      (
        "requests: {r: {send: [{argument: x}], arguments: {x: {type: u8, words: {on: 1, yes: 0x1, off: 0}}}}}",
        "requests: {r: {send: [{argument: x}], arguments: {x: {type: u8, words: {1: [on, yes], 0: off}}}}}",
        "words by word is an old spelling: write words by number, like {1: on, 0: off}"
      ),
      (
        "units: {element: n, to: 9, sent: 1}", "units: {element: n, to: 9, request_adds: 1}",
        "sent is an old spelling: write request_adds"
      ),
      (
        "units: {element: n, to: 9, received: 1}", "units: {element: n, to: 9, reply_adds: 1}",
        "received is an old spelling: write reply_adds"
      ),
      (
        "requests: {r: {send: f, data: [AA, {unit: u8}]}}\nunits: {element: n, to: 9}",
        "requests: {r: {send: f, data: [AA, {unit_number: u8}]}}\nunits: {element: n, to: 9}",
        "unit is an old spelling: write unit_number"
      ),
      (
        "requests: {r: {send: {unit: u8}}}\nunits: {element: n, to: 9}",
        "requests: {r: {send: {unit_number: u8}}}\nunits: {element: n, to: 9}",
        "unit is an old spelling: write unit_number"
      ),
      (
        "examples: [{request: r, unit: 2, sent: 02}]\nrequests: {r: {send: [{unit_number: u8}]}}\n"
          + "units: {element: n, to: 9}",
        "examples: [{request: r, unit_number: 2, sent: 02}]\nrequests: {r: {send: [{unit_number: u8}]}}\n"
          + "units: {element: n, to: 9}",
        "unit is an old spelling: write unit_number"
      ),
    ] as [(String, String, String)])
  func aWordThatMeantTwoThingsHasANewOne(old: String, today: String, note: String) throws {
    let notes = try Self.notes(old)
    #expect(notes.count == 1 && notes[0].hasPrefix("f:4:") && notes[0].hasSuffix(": " + note), "\(notes)")
    #expect(try Self.notes(today) == [])
    func read(_ text: String) throws -> ProtocolDescription {
      try DescriptionReader.read(Array((Self.head + text + "\n").utf8), file: "f").description
    }
    #expect(try read(old) == read(today))
  }

  @Test func theUnitOfModbusHasItsOwnWord() throws {
    func read(_ key: String) throws -> DescribedProtocol {
      let text = """
        protocol: x
        version: 1
        modbus: {\(key): 17}
        registers: {r: {function: 3, fields: [{at: 0, name: a, type: u16}]}}

        """
      return try DescriptionReader.read(Array(text.utf8), file: "f")
    }
    let (old, today) = (try read("unit"), try read("unit_number"))
    #expect(old.notes.map(\.description) == ["f:3:10: unit is an old spelling: write unit_number"])
    #expect(today.notes.isEmpty && today.description.units?.defaultUnit == 17)
    #expect(old.description == today.description)
  }
}
