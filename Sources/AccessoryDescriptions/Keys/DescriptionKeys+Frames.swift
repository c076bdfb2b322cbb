// SPDX-License-Identifier: Apache-2.0
//
// A row is a line.
// swift-format-ignore-file

import AccessoryConfiguration
import AccessoryProtocols

// The keys that say how frames look.
extension DescriptionKeys {
  static let framing = KeyTable("framing", "a framing", [
    .init("layout", .list("element", limit: DescriptionReader.elementLimit), "the elements of a frame, see below", usual: "this or `pairs`"),
    .init("pairs", .shared("pairs", "see below"), "blocks of labels and values"),
    .init("direction", .words(ProtocolDescription.Direction.allCases.map(\.rawValue)), "the direction of such frames. Bytes in the other direction are never read as such a frame. So a message can't have a framing `to_device`, and a request can't send one `from_device`", usual: "`both`", since: "0.3"),
    .init("max", .integer(4...ProtocolDescription.Limit.frame), "bytes of the longest frame", usual: "`512`"),
    .init("interrupts", .flag, "such a frame may come in the middle of another kind of frame", usual: "`false`"),
    .init("ignore", .shared("ignore", "`{bytes: 00, texts: [\"SEARCHING...\"]}`"), "bytes (up to 16) and texts (up to 8) that are ignored anywhere in a frame's payload; for a `layout` without `digits`", usual: "nothing"),
    .init("digits", .words(["hex"]), "all elements between `start` and `end` of a layout are sent in hexadecimal digits", usual: "as bytes"),
    .init("first_digit", .words(["single"]), "with `digits`, the first byte after `start` has one digit", usual: "two"),
    .init("checks", .words(["digits", "bytes"]), "with `digits`, whether checks are over the digits that are sent", usual: "`bytes`"),
    .init("length", .words(["digits", "bytes"]), "with `digits`, what a length counts", usual: "`bytes`"),
    .init("window", .other("pattern and mask"), "frames that begin nowhere, found by a pattern and a mask", isSeldom: true),
  ])
  static let window = KeyTable("window", "window", lacks: { _ in "window needs a pattern and a mask: {pattern: 00 00 3A, mask: C0 80 FF}" }, [
    .init("pattern", .other("bytes"), "what the bits of the mask are", missing: "", isSeldom: true),
    .init("mask", .other("bytes"), "the bits that are compared", missing: "", isSeldom: true),
  ])
  static let ignore = KeyTable("ignore", "ignore", [
    .init("bytes", .bytes(limit: 16), "bytes that are dropped"),
    .init("texts", .other("a text, or several"), "texts that are dropped"),
  ])
  static let length = KeyTable("length", "length", place: "a length", lacks: { _ in "length needs a type and the elements that it counts: {type: u8, of: data}" }, [
    .init("type", .shared("number_type", "a type of number"), "how it is sent", missing: ""),
    .init("of", .shared("elements", "elements"), "what it is the length of", missing: ""),
    .init("adjust", .integer(-4_096...4_096), "added to the number to give the count"),
    .init("nibble_check", .flag, "the highest digit checks the others"),
  ])
  static let check = KeyTable("check", "check", place: "a check", lacks: { _ in "check needs an algorithm, and the elements that it covers: {algorithm: sum8, over: start..data}" }, [
    .init("algorithm", .other("see below"), "how it is calculated", missing: ""),
    .init("over", .shared("elements", "one, or `first..last`"), "the elements that it covers; not itself", missing: ""),
    .init("order", .words(["big", "little"]), "the order of its bytes", usual: "`byte_order`"),
    .init("as", .words(["bytes", "hex", "decimal"]), "how it is sent; `hex`: upper-case digits; `decimal`: 1 to 3 digits, for one byte, directly before `end`", usual: "`bytes`"),
    .init("bump", .other("`[28, 0D, 0A]`"), "each byte of the check that is in this list is sent increased by one", usual: "none"),
    .init("unless_empty", .flag, "frames without data have no check", isSeldom: true),
  ])
  static let pairs = KeyTable("pairs", "pairs", lacks: { "\($0) is missing: pairs are {begin: \"\\r\\n\", separator: \"\\t\", close: Checksum}" }, [
    .init("begin", .bytes(limit: 8), "how each label begins", missing: ""),
    .init("separator", .bytes(limit: 1), "the byte behind a label", missing: ""),
    .init("close", .other("a label"), "the label whose value makes the sum of the block 0 modulo 256", missing: ""),
  ])
  static let units = KeyTable("units", "units", [
    .init("element", name, "the number in the frames that names the unit; every framing has an element of this name", missing: "element is missing: the number in the frames that names the unit"),
    .init("from", unitNumber, "the first possible unit", usual: "`1`"),
    .init("to", unitNumber, "the last one; at most 256 are possible", missing: "to is missing: the highest unit"),
    .init("default", .other("a unit"), "the unit that is used when none is named", usual: "`from`"),
    .init("request_adds", added, "this number is added to the unit's number in a request", usual: "`0`", since: "0.3"),
    .init("reply_adds", added, "this number is added to the unit's number in frames that the unit sends", usual: "`0`", since: "0.3"),
    .init("scan", .shared("range", "like `1..16`"), "the units that a search (`units: scan` in a profile) asks", usual: "all"),
  ])
  private static let unitNumber = KeyForm.integer(0...DescriptionReader.largestUnit)
  private static let added = KeyForm.integer(-DescriptionReader.largestUnit...DescriptionReader.largestUnit)

