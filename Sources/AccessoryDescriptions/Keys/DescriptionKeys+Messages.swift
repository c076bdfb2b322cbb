// SPDX-License-Identifier: Apache-2.0
//
// A row is a line.
// swift-format-ignore-file

import AccessoryConfiguration
import AccessoryCore
import AccessoryProtocols

// The keys that say what frames mean.
extension DescriptionKeys {
  static let message = KeyTable("message", "a message", [
    .init("framing", names, "the framing of its frames; may be left out when there is only one. Several, `[short, long]`, if frames of one meaning have different headers: each has a layout, and the elements that the message names have the same place and type in all of them"),
    .init("when", .shared("conditions", "`{register: 3}`, `{status: [0, 1]}`"), "the values that elements must have"),
    .init("unless", .shared("conditions", "likewise"), "the values that elements must not have"),
    .init("fields", .shared("fields", "a list of [fields](#fields)"), "values one after another in `data`"),
    .init("tags", .other("`{0x83: [fields]}`"), "values after tags of one byte; bytes after an unknown tag are not read"),
    .init("pairs", .other("`{V: {…field}}`"), "values by labels. Other labels are ignored"),
    .init("columns", .list("column", limit: ProtocolDescription.Limit.repetitions), "values in columns, see below"),
    .init("table", .other("`{Volt: {…field}}`"), "values in columns below headings, by the words of the headings, see below"),
    .init("pattern", .other("`\"{battery.voltage}V\"`"), "a text with names in braces; write `{{` for a brace in the text. Blanks and line ends at both ends of the text are ignored"),
    .init("types", .other("`{battery.voltage: {type: number, unit: V}}`"), "of a pattern's values, by name; without one a value is a `number`"),
    .init("line_end", .bytes(limit: 8), "with `pairs`, if the framing isn't of the kind `pairs`: the end of a line, like `\"\\r\\n\"` (required). With `table`: the end of a line, `\"\\n\"` without this key"),
    .init("separator", .bytes(limit: 8), "likewise, the text after a label; `\":\"` without this key"),
    .init("separation", .other("`blanks`, or a byte like `\",\"`"), "of columns; `blanks` without this key"),
    .init("pushed", .flag, "the accessory sends it without a request"),
    .init("refusal", .other("`true`, or `{reason: ELEMENT, words: {1: why}}`"), "it refuses a request"),
    .init("pieces", .shared("pieces", "see below"), "several frames make one reply"),
  ])
  static let refusal = KeyTable("refusal", "refusal", [
    .init("reason", name, "the element that says why", missing: "reason is missing: the element that says why (or write refusal: true)"),
    .init("words", words, "why, by number"),
  ])
  static let pieces = KeyTable("pieces", "pieces", [
    .init("index", name, "the field with the number of the piece", missing: "index is missing: the field with the number of the piece"),
    .init("first", .integer(0...255), "the number of the first piece"),
    .init("count", .text(limit: 64, called: "a field's name"), "a whole number of this or another message: the number of things in all pieces together"),
    .init("each", .integer(1...255), "the number of things in a piece"),
    .init("silence", .milliseconds(1...10_000), "the reply ends after such a silence", isSeldom: true),
  ])

