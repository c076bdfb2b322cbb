// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols
import Testing

@testable import AccessoryDescriptions
@testable import AccessoryDrivers

/// What is said of registers that are wrong, and what comes of those that are right.
@Suite struct RegisterMistakeTests {
  private static let head = "protocol: x\nversion: 1\n"

  /// One group, whose fields begin in line 4.
  private static func group(_ fields: String, function: Int = 4, modbus: String = "") -> String {
    head + modbus + "registers: {g: {function: \(function), fields: [\(fields)]}}\n"
  }

  private static let good = "{at: 1, name: a, type: u16}"

  @Test(
    arguments: [
      (head + "modbus: {unit_number: 1}\n", "registers are missing: the groups of registers and their fields"),
      (group(good) + "framings: {}\n", "framings can't be used with Modbus"),
      (group(good) + "requests: {}\n", "requests can't be used with Modbus"),
      (
        group(good, modbus: "modbus: {unit_number: 256}\n"),
        "unit_number must be a whole number from 0 to 255, not \"256\""
      ),
      (group(good, modbus: "modbus: {longest: 126}\n"), "longest must be a whole number from 1 to 125, not \"126\""),
      (group(good, modbus: "modbus: {words_first: little}\n"), "words_first must be high or low, not \"little\""),
      (group(good, modbus: "modbus: {tcp: udp}\n"), "tcp must be header or rtu, not \"udp\""),
      (
        group(good, function: 6),
        "function (1 coils, 2 inputs, 3 and 4 registers) must be a whole number from 1 to 4, not \"6\""
      ),
      (group("{name: a, type: u16}"), "at is missing"),
      (group("{at: 65536, name: a, type: u16}"), "at must be a whole number from 0 to 65535, not \"65536\""),
      (group("{at: 0xFFFF, name: a, type: u32}"), "this goes beyond the last register, 0xFFFF"),
      (group("{at: 0xFFFE, name: a, type: u16, repeat: 3}"), "this goes beyond the last register, 0xFFFF"),
      (group("{at: 1, name: a, type: u8}"), "half is missing: which byte of the register, high or low"),
      (group("{at: 1, half: left, name: a, type: u8}"), "half must be high or low, not \"left\""),
      (group("{at: 1, half: low, name: a, type: u16}"), "half is only for one number of one byte, like u8"),
      (group("{at: 1, name: a, type: u24}"), "a register has two bytes"),
      (group("{at: 1, name: a, type: text0}"), "a register has no such type"),
      (group("{at: 1, name: a, type: text}"), "a register has no such type"),
      (group("{at: 1, name: a, type: text, bytes: 5}"), "a register has two bytes"),
      (group("{at: 1, name: a, type: text, bytes: 252}"), "this takes 126 registers, and a request has at most 125"),
      (
        group("{at: 1, name: a, type: u64, repeat: 3}", modbus: "modbus: {longest: 10}\n"),
        "this takes 12 registers, and a request has at most 10"
      ),
      (group("{at: 1, name: a, type: u16, words_first: low}"), "words_first is only for numbers of several registers"),
      (group("{at: 1, name: a, type: u16, stay: true}"), "unknown key \"stay\""),
      (group("\(good), {at: 2, name: a, type: u16}"), "the field a is already defined in line 3"),
      (group("{at: 1, name: a, type: u8}", function: 1), "type can't be used for a coil or an input, which is one bit"),
      (
        group("{at: 1, name: a, value: raw / 2}", function: 2),
        "value can't be used for a coil or an input, which is one bit"
      ),
      (group("{at: 1, name: a, words: {2: two}}", function: 2), "a number of words must be a whole number from 0 to 1"),
      (head + "registers: {g: {fields: [\(good)]}}\n", "function is missing"),
      (head + "registers: {g: {function: 3}}\n", "fields is missing"),
      (head + "registers: {G: {function: 3, fields: [\(good)]}}\n", "a group's name"),
      (
        head + "registers: {g: {function: 3, fields: [\(good), {at: 3, name: b, type: u16}]}, "
          + "g-2: {function: 3, fields: [{at: 5, name: c, type: u16}]}}\n",
        "g-2 is the name of a request of another group"
      ),
      (group(good) + "plan: {poll: [{requests: h}]}\n", "is not a request of this file"),
      (
        group((0...64).map { "{at: \(2 * $0), name: a\($0), type: u16}" }.joined(separator: ", ")),
        "these registers need 65 requests, more than 64: put neighbours into one group"
      ),
      (
        group((0..<9).map { "{at: \(125 * $0), name: a\($0), type: u16, repeat: 125}" }.joined(separator: ", ")),
        "these registers are more than 1024 values"
      ),
    ] as [(String, String)])
  func mistakesInRegistersAreReported(text: String, mistake: String) {
    let found = DescriptionSample.mistakes(text)
    #expect(found.contains { $0.contains(mistake) }, "\(found)")
  }

  private func read(_ text: String) throws -> ProtocolDescription {
    try DescriptionReader.read(Array(text.utf8), file: "x").description
  }

  @Test func aGroupWithGapsIsSeveralRequests() throws {
    let description = try read(
      Self.group("\(Self.good), {at: 9, name: b, type: u16}, {at: 2, name: c, type: u32}")
        + "plan: {poll: [{requests: g, every: 1s}]}\n")
    #expect(description.requests.map(\.name) == ["g", "g-2"])
    #expect(description.plan.polls.map(\.requests) == [[0, 1]])
    #expect(
      description.requests.map(\.sends) == [
        .frame(framing: 1, elements: [1: 4, 2: 1, 3: 3], body: []),
        .frame(framing: 1, elements: [1: 4, 2: 9, 3: 1], body: []),
      ])
  }

  @Test func aFieldsWordOrderGoesBeforeTheDefault() throws {
    let fields =
      "{at: 1, name: a, type: u32}, {at: 3, name: b, type: u32, words_first: high}, {at: 5, name: c, type: f64}"
    let description = try read(Self.group(fields, modbus: "modbus: {words_first: low}\n"))
    let swapped = description.messages.flatMap(\.fields).map { field in
      if case .number(let format) = field.type { format.hasWordsSwapped } else { false }
    }
    #expect(swapped == [true, false, true])
  }

  /// Who can ask can write: bytes that the driver doesn't make need permission.
  @Test func whatSpeaksModbusHasWrites() throws {
    #expect(Driver(try read(Self.group(Self.good))).hasWrites)
  }
}
