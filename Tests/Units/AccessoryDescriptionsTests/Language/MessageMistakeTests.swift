// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import AccessoryDescriptions
@testable import AccessoryDrivers

/// What is said of messages and fields that are wrong, to the letter.
@Suite struct MessageMistakeTests {
  /// Messages in braces, which begin in column 16.
  @Test(
    arguments: [
      ("framing: g", "4:25: \"g\" is not a framing of this file: did you mean f?"),
      ("framing: {f: 1}", "4:25: the name of a framing of this file was expected, not keys with values"),
      ("framing: [f, f]", "4:29: the framing f is given twice"),
      ("whne: {n: 1}", "4:16: unknown key \"whne\": did you mean when?"),
      ("when: {m: 1}", "4:23: \"m\" is not a number in frames of f: did you mean n?"),
      ("when: {data: 1}", "4:23: data is not a number with a name, so it can't be compared or set"),
      ("when: {n: 256}", "4:26: the number of n must be a whole number from 0 to 255, not \"256\""),
      ("unless: {n: [1, x]}", "4:32: the number of n must be a whole number from 0 to 255, not \"x\""),
      ("when: {}", "4:22: when must have 1 to 16 entries, not 0"),
      ("pushed: yes", "4:24: pushed must be true or false, not \"yes\""),
      ("refusal: maybe", "4:25: refusal (or {reason: ELEMENT, words: {1: why}}) must be true or false, not \"maybe\""),
      ("refusal: {words: {1: why}}", "4:25: reason is missing: the element that says why (or write refusal: true)"),
      ("refusal: {reason: m}", "4:34: \"m\" is not a number in frames of f: did you mean n?"),
      ("refusal: {reason: n, words: {1: a, 0x1: b}}", "4:51: the number 1 is given twice"),
      (
        "fields: [{name: a, type: u8}], tags: {1: [{name: b, type: u8}]}",
        "4:12: a message must have one of fields, tags, pairs, columns, table or pattern, not several"
      ),
      ("types: {a: {}}", "4:23: types needs pattern, which is missing"),
      ("fields: []", "4:24: fields must have 1 to 255 entries, not 0"),
      ("pieces: {first: 1}", "4:24: index is missing: the field with the number of the piece"),
      (
        "pieces: {index: a}, fields: [{name: b, type: u8}]",
        "4:32: \"a\" is not a field of this message: did you mean b?"
      ),
      (
        "pieces: {index: a}, fields: [{name: a, type: text}]",
        "4:32: a is not a whole number, so it can't be the number of a piece"
      ),
      (
        "pieces: {index: a, count: c}, fields: [{name: a, type: u8}]",
        "4:42: pieces: count: there is no value \"c\": did you mean a?"
      ),
      ("pieces: {index: a, each: 3}, fields: [{name: a, type: u8}]", "4:41: each is only for pieces with a count"),
    ] as [(String, String)])
  func mistakesInMessagesAreReportedWithTheirPlace(keys: String, mistake: String) {
    #expect(DescriptionSample.message(keys) == [mistake])
  }

