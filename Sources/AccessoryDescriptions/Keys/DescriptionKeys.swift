// SPDX-License-Identifier: Apache-2.0
//
// A row is a line.
// swift-format-ignore-file

import AccessoryConfiguration
import AccessoryProtocols

/// The keys of a description, by mappings. Everything else that lists them is made from these tables: see `KeyTable`.
enum DescriptionKeys {
  static let description = KeyTable("description", "a protocol's description", place: "the description itself", [
    .init("protocol", .shared("name", "a name"), "what the protocol is called; not like a built-in driver. In a profile it is omitted: it has the profile's name", missing: "the protocol's name is missing: protocol: my-gadget"),
    .init("version", .other("`1`"), "the version of this language", missing: "the language's version is missing: version: \(DescriptionReader.version)"),
    .init("description", .text(limit: 200, called: "a description"), "what it is for, a line"),
    .init("raw", .words(["harmless", "guarded"]), "what raw bytes can do to it, see [below](#raw)", usual: "`guarded`", since: "0.3"),
    .init("byte_order", .words(["big", "little"]), "the order of all numbers without a byte order of their own (`u16le`, `u16be`)", usual: "`big`"),
    .init("line", .shared("line", "`tty` settings as in a [profile](profiles.md#transport)"), "the settings of profiles that name this protocol, unless they set others"),
    .init("bluetooth", .shared("bluetooth", "see [below](#bluetooth)"), "how its accessories look on the air", since: "0.3"),
    .init("advertisement", .shared("advertisement", "see [below](#advertisement)"), "its accessories are read by what they advertise, without a connection", since: "0.3"),
    .init("modbus", .shared("modbus", "see [Modbus](#modbus)"), "what holds for all registers, and for the line"),
    .init("registers", .named("registers", limit: DescriptionReader.requestLimit), "groups of registers that are read together, in place of `framings`, `messages` and `requests`"),
    .init("framings", .named("framing", limit: DescriptionReader.framingLimit), "the forms of frames", usual: "this or `registers`"),
    .init("units", .shared("units", "see [below](#units)"), "which of several accessories on one line a frame is for"),
    .init("messages", .named("message", limit: DescriptionReader.messageLimit), "the meaning of frames"),
    .init("parameters", .named("parameter", limit: 16), "numbers that the accessory doesn't send, and that its user knows"),
    .init("derived", .list("derivation", limit: 64), "values that are calculated from others"),
    .init("plausible", .other("see [below](#plausible)"), "what its numbers can be, where that is less than usual", since: "0.3"),
    .init("requests", .named("request", limit: DescriptionReader.requestLimit), "what it can be asked"),
    .init("plan", .shared("plan", "see [below](#plan)"), "which requests are made, and when"),
    .init("examples", .list("example", limit: 256), "exchanges and the values that they give"),
  ])

  /// The same, where a profile has the name.
  static let partOfProfile = KeyTable(description.name, description.title, description.keys.filter { $0.name != "protocol" })

  // MARK: - On the air

  static let looks = KeyTable("looks", "looks", [
    .init("name", .shared("air_names", "a text, or several"), "their names, in which `*` stands for any characters, and `?` for one", since: "0.3"),
    .init("address", .other("`\"A5:C2:37\"`, or several"), "how their addresses begin", since: "0.3"),
    .init("manufacturer", .shared("integers", "a number, or several"), "the companies whose data they send", since: "0.3"),
    .init("data", .bytes(limit: 16), "how the data of these companies begin, in hexadecimal digits", since: "0.3"),
    .init("service", uuid, "the service that they tell; here a service alone is enough", since: "0.3"),
  ])
  static let bluetooth = KeyTable("bluetooth", "bluetooth", [
    looks["name"]!, looks["manufacturer"]!,
    .init("service", uuid, "the service that they tell, and that has the characteristics", since: "0.3"),
    .init("write", uuid, "the characteristic that is written; without it and `notify` the [usual ones](bluetooth.md#which-bytes) are looked for", since: "0.3"),
    .init("notify", uuid, "the characteristic that sends notifications", since: "0.3"),
    .init("greet", .shared("greet", "`{characteristic: fffa, send: \"HiLink\"}`"), "this characteristic is told these bytes after connecting, up to 20, where the device has it", since: "0.3"),
    .init("looks", .oneOrMore("looks", limit: 64), "other combinations, each of which is enough, see below", since: "0.3"),
  ])
  static let greet = KeyTable("greet", "greet", lacks: { _ in "greet needs a characteristic and what it is told: {characteristic: fffa, send: 01}" }, [
    .init("characteristic", uuid, "the characteristic that is told", since: "0.3", missing: ""),
    .init("send", .bytes(limit: ProtocolDescription.Bluetooth.greetingLimit), "what it is told", since: "0.3", missing: ""),
  ])

  static let advertisement = KeyTable("advertisement", "advertisement", [
    .init("manufacturer", .integer(0...0xFFFF), "the company whose data are read", since: "0.3", missing: "manufacturer is missing: the number of the company whose data are read, like 0x02E1"),
    .init("begins", .bytes(limit: 16), "the bytes with which the data begin; others are ignored", since: "0.3"),
    .init("aes_ctr", .shared("aes_ctr", "`{nonce: 5..6, key_byte: 7, from: 8}`"), "the data are encrypted by AES-128 in counter mode, with a key in [the profile](profiles.md#transport): `nonce` are the bytes with the number of the message, the lowest byte first, `key_byte` is the byte that is the first one of the key, and `from` is the first encrypted byte; bytes are counted from 0. The nonce begins each block of counters, whose last bytes count the blocks from 0", since: "0.3"),
  ])
  static let counterMode = KeyTable("aes_ctr", "aes_ctr", lacks: { _ in "aes_ctr needs nonce and from: {nonce: 5..6, from: 8}, bytes of the data, from 0 on" }, [
    .init("nonce", .shared("range", "like `5..6`"), "the bytes with the number of the message, the lowest first", since: "0.3", missing: ""),
    .init("key_byte", .integer(0...DescriptionReader.packetLimit), "the byte that is the key's first one", since: "0.3"),
    .init("from", .integer(1...DescriptionReader.packetLimit), "the first encrypted byte", since: "0.3", missing: ""),
  ])

  // MARK: - Forms of values

  static let uuid = KeyForm.shared("uuid", "a UUID of 4 digits, or of 32 with hyphens")
  static let name = KeyForm.shared("name", "a name")
  static let names = KeyForm.shared("names", "a name, or several")
  static let formula = KeyForm.shared("formula", "a [formula](#formulas)")
  static let unit = KeyForm.text(limit: 16)
  static let words = KeyForm.shared("words", "texts by number")
  static let summary = KeyForm.text(limit: 200)

  // MARK: -

  /// All tables, in the order in which a key's place is looked for that is found elsewhere.
  static let all = [
    field, framing, message, request, plan, check, length, argument, example, units, derivation, parameter, wake, poll,
    advertisement, counterMode, bluetooth, greet, looks, modbus, registers, register, description, column, pairs,
    refusal, pieces, ignore, identify, startStep, steps,
  ]
  static let places = [("line", TerminalKeys.tty.names)] + all.map(\.place)
}