  static let field = KeyTable("field", "a field", [
    .init("name", name, "the name of the value, see [names](#names)", usual: "required"),
    .init("type", .shared("field_type", "a type, see below"), "what it is read from", usual: "required"),
    .init("bits", .shared("range", "`3`, `0..3`"), "some bits of the number, the lowest first"),
    .init("stay", .flag, "the next field begins at the same place, to take other bits"),
    .init("value", formula, "how the value is calculated from `raw`, the number as it is sent: `(raw - 2731) / 10`; without this key it is `raw`", since: "0.3"),
    .init("unit", unit, "`V`, `A`, `Ah`, `W`, `Wh`, `°C`, `\"%\"`, `Hz`, `s`, `min`, `rpm` …"),
    .init("role", .shared("role", "see [roles](#roles)"), "the meaning of the value for programs that know devices of this kind", since: "0.3"),
    .init("importance", .choice(Importance.self), "how much the value matters to people, see [importance](#importance)", usual: "what its meaning implies", since: "0.3"),
    .init("unknown", .other("`[0xFFFF]`, `\"n/a\"`"), "numbers, or texts in quotes, that mean an unknown value; for texts also `dashes`: only dashes and points, like `---.-`, or `@` and points, like `@@.@`"),
    .init("words", words, "words by number: `{0: idle, 1: charging}`; a number without a word becomes its digits, such as `\"24\"`, because newer firmware may have more numbers"),
    .init("flags", .shared("words", "names by bit"), "names by bit, 0 the lowest: `{0: overheated}`; the value is a list of names, in the order of bits"),
    .init("truth", .flag, "the value is yes or no"),
    .init("repeat", .other("`3`, `FIELD`, `end`, `prefixed`"), "how many there are; `FIELD` is a count that was read before, `prefixed` a byte before them with the number of bytes; the value is a list"),
    .init("list", .flag, "all values of this name form a list"),
    .init("hidden", .flag, "for use in this file only"),
    .init("bytes", .integer(1...ProtocolDescription.Limit.text), "of some [types of texts](#types-of-texts): how many it takes"),
    .init("padding", .bytes(limit: 8), "of `text`: bytes that are dropped at its end"),
    .init("suffix", unit, "of `number`: a text that is dropped behind it"),
    .init("lowest_first", .flag, "of `bitstring`: it begins with bit 0", since: "0.3"),
    .init("translate", .shared("text_words", "numbers or words by text"), "of `word`: a number for each text, or a word", since: "0.3"),
    .init("form", .other("`000.0`"), "of numbers in texts: a zero for each digit that is sent"),
    .init("as", .shared("number_type", "a [type of number](#types-of-numbers)"), "of `hexnumber`: the type of number whose bytes the digits are"),
    .init("quantity", .text(limit: 32), "what is measured", isSeldom: true),
    .init("places", .other("bits of bytes"), "of `scattered`: where its bits are", isSeldom: true),
    .init("sign", .other("a bit of a byte"), "of `scattered`: where its sign is", isSeldom: true),
  ])
  /// In `types`, which has their names. Their type may be missing.
  static let typeOfPattern = KeyTable("types", "a field", field.keys.filter { $0.name != "name" })
  static let tableColumn = KeyTable("table", "a column", field.keys + [mayBeMissing])
  static let column = KeyTable("column", "a column", field.keys + [
    .init("column", .integer(0...ProtocolDescription.Limit.repetitions), "its number from 0"),
    .init("at", .shared("range", "`16..25`"), "its first and its last character, counted from 0"),
    mayBeMissing,
  ])
  private static let mayBeMissing = KeyTable.Key("may_be_missing", .flag, "the text may end before it", since: "0.3")

  /// Steps in a list of fields that aren't fields: each has one of these keys, `group` also `repeat`, and a condition `fields`.
  static let steps = KeyTable("steps", "a step", [
    .init("skip", .integer(1...ProtocolDescription.Limit.frame), "bytes that mean nothing"),
    .init("group", .shared("fields", "a list of fields"), "the same fields several times"),
    .init("repeat", .other("as of a field"), "how many times"),
    .init("tail", .shared("fields", "a list of fields"), "only if bytes are left"),
    .init("at_least", .other("`{FIELD: 3}`"), "only if a field is at least so much", since: "0.3"),
    .init("below", .other("`{FIELD: 3}`"), "only if a field is less", since: "0.3"),
    .init("fields", .shared("fields", "a list of fields"), "the fields of a condition"),
  ])

  static let parameter = KeyTable("parameter", "a parameter", [
    .init("summary", summary, "what it is"),
    .init("unit", unit, "`V`, `A`, `Ah`, …"),
    .init("from", .other("a number"), "what it is at least", usual: "required"),
    .init("to", .other("a number"), "what it is at most", usual: "required"),
    .init("default", .other("a number"), "what it is if nobody says anything else"),
  ])
  static let derivation = KeyTable("derivation", "a derived value", place: "derived", lacks: { "a derived value needs a \($0): {name: n, value: a - b}" }, [
    .init("name", name, "the name of the value", missing: ""),
    .init("value", formula, "how it is calculated from other values, by their names", since: "0.3", missing: ""),
    .init("translate", .shared("text_words", "`{bulk: charging}`"), "another word for each word of the formula; other words are unknown", since: "0.3"),
  ] + field.keys(["unit", "role", "importance", "hidden", "quantity"], page: "as of a [field](#fields)"))
}