  /// Fields in brackets, which begin in column 25.
  @Test(
    arguments: [
      ("{name: a}", "4:25: a field needs a type: {name: battery.voltage, type: u16}"),
      ("{type: u8}", "4:25: a field needs a name: {name: battery.voltage, type: u16}"),
      ("a", "4:25: a field must be keys with values (name: …, type: …), not \"a\""),
      ("{name: a, type: u9}", "4:41: \"u9\" is not a type for fields and tags: did you mean u8?"),
      ("{name: a, type: number}", "4:41: bytes is missing for type: number: the number of bytes that it takes"),
      (
        "{name: A, type: u8}",
        "4:32: a value's name must consist of small letters a to z, digits and, after the first character, -, _ or ., "
          + "not \"A\""
      ),
      (
        "{name: a, type: u8}, {name: a, type: u8}",
        "4:46: the field a is already defined in line 4 (list: true makes a list of both)"
      ),
      (
        "{name: a, type: u8, bits: 8}",
        "4:51: bits must be one of 0 to 7, or a range like 0..3, the lowest first, not \"8\""
      ),
      (
        "{name: a, type: u8, bits: 3..1}",
        "4:51: bits must be one of 0 to 7, or a range like 0..3, the lowest first, not \"3..1\""
      ),
      ("{name: a, type: i8, bits: 1}", "4:51: bits are only for whole numbers of 0 or more"),
      ("{name: a, type: text, value: raw}", "4:54: value is only for numbers"),
      ("{name: a, type: u8, value: raw + a}", "4:52: value: a is the field itself: its number is raw"),
      ("{name: a, type: u8, value: raw / 0}", "4:58: value: nothing can be divided by 0"),
      (
        "{name: a, type: u8, value: raw / (1 - 1)}",
        "4:52: value: the formula has no value: its numbers are too large, or it divides by 0"
      ),
      (
        "{name: a, type: u8, value: raw * 999999999999 * 999999999999}",
        "4:52: value: the formula has no value: its numbers are too large, or it divides by 0"
      ),
      (
        "{name: a, type: u8, value: raw * 2, words: {1: b}}",
        "4:52: value can't be combined with words: words stand for the number as it is sent"
      ),
      ("{name: a, type: u8, value: 2}", "4:52: value: the formula doesn't name raw, the number that is sent"),
      ("{name: a, type: u8, value: raw *}", "4:57: value: a number, a name or a ( was expected, not the end"),
      ("{name: a, type: u8, value: raw = 1}", "4:56: value: \"=\" has no meaning in a formula: == compares"),
      ("{name: a, type: u8, value: raw > 1}", "4:52: value: a field's formula gives a number, not true or false"),
      (
        "{name: a, type: u8, value: raw-1}",
        "4:52: value: \"raw-1\" is one name: a minus needs blanks around it: raw - 1"
      ),
      (
        "{name: a, type: f32, value: signed}",
        "4:53: value: signed, unsigned, sign_magnitude and bcd are only for whole "
          + "numbers in bytes, and with bits only signed is"
      ),
      (
        "{name: a, type: u8, unknown: 256}",
        "4:54: the number that means unknown must be a whole number from 0 to 255, not \"256\""
      ),
      (
        "{name: a, type: u8, unknown: \"---\"}",
        "4:54: unknown must be a number without quotes here, not \"---\""
      ),
      ("{name: a, type: text, unknown: 1}", "4:56: unknown must be a text in quotes here, not \"1\""),
      (
        "{name: a, type: u8, words: {256: b}}",
        "4:53: a number of words must be a whole number from 0 to 255, not \"256\""
      ),
      ("{name: a, type: u8, words: {1: b}, truth: true}", "4:67: a field can have only one of words, flags and truth"),
      ("{name: a, type: u8, flags: {8: b}}", "4:53: a number of flags must be a whole number from 0 to 7, not \"8\""),
      ("{name: a, type: text, flags: {1: b}}", "4:54: flags is only for whole numbers"),
      ("{name: a, type: f32, words: {1: b}}", "4:53: words is only for whole numbers"),
      ("{name: a, type: u8, bytes: 2}", "4:52: bytes is only for the type text, hex or number, not for \"u8\""),
      (
        "{name: a, type: text, bytes: 1000000000}",
        "4:54: bytes must be a whole number from 1 to 256, not \"1000000000\""
      ),
      ("{name: a, type: hex}", "4:41: bytes is missing for type: hex: the number of bytes"),
      (
        "{name: a, type: scattered}",
        "4:41: places are missing for type: scattered, like [0.2, 1.0..6], the most significant bits first"
      ),
      (
        "{name: a, type: scattered, places: [0.8]}",
        "4:61: bits of a byte must be BYTE.BIT or BYTE.LOWEST..HIGHEST, like 1.0..6, with bits 0 to 7, not \"0.8\""
      ),
      ("{name: a, type: u8, value: raw * b}", "4:52: \"b\" is not a field of this message: did you mean a?"),
      ("{name: a, type: f32}, {name: b, type: u8, value: raw * a}", "4:74: value: a is not a whole number"),
      ("{name: a, type: u8, repeat: 0}", "4:53: repeat must be a whole number from 1 to 255, not \"0\""),
      ("{name: a, type: u8, repeat: 256}", "4:53: repeat must be a whole number from 1 to 255, not \"256\""),
      ("{name: a, type: u8, repeat: b}", "4:53: \"b\" is not a field in front of this: there is none"),
      (
        "{name: a, type: u8, repeat: b}, {name: b, type: u8}",
        "4:53: \"b\" is not a field in front of this: there is none"
      ),
      ("{name: a, type: f32}, {name: b, type: u8, repeat: a}", "4:75: repeat: a is not a whole number"),
      (
        "{name: a, type: u8, repeat: end}, {name: b, type: u8}",
        "4:25: fields that are repeated to the end take all bytes, so nothing can follow"
      ),
      (
        "{name: a, type: text}, {name: b, type: u8}",
        "4:25: a text without a number of bytes takes all bytes to the end, so nothing can follow"
      ),
      (
        "{tail: [{name: a, type: u8}]}, {name: b, type: u8}",
        "4:25: a tail takes all bytes to the end, so nothing can follow"
      ),
      (
        "{name: a, type: text, repeat: end}",
        "4:55: fields that are repeated up to the end must take bytes, and these may take none"
      ),
      ("{skip: 0}", "4:32: skip's count of bytes must be a whole number from 1 to 4096, not \"0\""),
      ("{group: [{name: a, type: u8}]}", "4:33: repeat is missing for group: how often the group is repeated"),
      (
        "{at_least: {a: 1}, fields: [{name: b, type: u8}]}",
        "4:37: \"a\" is not a field in front of this: there is none"
      ),
      (
        "{group: [{group: [{group: [{name: a, type: u8, repeat: 2}], repeat: 2}], repeat: 2}], repeat: 2}",
        "4:80: groups are nested more than 3 deep"
      ),
      (
        "{group: [{name: a, type: u8, repeat: 4}], repeat: 255}",
        "4:24: these fields take at least 1020 bytes, and a frame has at most 512"
      ),
      (
        "{group: [{name: a, type: u8, bits: 0, stay: true}, {name: b, type: u8, bits: 1, stay: true}], repeat: 255}, "
          + "{group: [{name: c, type: u8, bits: 0, stay: true}, {name: d, type: u8, bits: 1, stay: true}, {name: e, type: u8, "
          + "stay: true}], repeat: 255}", "4:24: these fields are 1275 values, more than 1024"
      ),
      (
        "{name: battery.volatge, type: u8, unit: V}",
        "4:32: \"battery.volatge\" is not one of the common values: did you mean battery.voltage?"
      ),
      (
        "{name: battery.voltage, type: u8}",
        "4:32: battery.voltage is in V: say unit: \"V\", and a value like raw / 10 where the accessory counts otherwise"
      ),
      (
        "{name: battery.voltage, type: u8, unit: mV}",
        "4:32: battery.voltage is in V: say unit: \"V\", and a value like raw / 10 where the accessory counts otherwise"
      ),
      (
        "{name: battery.time_to_full, type: u8}",
        "4:32: battery.time_to_full is in s, min or h: say unit: \"s\", and a value like raw / 10 where the accessory counts otherwise"
      ),
      (
        "{name: battery.cells, type: u8, unit: V}",
        "4:32: battery.cells must be a list of numbers (repeat, or list: true), not a number"
      ),
      ("{name: battery.percent, type: u8, words: {1: low}}", "4:32: battery.percent must be a number, not a word"),
      (
        "{name: battery.faults, type: u8}",
        "4:32: battery.faults must be names by bit (flags: {0: overheated}), not a number"
      ),
      (
        "{name: battery.charging, type: u8, words: {1: chargign}}",
        "4:32: battery.charging must be one of charging, discharging, not_charging, full, and can't be \"chargign\""
      ),
    ] as [(String, String)])
  func mistakesInFieldsAreReportedWithTheirPlace(fields: String, mistake: String) {
    #expect(DescriptionSample.message("fields: [\(fields)]") == [mistake])
  }

