// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryIO
import AccessoryProtocols
import TestSupport
import Testing

@testable import AccessoryDescriptions
@testable import AccessoryDrivers

/// Texts that are made to cost much, or to break the reader: each is read or refused, and nothing traps.
///
/// No time is asserted; a text that cost more than its size allows would keep this suite from ending.
@Suite struct HostileDescriptionTests {
  private func refused(_ text: String) -> [String] { DescriptionSample.mistakes(text) }

  private static let head = DescriptionSample.head + DescriptionSample.framings

  @Test func deepNestingIsRefused() {
    for (open, close) in [("[", "]"), ("{a: ", "}"), ("- ", ""), ("? ", "")] {
      let text = String(repeating: open, count: 65_536 / open.utf8.count - 20)
      #expect(!refused(text).isEmpty, "\(open)")
      #expect(!refused(Self.head + "messages: {m: {fields: [" + text.prefix(60_000) + close).isEmpty, "\(open)")
    }
    let group =
      String(repeating: "{group: [", count: 5) + "{name: a, type: u8}" + String(repeating: "], repeat: 255}", count: 5)
    let nested = refused(Self.head + "messages: {m: {fields: [\(group)]}}\n")
    #expect(nested.contains { $0.contains("nested more than 3 deep") })
  }

  @Test func anchorsAndAliasesAreRefused() {
    var text = "a: &a [x,x,x,x,x,x,x,x,x,x]\n"
    for (name, last) in zip("bcdefghij", "abcdefghi") {
      text += "\(name): &\(name) [" + Array(repeating: "*\(last)", count: 10).joined(separator: ",") + "]\n"
    }
    #expect(refused(DescriptionSample.head + text).contains { $0.contains("anchors") })
    #expect(refused(DescriptionSample.head + "framings: *f\n").contains { $0.contains("aliases") })
  }

  /// Numbers far beyond what any key takes, wherever they stand.
  @Test(arguments: [
    "1000000000", "1073741824", "99999999999999999999999999", "9223372036854775807", "-9223372036854775808",
    "18446744073709551615", "0xFFFFFFFFFFFFFFFF", "0x7FFFFFFFFFFFFFFF", "1e400", "nan", "-1", "1.5",
    "2562047788.999999h",
  ])
  func numbersBeyondTheirRangeAreRefused(number: String) {
    let places = [
      "framings: {f: {layout: [data: N]}}", "framings: {f: {max: N, layout: [start: 00, data: 1]}}",
      "framings: {f: {layout: [length: {type: u8, of: data, adjust: N}, data]}}",
      "framings: {f: {layout: [start: N, data: 1]}}",
      "framings: {f: {window: {pattern: N, mask: FF}}}",
    ].map { DescriptionSample.head + $0 }
    let fields = [
      "{skip: N}", "{name: a, type: u8, repeat: N}", "{name: a, type: text, bytes: N}",
      "{name: a, type: hex, bytes: N}",
      "{name: a, type: u8, bits: N}", "{name: a, type: u8, bits: 0..N}", "{name: a, type: u8, value: raw * N x}",
      "{name: a, type: u8, unknown: N}", "{name: a, type: u8, words: {N: b}}", "{name: a, type: u8, flags: {N: b}}",
      "{name: a, type: scattered, places: N.0}", "{name: a, type: scattered, places: 0.N}",
      "{name: a, type: u8, scale: N/0}", "{name: a, type: u8, above: {N x: {scale: 2}}}",
    ].map { Self.head + "messages: {m: {fields: [\($0)]}}" }
    let rest = [
      "messages: {m: {when: {n: N}}}", "messages: {m: {tags: {N: [{name: a, type: u8}]}}}",
      "messages: {m: {fields: [{name: i, type: u8}], pieces: {index: i, first: N}}}",
      "messages: {m: {fields: [{name: i, type: u8}], pieces: {index: i, silence: N}}}",
      "requests: {q: {send: f, with: {n: N}}}", "requests: {q: {send: 00, timeout: N}}",
      "requests: {q: {send: [{argument: a}], arguments: {a: {type: u8, to: N}}}}",
      "plan: {tries: N}", "plan: {gap: N}", "plan: {expiry: N}",
    ].map { Self.head + $0 }
    for place in places + fields + rest {
      let text = place.replacing("N", with: number) + "\n"
      // As bytes some of them are right, and -1 is the count that an adjusted length may have.
      let mayBeRight = place.contains("start: N") || place.contains("pattern: N") || place.contains("adjust: N")
      #expect(mayBeRight || !refused(text).isEmpty, "\(text)")
      if mayBeRight { _ = refused(text) }
    }
  }

