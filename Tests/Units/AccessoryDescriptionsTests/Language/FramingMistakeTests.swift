// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import AccessoryDescriptions
@testable import AccessoryDrivers

/// What is said of heads, framings and bytes that are wrong, to the letter.
@Suite struct FramingMistakeTests {
  @Test func aFramingOfTheOtherDirectionIsToldWhereItIsUsed() {
    let framings = """
      framings:
        sent: {direction: to_device, layout: [start: DD, data: 1]}
        received: {direction: from_device, layout: [start: DD, data: 1]}

      """
    let rest =
      "messages: {m: {framing: sent}, n: {framing: received}}\nrequests: {r: {send: received}, s: {send: sent}}\n"
    #expect(
      DescriptionSample.mistakes(DescriptionSample.head + framings + rest) == [
        "6:25: frames of sent are never received: its direction is to_device",
        "7:22: frames of received are never sent: its direction is from_device",
      ])
    #expect(
      DescriptionSample.layout("start: DD, data: 1", ", direction: in")
        == ["3:57: direction must be to_device, from_device or both, not \"in\""])
  }

  @Test(
    arguments: [
      ("just text", "1:1: a protocol's description must be keys with values (protocol: …), not \"just text\""),
      ("[1]", "1:1: a protocol's description must be keys with values (protocol: …), not a list"),
      ("version: 1\n", "1:1: the protocol's name is missing: protocol: my-gadget"),
      ("protocol: x\n", "1:1: the language's version is missing: version: 1"),
      ("protocol: x\nversion: 2\n", "2:10: version must be 1, the only one that is supported, not \"2\""),
      (
        "protocol: X\nversion: 1\n",
        "1:11: a protocol's name must consist of small letters a to z, digits and, after the first character, -, _ or "
          + "., not \"X\""
      ),
      (
        "protocol: ../x\nversion: 1\n",
        "1:11: a protocol's name must consist of small letters a to z, digits and, after the first character, -, _ or "
          + "., not \"../x\""
      ),
      (
        "protocol: ev3\nversion: 1\n",
        "1:11: the name ev3 belongs to a built-in driver: give the protocol another name"
      ),
      ("protocol: x\nversion: 1\n", "1:1: framings are missing: the description of its frames"),
      ("protocol: x\nversion: 1\nframing: {}\n", "3:1: unknown key \"framing\": did you mean framings?"),
      (
        "protocol: x\nversion: 1\nsilence: 1\n",
        "3:1: unknown key \"silence\": the nearest is line; known here: protocol, version, description, raw, byte_order, line, "
          + "bluetooth, advertisement, modbus, registers, framings, units, messages, parameters, derived, plausible, requests, "
          + "plan, examples"
      ),
      (
        "protocol: x\nversion: 1\nwake: {}\n",
        "3:1: unknown key \"wake\": it belongs in plan; known here: protocol, version, description, raw, byte_order, line, "
          + "bluetooth, advertisement, modbus, registers, framings, units, messages, parameters, derived, plausible, requests, "
          + "plan, examples"
      ),
      ("protocol: x\nversion: 1\nbyte_order: middle\n", "3:13: byte_order must be big or little, not \"middle\""),
      ("protocol: x\nversion: 1\nline: {buad: 9600}\n", "3:8: unknown key \"buad\": did you mean baud?"),
      ("protocol: x\nversion: 1\nframings: {}\n", "3:11: framings must have 1 to 8 entries, not 0"),
      ("protocol: x\nversion: 1\nframings: [a]\n", "3:11: framings must be names with values, not a list"),
      (
        "protocol: x\nversion: 1\nframings: {F: {layout: [data: 1]}}\n",
        "3:12: a framing's name must consist of small letters a to z, digits and, after the first character, -, _ or "
          + "., not \"F\""
      ),
      (
        "protocol: x\nversion: 1\nframings: {f: {max: 5}}\n",
        "3:12: a framing must have one of layout, window and pairs, not none"
      ),
      (
        "protocol: x\nversion: 1\nframings: {f: {layout: [data: 1], window: {pattern: 00, mask: FF}}}\n",
        "3:12: a framing must have one of layout, window and pairs, not several"
      ),
      (
        "protocol: x\nversion: 1\nframings: {f: {window: {pattern: 00 01, mask: FF}}}\n",
        "3:47: mask must have as many bytes as pattern, which has 2, not 1"
      ),
      (
        "protocol: x\nversion: 1\nframings: {f: {window: {pattern: 00, mask: 00}}}\n",
        "3:44: mask has no bit that is 1, so any bytes would be a frame"
      ),
      (
        "protocol: x\nversion: 1\nframings: {f: {window: {pattern: 03, mask: 01}}}\n",
        "3:34: pattern has a bit that is 1 where mask is 0: it would never be compared"
      ),
      (
        "protocol: x\nversion: 1\nframings: {f: {window: {pattern: 03}}}\n",
        "3:24: window needs a pattern and a mask: {pattern: 00 00 3A, mask: C0 80 FF}"
      ),
      (
        "protocol: x\nversion: 1\nframings: {f: {window: {pattern: 03, mask: FF}, digits: hex}}\n",
        "3:57: digits is only for framings with a layout"
      ),
      (
        "protocol: x\nversion: 1\nframings: {f: {window: {pattern: 03, mask: FF}, ignore: {bytes: 00}}}\n",
        "3:57: ignore is only for framings with a layout, without digits: hex"
      ),
      (
        "protocol: x\nversion: 1\nframings: {f: {pairs: {begin: 0A, separator: 09}}}\n",
        "3:23: close is missing: pairs are {begin: \"\\r\\n\", separator: \"\\t\", close: Checksum}"
      ),
      (
        "protocol: x\nversion: 1\nframings: {f: {pairs: {begin: 09, separator: 09, close: C}}}\n",
        "3:46: separator must be a byte that is in neither begin nor close"
      ),
      (
        "protocol: x\nversion: 1\nframings: {f: {pairs: {begin: 0A, separator: 09 0A, close: C}}}\n",
        "3:46: separator must have 1 byte, not 2"
      ),
    ] as [(String, String)])
  func mistakesInTheHeadAndFormsAreReported(text: String, mistake: String) {
    #expect(DescriptionSample.mistakes(text).contains(mistake), "\(DescriptionSample.mistakes(text))")
  }

  /// Layouts in brackets, which begin in column 25.
  @Test(
    arguments: [
      (
        "start: DD, data",
        "3:24: the length of a frame can't be known: it needs a length, an end, or "
          + "data of a fixed size (data: 8)"
      ),
      (
        "start: DD, end: 77",
        "3:24: data is missing among the elements: the payload of the frame (data: 8 if it always has 8 bytes)"
      ),
      ("data, data: 3", "3:31: the element data is already defined in line 3"),
      ("n: u8, n: u8, data: 1", "3:32: the element n is already defined in line 3"),
      ("data: 1, start: DD", "3:34: start must be the first element (use constant elsewhere)"),
      ("end: DD, data: 1", "3:25: end must stand behind data: only a check, a constant or a number can follow it"),
      (
        "start: DD, data: 1, end: 77, n: u8",
        "3:45: end can stand in front of other elements only if their sizes are fixed, without digits: hex, and where neither a "
          + "length nor the size of data says how long a frame is"
      ),
      ("start: DD, data: 8, length: {type: u8, of: data}", "3:45: length must stand before data"),
      (
        "length: {type: u8, of: data}, data: 8",
        "3:55: data can have a fixed size or a length before it, not both"
      ),
      (
        "length: {type: u8, of: start}, data",
        "3:48: \"start\" is not an element of this layout: the nearest is data; known here: length, data"
      ),
      ("start: DD, length: {type: u8, of: start}, data", "3:59: of must include data"),
      ("length: {type: i8, of: data}, data", "3:40: a length must be u8, u16, u24 or u32, not \"i8\""),
      ("length: {type: u64, of: data}, data", "3:40: a length must be u8, u16, u24 or u32, not \"u64\""),
      ("length: {type: u8}, data", "3:33: length needs a type and the elements that it counts: {type: u8, of: data}"),
      (
        "length: {type: u8, of: data, adjust: 1000000000}, data",
        "3:62: adjust must be a whole number from -4096 to 4096, not \"1000000000\""
      ),
      (
        "length: {type: u8, of: data, nibble_check: true}, data",
        "3:68: nibble_check is only for a length of two bytes (u16)"
      ),
      ("data: 0", "3:31: data's count of bytes must be a whole number from 1 to 4096, not \"0\""),
      ("data: 1000000000", "3:31: data's count of bytes must be a whole number from 1 to 4096, not \"1000000000\""),
      ("start: DD, data: 600", "3:24: the shortest frame has 601 bytes, more than max, which is 512"),
      ("n: u9, data: 1", "3:28: the element n: \"u9\" is not a type of number: did you mean u8?"),
      ("n: f32, data: 1", "3:28: an element must be a whole number, not one with a fraction"),
      ("n: [u8], data: 1", "3:28: the element n must be a type of number, like u8 or i16le, not a list"),
      ("n.a: u8, data: 1", "3:25: an element's name can't have a point"),
      (
        "N: u8, data: 1",
        "3:25: an element's name must consist of small letters a to z, digits and, after the first character, -, _ or "
          + "., not \"N\""
      ),
      (
        "dat",
        "3:25: an element must be data, or a name and its form, like start: DD, register: u8, length: {type: u8, of: "
          + "data}, not \"dat\""
      ),
      ("data: 1, check: {algorithm: sum9, over: data}", "3:53: \"sum9\" is not a checksum: did you mean sum8?"),
      (
        "data: 1, check: {algorithm: crc-16/xmoden, over: data}",
        "3:53: \"crc-16/xmoden\" is not a checksum: did you mean crc-16/xmodem?"
      ),
      (
        "data: 1, check: {over: data}",
        "3:41: check needs an algorithm, and the elements that it covers: {algorithm: sum8, over: start..data}"
      ),
      (
        "data: 1, check: {algorithm: sum8, over: start..data}",
        "3:65: \"start\" is not an element of this layout: the nearest is data; known here: data, check"
      ),
      (
        "data: 1, n: u8, check: {algorithm: sum8, over: n..data}",
        "3:72: over must name the first element and then the last, not \"n..data\""
      ),
      ("data: 1, check: {algorithm: sum8, over: data..check}", "3:65: a check can't cover itself"),
      (
        "constant: AA, constant: BB, data: 1, check: {algorithm: sum8, over: constant}",
        "3:93: the element constant is there 2 times, so it can't be named"
      ),
      (
        "data, check: {algorithm: sum16, over: data, as: decimal}, end: 0A",
        "3:73: as: decimal needs a checksum of one byte, not of 2"
      ),
      (
        "data: 1, check: {algorithm: sum8, over: data, as: decimal}",
        "3:34: a check in decimal must be the last element before end, in frames that are read up to end"
      ),
      (
        "data: 1, check: {algorithm: sum8, over: data, bump: [28, \"12\"]}",
        "3:82: each of bump must have 1 byte, not 2"
      ),
      (
        "start: \"DD A5\", data: 1",
        "3:32: start in quotes is a text with 5 characters: write hexadecimal bytes without quotes (a text that looks "
          + "like them is {text: \"DD A5\"})"
      ),
      (
        "start: D, data: 1",
        "3:32: start must be bytes in hexadecimal, two digits each, like DD A5 or 0F66, or a text in double "
          + "quotes, not \"D\""
      ),
      (
        "start: ~Q, data: 1",
        "3:32: start must be bytes in hexadecimal, two digits each, like DD A5 or 0F66, or a text in "
          + "double quotes, not \"~Q\""
      ),
      ("start: '\\r', data: 1", "3:32: start has a backslash, which has a meaning only in double quotes: \"\\r\""),
      (
        "start: \"€\", data: 1",
        "3:32: start has a character that is more than one byte: write the bytes that the accessory sends for it as \\xNN"
      ),
      (
        "start: {bytes: 1}, data: 1",
        "3:32: start must be bytes in hexadecimal like DD A5, or a text in quotes, not keys with values"
      ),
      ("start: \"\", data: 1", "3:32: start must have 1 to 64 bytes, not 0"),
    ] as [(String, String)])
  func mistakesInALayoutAreReportedWithTheirPlace(elements: String, mistake: String) {
    #expect(DescriptionSample.layout(elements) == [mistake])
  }

  @Test(
    arguments: [
      (", digits: oct", "3:69: digits must be hex, not \"oct\""),
      (", checks: digits", "3:69: checks is only for framings with digits: hex"),
      (
        ", digits: hex, first_digit: single",
        "3:24: with first_digit: single the first element after start must be a number of one byte (u8)"
      ),
      (", max: 5000", "3:66: max must be a whole number from 4 to 4096, not \"5000\""),
      (", max: 5, digits: hex", "3:24: the shortest frame has 6 bytes, more than max, which is 5"),
      (", ignore: 00", "3:69: ignore must be keys with values (bytes: …), not \"00\""),
      (", ignore: {}", "3:69: ignore must have bytes, or texts, or both: {bytes: 00, texts: [\"SEARCHING...\"]}"),
      (", ignore: {bites: 00}", "3:70: unknown key \"bites\": did you mean bytes?"),
      (
        ", ignore: {bytes: x}",
        "3:77: bytes must be bytes in hexadecimal, two digits each, like DD A5 or 0F66, or a text in double quotes, "
          + "not \"x\""
      ),
      (", interrupts: maybe", "3:73: interrupts must be true or false, not \"maybe\""),
    ] as [(String, String)])
  func mistakesInAFramingsOptionsAreReported(rest: String, mistake: String) {
    #expect(
      DescriptionSample.layout("start: \":\", n: u16, data, end: 0A", rest).contains(mistake),
      "\(DescriptionSample.layout("start: \":\", n: u16, data, end: 0A", rest))")
  }

  @Test(
    arguments: [
      (
        "start: DD, length: {type: u8, of: data}, data",
        "3:24: with digits: hex a frame needs an end, or data of a fixed size"
      ),
      (
        "start: DD, data, check: {algorithm: sum8, over: start..data}, end: 0A",
        "3:42: with digits: hex a check covers elements that are written in digits, not start or end"
      ),
    ] as [(String, String)])
  func mistakesInHexadecimalFramingsAreReported(elements: String, mistake: String) {
    #expect(DescriptionSample.layout(elements, ", digits: hex") == [mistake])
  }

  /// A check that is only there behind data needs its room all the same.
  @Test func aCheckThatMayBeMissingHasNoRoom() {
    let elements = "start: 28, kind: u8, data, check: {algorithm: sum16, over: data, unless_empty: true}, end: 0D"
    let mistakes = DescriptionSample.layout(elements, ", max: 4")
    #expect(mistakes.count == 1 && mistakes[0].hasSuffix("the shortest frame has 5 bytes, more than max, which is 4"))
    #expect(DescriptionSample.layout(elements, ", max: 5") == [])
  }

  @Test func aWindowBesideAnotherFramingIsAMistake() {
    #expect(
      DescriptionSample.mistakes(
        DescriptionSample.head + "framings: {w: {window: {pattern: 03, mask: FF}}, f: {layout: [data, end: 0A]}}\n")
        == ["3:12: a window must be the only framing of its protocol: nothing marks where such a frame begins"])
  }

  /// A check's digits would be written in digits again.
  @Test func aCheckInDigitsOfDigitsIsAMistake() {
    #expect(
      DescriptionSample.layout("data, check: {algorithm: sum8, over: data, as: hex}, end: 0A", ", digits: hex")
        == ["3:72: with digits: hex all data is in digits already: leave out as"])
  }
}