  /// Messages of text, which begin in column 16.
  @Test(
    arguments: [
      (
        "columns: [{name: a, type: u8}]",
        "4:42: u8 is a type for fields and tags; for columns, pairs and patterns there are number, hexnumber, bitstring, "
          + "word, text"
      ),
      (
        "columns: [{name: a, type: numbr}]",
        "4:42: \"numbr\" is not a type for columns, pairs and patterns: did you mean number?"
      ),
      ("columns: [{name: a, type: word}]", "4:42: translate is missing for type: word, like {ON: 1, OFF: 0}"),
      (
        "columns: [{name: a, type: word, translate: {A: 1, B: x}}]",
        "4:59: translate must give all numbers, like {ON: 1, OFF: 0}, or all words, like {L: line, B: battery}"
      ),
      (
        "columns: [{name: a, type: number, form: 1.0}]",
        "4:56: form must have a zero for each digit that is sent, like 000.0, not \"1.0\""
      ),
      (
        "columns: [{name: a, type: hexnumber, form: 0.0}]",
        "4:59: form must have a zero for each digit that is sent, like 000.0, not \"0.0\""
      ),
      (
        "pairs: {\" V\": {name: a, type: number}}, line_end: 0A",
        "4:24: a label must be printable ASCII without blanks around it, not \" V\""
      ),
      ("table: {\"V V\": {name: a, type: number}}", "4:24: a head must be printable ASCII without blanks, not \"V V\""),
      ("table: {}", "4:23: columns of the table must have 1 to 64 entries, not 0"),
      (
        "table: {V: {name: a, type: u8}}",
        "4:43: u8 is a type for fields and tags; for columns, pairs and patterns there are number, hexnumber, bitstring, "
          + "word, text"
      ),
      (
        "table: {V: {name: a, type: bitstring, flags: {0: hot}}}",
        "4:61: a column of a table has one value in each line, so it can't have flags"
      ),
      (
        "columns: [{name: a, type: number}], line_end: 0A",
        "4:62: line_end needs pairs or table, which is missing"
      ),
      ("columns: [{name: a, type: number, repeat: 2}]", "4:58: repeat is only for fields of bytes"),
      (
        "columns: [{name: a, type: number}], separation: places",
        "4:26: a column needs its first and last character, like at: 0..4"
      ),
      (
        "columns: [{name: a, type: number, at: 0..4}, {name: b, type: number}]",
        "4:61: at is missing, which other columns have: the first and the last of its characters, like at: 0..4"
      ),
      (
        "columns: [{name: a, type: number, at: 5..4}]",
        "4:54: at must be the first and the last of its characters, counted from 0, like 16..25, and at most 256 of them, not "
          + "\"5..4\""
      ),
      (
        "columns: [{name: a, type: hexnumber, as: f32}]",
        "4:57: as must be a type of whole number, not of a number with a fraction"
      ),
      ("columns: [{name: a, type: hexnumber, as: u9}]", "4:57: as: \"u9\" is not a type of number: did you mean u8?"),
      (
        "columns: [{name: a, type: hexnumber, as: u8, form: 00}]",
        "4:67: form can't be combined with as, which says how many digits there are"
      ),
      ("columns: [{name: a, type: number, as: u8}]", "4:54: as is only for the type hexnumber, not for \"number\""),
      (
        "columns: [{name: a, type: number, at: 3}], separation: \",\"",
        "4:54: at is only for columns without separation"
      ),
      (
        "columns: [{name: a, type: number}], separation: comma",
        "4:64: separation (or blanks) must be bytes in hexadecimal, two digits each, like DD A5 or 0F66, or a "
          + "text in double quotes, not \"comma\""
      ),
      (
        "pairs: {V: {name: a, type: number}}",
        "4:23: line_end is missing: what ends a line, like line_end: \"\\r\\n\""
      ),
      ("pattern: \"{a}{b}V\"", "4:25: two values of a pattern must have a text between them that ends the first"),
      ("pattern: \"{a} {a}V\"", "4:25: the value \"a\" is named twice in this pattern"),
      (
        "pattern: \"{aV\"",
        "4:25: pattern has a brace without its counterpart (write {{ for a brace in the text)"
      ),
      (
        "pattern: \"a}V\"",
        "4:25: pattern has a brace without its counterpart (write {{ for a brace in the text)"
      ),
      ("pattern: \"{a}V\", types: {b: {type: number}}", "4:41: the pattern has no value \"b\""),
      (
        "pattern: \"\"",
        "4:25: pattern must be a text of up to 512 bytes with names in braces, like \"{battery.voltage}V\", not "
          + "nothing"
      ),
      ("pattern: '{a}\\r'", "4:25: pattern has a backslash, which has a meaning only in double quotes: \"\\r\""),
    ] as [(String, String)])
  func mistakesInTextMessagesAreReportedWithTheirPlace(keys: String, mistake: String) {
    #expect(DescriptionSample.text(keys) == [mistake])
  }

