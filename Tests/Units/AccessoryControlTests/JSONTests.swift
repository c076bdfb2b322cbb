// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import TestSupport
import Testing

@Suite("JSON") struct JSONTests {
  private func read(_ text: String) throws(JSONError) -> JSON { try JSON(Array(text.utf8)) }

  @Test func everyKindOfValueIsReadAndWritten() throws {
    let text = #"{"a":[1,-2.5e3,true,false,null,"x\"\\\u0001é𝄞"],"b":{},"c":[]}"#
    let value = try read(" \n\t\r" + text + " ")
    #expect(
      value
        == .object([
          "a": .array([
            .number("1"), .number("-2.5e3"), .bool(true), .bool(false), .null, .string("x\"\\\u{1}é𝄞"),
          ]),
          "b": .object([:]), "c": .array([]),
        ]))
    #expect(String(decoding: value.bytes, as: UTF8.self) == text)
  }

  @Test func escapesInTextsAreDecoded() throws {
    #expect(try read(#""\/\b\f\n\r\t\u00e9\uD834\udd1e\u0000""#) == .string("/\u{8}\u{c}\n\r\té𝄞\0"))
  }

  @Test(arguments: [
    "", " ", "{", "[", "\"", "[1,]", "[,1]", "{\"a\":1,}", "{\"a\"}", "{a:1}", "{1:1}", "01", "+1", "1.", ".5", "1e",
    "-",
    "0x1", "tru", "nul", "NaN", "Infinity", "'a'", "1 2", "{}{}", "\"\\x\"", "\"\\u12\"", "\"\\uZZZZ\"", "\"\\ud800\"",
    "\"\\udc00\"", "\"\\ud800\\u0041\"", "\"\u{1}\"", "\"\n\"", "[1 2]", "// x\n1", "\u{feff}1", "{\"a\":1 \"b\":2}",
  ])
  func whatIsNotJSONIsRefused(_ text: String) {
    #expect(throws: JSONError.self) { try read(text) }
  }

  @Test func aNameThatIsThereTwiceIsRefused() {
    #expect(throws: JSONError.self) { try read(#"{"method":"a","method":"b"}"#) }
    #expect(throws: JSONError.self) { try read(#"{"a":1,"\u0061":2}"#) }
    // The same in Unicode's eyes, which Swift's strings see with.
    #expect(throws: JSONError.self) { try read("{\"\u{e9}\":1,\"e\u{301}\":2}") }
  }

  @Test(arguments: [
    [0x22, 0xFF, 0x22], [0x22, 0xC0, 0x80, 0x22], [0x22, 0xED, 0xA0, 0x80, 0x22], [0x22, 0xE2, 0x82, 0x22],
  ])
  func textThatIsNotUTF8IsRefused(_ bytes: [UInt8]) {
    #expect(throws: JSONError.self) { try JSON(bytes) }
  }

  @Test func deepNestingIsRefusedWithoutDescending() throws {
    let deepest = JSON.depthLimit
    _ = try read(String(repeating: "[", count: deepest) + String(repeating: "]", count: deepest))
    for opening in ["[", "{\"a\":"] {
      let error = #expect(throws: JSONError.self) { try read(String(repeating: opening, count: 200_000)) }
      #expect(error?.problem == "nested too deep")
    }
  }

  /// Foundation's decoder gets what has passed ours: nothing of that may bring it down.
  @Test(arguments: [
    "1e400", "-1e400", "1e-400", "9223372036854775808", "1.5", "0.1e1", String(repeating: "9", count: 60_000),
  ])
  func numbersOutOfRangeAreErrorsOfDecoding(_ digits: String) throws {
    let value = JSON.object(["device": .string("x"), "command": .string("y"), "timeout_ms": .number(digits)])
    let request = try? value.decoded(as: Bridge.Request.self)
    // What it rounds is not let through to it: the interface is checked before, and knows only whole numbers.
    #expect(request == nil || digits == "0.1e1" && request?.timeout_ms == 1 || digits == "1e-400")
  }

  /// Whatever changes in a message, reading it ends, with a value that survives writing or with an error.
  @Test func changedMessagesNeverBringItDown() throws {
    let seeds = [
      #"{"method":"accessorybridge.Bridge.Request","parameters":{"device":"a\u00e9","command":"0x12","timeout_ms":-1.5e3}}"#,
      #"{"more":true,"parameters":{"a":[[],{},[null,false,"\ud834\udd1e"]]},"method":""}"#,
    ].map { Array($0.utf8) }
    let pieces = ["\"", "\\", "{", "}", "[", "]", ",", ":", "\\u", "\\ud800", "1e9", "-", "\u{0}", "null", "é"]
    var random = SeededGenerator(seed: 7)
    var readable = 0
    for _ in 0..<20_000 {
      var bytes = seeds[Int(random.next() % 2)]
      for _ in 0..<(1 + random.next() % 4) {
        let place = Int(random.next() % UInt64(bytes.count + 1))
        switch random.next() % 4 {
        case 0: bytes.insert(contentsOf: pieces[Int(random.next() % UInt64(pieces.count))].utf8, at: place)
        case 1: if place < bytes.count { bytes[place] = UInt8(truncatingIfNeeded: random.next()) }
        case 2: bytes.removeSubrange(place..<min(bytes.count, place + Int(random.next() % 8)))
        default: bytes.insert(contentsOf: bytes[place..<min(bytes.count, place + Int(random.next() % 40))], at: place)
        }
      }
      guard let value = try? JSON(bytes) else { continue }
      readable += 1
      #expect(try JSON(value.bytes) == value)
      _ = try? CallMessage(value)
      _ = ReplyMessage(value)
      _ = try? value.decoded(as: Bridge.Request.self)
    }
    #expect(readable > 100, "most of what was read was no JSON at all: \(readable)")
  }
}