  // MARK: - Modbus

  static let modbus = KeyTable("modbus", "modbus", [
    .init("unit_number", .integer(0...255), "the unit that is asked, unless another one is named", usual: "`1`", since: "0.3"),
    .init("scan", .shared("range", "like `1..16`"), "the units that a search (`units: scan` in a profile) asks", usual: "`1..247`"),
    .init("longest", .integer(1...Modbus.registersPerRequest), "registers of one request, at most", usual: "`125`"),
    .init("across", .integer(0...Modbus.registersPerRequest), "the number of unneeded registers that may be read between two others to save a request. Some accessories refuse that", usual: "`0`"),
    .init("words_first", .words(["high", "low"]), "the first register of a larger number", usual: "`high`"),
    .init("tcp", .words(["header", "rtu"]), "the form of frames on the network: `header` for Modbus TCP, or `rtu` as on a serial line, for a gateway that only passes bytes on", usual: "`header`"),
  ])
  static let registers = KeyTable("registers", "a group of registers", lacks: { "\($0) is missing: {function: 4, fields: [{at: 0, name: …, type: u16}]}" }, [
    .init("summary", summary, "what is in them"),
    .init("function", .integer(Modbus.readFunctions), "1 coils, 2 discrete inputs, 3 holding registers, 4 input registers", missing: ""),
    .init("fields", .list("register", limit: DescriptionReader.stepLimit), "the registers", missing: ""),
    .init("optional", .flag, "not every accessory knows them", since: "0.3"),
  ])
  static let register = KeyTable("register", "a register", [
    .init("at", .integer(0...0xFFFF), "the address of its first register, as it is sent: manuals that write 30001 or 40001 for the first one count from 1", missing: "at is missing: the register's address, as it is sent: at: 0x331A"),
    .init("half", .words(["high", "low"]), "of a number of one byte: which byte of the register"),
    .init("words_first", .words(["high", "low"]), "of a number of several registers: which of them comes first; the same for all in `modbus`"),
    .init("repeat", .integer(1...ProtocolDescription.Limit.repetitions), "how many of them follow one another; the value is a list"),
  ] + field.keys(["name", "type", "bits", "value", "unit", "role", "importance", "unknown", "words", "flags", "truth", "list", "hidden", "bytes", "padding", "quantity"], page: "as of a [field](#fields); several values may be in one register"))
}