  @Test func mistakesInTagsAndPairsAreReported() {
    #expect(
      DescriptionSample.message("tags: {256: [{name: a, type: u8}]}")
        == ["4:23: a tag must be a whole number from 0 to 255, not \"256\""])
    #expect(
      DescriptionSample.message("tags: {1: [{name: a, type: u8}], 0x01: [{name: b, type: u8}]}")
        == ["4:49: the tag 1 is given twice"])
    let head = DescriptionSample.head + "framings: {p: {pairs: {begin: 0A, separator: 09, close: C}}}\n"
    #expect(
      DescriptionSample.mistakes(head + "messages: {m: {fields: [{name: a, type: u8}]}}\n")
        == ["4:24: frames of p are pairs, and can't have fields"])
    #expect(
      DescriptionSample.mistakes(head + "messages: {m: {pairs: {C: {name: a, type: text}}}}\n")
        == ["4:24: the label C closes the frame, so it can't have a value"])
    #expect(
      DescriptionSample.mistakes(head + "messages: {m: {pairs: {V: {name: a, type: text}}, line_end: 0A}}\n")
        == ["4:61: line_end is already set by the framing: leave it out here"])
  }

  /// More fields than a body of a fixed size has bytes.
  @Test func fieldsBeyondAFixedBodyAreAMistake() {
    let text = DescriptionSample.head + "framings: {f: {layout: [start: A5, data: 8]}}\n"
    #expect(
      DescriptionSample.mistakes(text + "messages: {m: {fields: [{name: a, type: u64}, {name: b, type: u8}]}}\n")
        == ["4:24: these fields take at least 9 bytes, and there are 8"])
    #expect(DescriptionSample.mistakes(text + "messages: {m: {fields: [{name: a, type: u64}]}}\n") == [])
  }

  /// Framings of one message have what is named for it at one place.
  @Test func framingsOfOneMessageMustAgree() {
    func mistakes(_ second: String, _ message: String) -> [String] {
      DescriptionSample.mistakes(
        DescriptionSample.head
          + """
          framings:
            a: {layout: [start: 02, length: {type: u8, of: data}, id: u8, n: u8, data]}
            b: \(second)
          messages: {m: {framing: [a, b], \(message)}}

          """)
    }
    let long = "{layout: [start: 03, length: {type: u16, of: data}, id: u8, n: u8, data]}"
    #expect(mistakes(long, "when: {id: 1}, refusal: {reason: n}") == [])
    let place = "all framings of one message must have it at the same place of their layouts, with the same type"
    #expect(
      mistakes("{layout: [start: 03, length: {type: u16, of: data}, n: u8, id: u8, data]}", "when: {id: 1}")
        == ["6:40: id differs in frames of b: \(place)"])
    #expect(
      mistakes("{layout: [start: 03, length: {type: u16, of: data}, id: u16, n: u8, data]}", "unless: {id: 1}")
        == ["6:42: id differs in frames of b: \(place)"])
    #expect(
      mistakes("{layout: [start: 03, length: {type: u16, of: data}, data]}", "when: {id: 1}")
        == ["6:40: \"id\" is not a number in frames of b: it has none"])
    #expect(
      mistakes("{pairs: {begin: 0A, separator: 09, close: C}}", "pushed: true")
        == ["6:29: a message can have several framings only if each has a layout"])
  }

  /// One value has one unit.
  @Test func aValueInTwoUnitsIsAMistake() {
    let text = DescriptionSample.head + DescriptionSample.framings
    #expect(
      DescriptionSample.mistakes(
        text
          + "messages:\n  m: {fields: [{name: a, type: u8, unit: V}]}\n  k: {fields: [{name: a, type: u8, unit: A}]}\n")
        == ["6:23: a in line 5 is in V: a value must be the same everywhere"])
  }
}