  /// Widths that add up to more than an Int in the reader's own sums.
  @Test func widthsThatAddUpTooFarAreRefused() {
    let wide = "{name: a%, type: i64, value: (raw + 1000000) * 999999999, repeat: 255}"
    let fields = (0..<255).map { wide.replacing("%", with: "\($0)") }.joined(separator: ",\n")
    let text = Self.head + "messages: {m: {fields: [{group: [\(fields)], repeat: 255}]}}\n"
    #expect(text.utf8.count < DescriptionReader.sizeLimit)
    #expect(refused(text).contains { $0.contains("these fields take at least") })
  }

  /// As many keys and values as fit, each of them wrong.
  @Test func mistakesAreReportedUpToALimit() {
    let key = String(repeating: "k", count: 60)
    let keys = (0..<900).map { "\(key)\($0): 1\n" }.joined()
    #expect(refused(DescriptionSample.head + keys).count == 20)
    let names = (0..<800).map { "{name: a\($0), type: u8, repeat: \(key)}" }.joined(separator: ",")
    #expect(!refused(Self.head + "messages: {m: {fields: [\(names.prefix(60_000))").isEmpty)
    let few = (0..<255).map { "{name: \(key)\($0), type: u8, repeat: \(key)}" }.joined(separator: ",")
    #expect(refused(Self.head + "messages: {m: {fields: [\(few)]}}\n").count == 20)
  }

  @Test func randomBytesAreNoDescription() {
    var random = SeededGenerator(seed: 3)
    for count in [0, 1, 100, 65_536, 65_537] {
      let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
      #expect(throws: ProfileProblems.self) { try DescriptionReader.read(bytes, file: "f") }
    }
  }

  /// The shipped descriptions, damaged in all ways.
  @Test(arguments: BuiltInDescriptions.names) func damagedDescriptionsAreReadOrRefusedWithPlaces(name: String) throws {
    var random = SeededGenerator(seed: UInt64(name.utf8.count))
    let original = try #require(BuiltInDescriptions.text(name))
    let pieces = [
      "&a ", "*a", "!!x ", "[", "{", "\"", "\t", "\n  ", ": ", "9999999999", "-", "\u{85}", "..", "0x", "{}", "[]",
      "end",
    ]
    var outcomes = (read: 0, refused: 0)
    for _ in 0..<100 {
      var bytes = original
      for _ in 0...Int.random(in: 0...1, using: &random) {
        let place = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0...6, using: &random) {
        case 5, 6:
          // Another number, which may be right.
          let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
          if let digit = bytes[place...].firstIndex(where: digits.contains) {
            bytes[digit] = UInt8.random(in: digits, using: &random)
          }
        case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
        case 1: bytes.remove(at: place)
        case 2: bytes.insert(contentsOf: pieces.randomElement(using: &random)!.utf8, at: place)
        case 3: bytes.removeSubrange(place..<min(bytes.count, place + 40))
        default: bytes.insert(contentsOf: bytes[place..<min(bytes.count, place + 60)], at: place)
        }
      }
      do throws(ProfileProblems) {
        let described = try DescriptionReader.read(bytes, file: "f")
        outcomes.read += 1
        // What the reader takes the codec takes, and the examples, which may not hold now, can be run.
        let check = try? ExampleCheck(described.description)
        #expect(check != nil, "\(String(decoding: bytes, as: UTF8.self))")
        if outcomes.read < 10 { _ = check?.problems() }
      } catch {
        outcomes.refused += 1
        #expect((1...20).contains(error.problems.count))
        let lines = bytes.count { $0 == 0x0A || $0 == 0x0D || $0 == 0x85 || $0 == 0xA8 || $0 == 0xA9 } + 2
        for problem in error.problems {
          #expect((1...lines).contains(problem.line ?? 0) && (problem.column ?? 0) >= 1, "\(problem)")
        }
      }
    }
    #expect(outcomes.read > 0 && outcomes.refused > 30, "\(outcomes)")
  }

  /// What the fuzzer begins with is read, or it would only ever see mistakes.
  @Test(arguments: ["pairs", "binary", "texts", "tags"]) func theFuzzersCorpusHasNoMistakes(name: String) throws {
    let bytes = try SmallFile.read(
      BuiltInDescriptionTests.root + "/Tests/Fuzz/Corpus/ExchangeDescription/\(name)", limit: 4_096)
    let text = String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    #expect(DescriptionSample.mistakes(text) == [])
  }
}
