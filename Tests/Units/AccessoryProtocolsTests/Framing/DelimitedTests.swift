// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import AccessoryProtocols

@Suite struct DelimitedTests {
  private func lines(_ format: DelimitedFormat, _ text: String, limit: Int = 20) throws -> [String] {
    var codec = try DelimitedCodec(format, maximumPayload: limit)
    expectSameForAnyCuts(codec, Array(text.utf8), pauses: true)
    return codec.received(text.utf8).received.map {
      $0.outcome == .whole ? String(decoding: $0.payload, as: UTF8.self) : "\($0.outcome)"
    }
  }

  @Test func everyLineEndSeparatesLines() throws {
    #expect(try lines(.lineFeed, "a\nbc\n\nd\r\ne") == ["a", "bc", "d\r"])
    #expect(try lines(.carriageReturn, "a\r\nb\r") == ["a", "\nb"])
    #expect(try lines(.carriageReturnLineFeed, "a\r\nb\nc\rd\r\r\n\r\ne\r\n") == ["a", "b\nc\rd\r", "e"])
    #expect(try lines(.anyLineEnd, "a\r\nb\nc\rd\n\re\r\n") == ["a", "b", "c", "d", "e"])
    #expect(try lines(DelimitedFormat(.sequence([0x0A]), keepsEmpty: true), "\na\n\n") == ["", "a", ""])
    #expect(
      try lines(DelimitedFormat(.sequence([0x0D, 0x0A]), keepsEmpty: true), "\r\na\r\n\r\n\r") == ["", "a", ""])
  }

  @Test func aDelimiterThatOverlapsItselfIsFound() throws {
    let aab = DelimitedFormat(.sequence(Array("aab".utf8)))
    #expect(try lines(aab, "xaaab-aab-aaaaab-abaab") == ["xa", "-", "-aaa", "-ab"])
    let abac = DelimitedFormat(.sequence(Array("abac".utf8)))
    #expect(try lines(abac, "ababac-abababac-aabac") == ["ab", "-abab", "-a"])
    #expect(
      try lines(DelimitedFormat(.sequence(Array("####".utf8))), "a#####b####c###\n####") == ["a", "#b", "c###\n"])
  }

  /// Against a search in the whole stream, for all short delimiters of two letters.
  @Test(arguments: [1, 2, 3, 4])
  func everyShortDelimiterIsFoundAsByASearch(length: Int) throws {
    var random = SeededGenerator(seed: UInt64(length))
    for bits in 0..<(1 << length) {
      let delimiter = (0..<length).map { UInt8(ascii: "a") + UInt8(bits >> $0 & 1) }
      let codec = try DelimitedCodec(DelimitedFormat(.sequence(delimiter), keepsEmpty: true), maximumPayload: 500)
      let stream = random.bytes(400).map { UInt8(ascii: "a") + $0 % 2 }
      var expected: [[UInt8]] = []
      var record: [UInt8] = []
      for byte in stream {
        record.append(byte)
        if record.suffix(length).elementsEqual(delimiter) {
          expected.append(record.dropLast(length))
          record = []
        }
      }
      var copy = codec
      #expect(copy.received(stream).payloads == expected)
      #expect(copy.hasUnfinishedFrame == !record.isEmpty)
      expectSameForAnyCuts(codec, stream, everyCut: false)
      for payload in expected where !payload.isEmpty {
        var again = codec
        #expect(again.received(try codec.wire(payload)).payloads == [payload])
      }
    }
  }

  @Test func overLongIsReportedOnceAndSkipped() throws {
    #expect(
      try lines(.lineFeed, "12345\n123456\n1\n1234567890123\n12345\n", limit: 5) == [
        "12345", "tooLong", "1", "tooLong", "12345",
      ])
    #expect(
      try lines(.carriageReturnLineFeed, "12345\r\n123456\r\n1234\r\r\n1234\r5\r\n", limit: 5) == [
        "12345", "tooLong", "1234\r", "tooLong",
      ])
    var codec = try DelimitedCodec(.lineFeed, maximumPayload: 5)
    var batch = codec.received("1234567".utf8)
    #expect(batch.outcomes == [.tooLong] && codec.hasUnfinishedFrame && codec.counters.skippedBytes == 7)
    codec.feed("89\nab\n".utf8, into: &batch)
    #expect(batch.outcomes == [.tooLong, .whole] && codec.counters.skippedBytes == 9 && !codec.hasUnfinishedFrame)
    // A timeout ends the skipping.
    codec.feed("1234567".utf8, into: &batch)
    codec.expire(into: &batch)
    codec.feed("cd\n".utf8, into: &batch)
    #expect(batch.payloads.last == Array("cd".utf8))
  }

  @Test func escapedDelimitersArePartOfTheRecord() throws {
    let backslash = DelimitedFormat(.sequence([0x0A]), escape: .init(UInt8(ascii: "\\")))
    #expect(try lines(backslash, "a\\\nb\\\\\n\\x\nc\\") == ["a\nb\\", "x"])
    var codec = try DelimitedCodec(backslash, maximumPayload: 20)
    #expect(try codec.wire(Array("a\n\\".utf8)) == Array("a\\\n\\\\\n".utf8))
    // An over-long record is skipped to its own delimiter, not to an escaped one.
    #expect(try lines(backslash, "1234567\\\n89\nb\n", limit: 4) == ["tooLong", "b"])
    let wide = DelimitedFormat(.sequence([0x0D, 0x0A]), escape: .init(0x10, mask: 0x40))
    codec = try DelimitedCodec(wide, maximumPayload: 20)
    let payload: [UInt8] = [0x0D, 0x0A, 0x10, 0x0D, 0x0D, 1]
    #expect(try codec.wire(payload) == hex("10 4D 10 4A 10 50 10 4D 10 4D 01 0D 0A"))
    #expect(codec.received(try codec.wire(payload)).payloads == [payload])
    // A part of a delimiter, then an escape.
    #expect(codec.received(hex("41 0D 10 4D 0D 0A")).payloads == [[0x41, 0x0D, 0x0D]])
    expectSameForAnyCuts(codec, hex("41 0D 10 4D 0D 0A 10 0A 42 0D 0A 10 0D 0A 43 0D 0A"))
    #expect(codec.received(hex("41 10 0D 0A 43 0D 0A")).outcomes == [.malformed, .whole])
  }

  @Test func framesOfHDLCAreReadAndWritten() throws {
    var codec = CheckedCodec(try DelimitedCodec(.hdlc, maximumPayload: 100), .crc(.crc16IBMSDLC))
    // An LCP configure request of PPP; the check sequence is that of RFC 1662.
    let wire = hex("FF 7D 23 C0 21 7D 21 7D 21 7D 20 7D 24 D1 B5 7E")
    let payload = hex("FF 03 C0 21 01 01 00 04")
    #expect(codec.received(wire).payloads == [payload])
    #expect(try codec.wire(payload) == hex("FF 03 C0 21 01 01 00 04 D1 B5 7E"))
    #expect(codec.received([0x7E] + (try codec.wire(payload))).payloads == [payload])
    // Aborted, then whole.
    expectSameForAnyCuts(codec, hex("7E FF 03 7D 7E") + wire, pauses: true)
    let batch = codec.received(hex("7E FF 03 7D 7E") + wire)
    #expect(batch.outcomes == [.malformed, .whole])
    #expect(codec.counters.malformed == 1 && codec.counters.skippedBytes == 3)
    #expect(try codec.wire([0x7D, 0x7E, 0x7D]).prefix(6) == hex("7D 5D 7D 5E 7D 5D")[...])
  }

  @Test(arguments: [
    DelimitedFormat.lineFeed, .carriageReturnLineFeed, .anyLineEnd, .hdlc,
    DelimitedFormat(.sequence([0x0A]), escape: .init(0x5C), keepsEmpty: true),
    DelimitedFormat(.anyOf([1, 2, 3], sent: [2]), escape: .init(4, mask: 0x80)),
    DelimitedFormat(.sequence([1, 1, 2]), escape: .init(4, mask: 0x80)),
  ])
  func randomRecordsAreReadInAnyPieces(format: DelimitedFormat) throws {
    var random = SeededGenerator(seed: 9)
    var alphabet: [UInt8] = [1, 2, 3, 4, 0x0A, 0x0D, 0x5C, 0x7D, 0x7E, 0x5D, 0x5E, 0x81, 0x84, 0, 0xFF]
    alphabet += Array("abcdef".utf8)
    let codec = try DelimitedCodec(format, maximumPayload: 12)
    for _ in 0..<25 {
      let stream = (0..<300).map { _ in alphabet.randomElement(using: &random) ?? 0 }
      expectSameForAnyCuts(codec, stream, everyCut: false, pauses: true)
      let payload = (0..<Int.random(in: 1...12, using: &random)).map { _ in alphabet.randomElement(using: &random) ?? 0
      }
      guard let wire = try? codec.wire(payload) else {
        #expect(format.escape == nil)
        continue
      }
      expectSameForAnyCuts(codec, wire + wire)
      var copy = codec
      #expect(copy.received(wire + wire).payloads == [payload, payload])
      #expect(copy.counters.skippedBytes == 0 && !copy.hasUnfinishedFrame)
    }
  }

  @Test func aFloodOfDelimitersTakesLittleMemory() throws {
    var codec = try DelimitedCodec(.carriageReturnLineFeed, maximumPayload: 50)
    var batch = codec.received([UInt8](repeating: 0x0D, count: 10_000))
    #expect(batch.outcomes == [.tooLong] && codec.unfinishedByteCount <= 50 && codec.keptCapacity <= 50 + 64)
    codec.expire(into: &batch)
    #expect(codec.counters.skippedBytes == 10_000)
    batch = codec.received((0..<5000).flatMap { _ in [UInt8(0x0D), 0x0A] })
    #expect(batch.isEmpty && !codec.hasUnfinishedFrame && codec.counters.skippedBytes == 10_000)
    for _ in 0..<200 {
      codec.feed([0x41], into: &batch)
      #expect(codec.keptCapacity <= 50 + 64)
    }
    codec.reset()
    #expect(!codec.hasUnfinishedFrame)
    #expect(codec.received("a\r\n".utf8).payloads == [[0x61]])
  }

  @Test func recordsAreReadAfterExpiryOrReset() throws {
    let format = DelimitedFormat(.sequence([0x0D, 0x0A]), escape: .init(0x10, mask: 0x40))
    for start: [UInt8] in [[0x0D], [0x41, 0x0D], [0x10], [0x41, 0x10], [0x41]] {
      var codec = try DelimitedCodec(format, maximumPayload: 9)
      var batch = codec.received(start)
      #expect(codec.hasUnfinishedFrame)
      codec.expire(into: &batch)
      #expect(!codec.hasUnfinishedFrame && codec.counters.skippedBytes == UInt64(start.count))
      #expect(codec.received([0x0A, 0x42, 0x0D, 0x0A]).payloads == [[0x0A, 0x42]])
      _ = codec.received(start)
      codec.reset()
      #expect(!codec.hasUnfinishedFrame && codec.counters.skippedBytes == UInt64(start.count))
      #expect(codec.received([0x0A, 0x42, 0x0D, 0x0A]).payloads == [[0x0A, 0x42]])
    }
  }

  @Test func encodingRefusesDelimitersInAPayload() throws {
    let crlf = try DelimitedCodec(.carriageReturnLineFeed, maximumPayload: 5)
    #expect(throws: FrameEncodingError.unencodableByte(offset: 1)) { try crlf.wire([1, 0x0D, 0x0A]) }
    #expect(try crlf.wire([0x0A, 0x0D]) == [0x0A, 0x0D, 0x0D, 0x0A])
    let double = try DelimitedCodec(DelimitedFormat(.sequence([5, 5])), maximumPayload: 5)
    #expect(throws: FrameEncodingError.unencodableByte(offset: 1)) { try double.wire([1, 5]) }
    let any = try DelimitedCodec(.anyLineEnd, maximumPayload: 5)
    #expect(throws: FrameEncodingError.unencodableByte(offset: 0)) { try any.wire([0x0A]) }
    #expect(try any.wire([1]) == [1, 0x0D, 0x0A])
    #expect(throws: FrameEncodingError.payloadTooShort(byteCount: 0, minimum: 1)) { try any.wire([]) }
    #expect(throws: FrameEncodingError.payloadTooLong(byteCount: 6, limit: 5)) { try any.wire([1, 2, 3, 4, 5, 6]) }
  }

  @Test func wrongFormatsOfDelimitersAreRefused() {
    for format in [
      DelimitedFormat(.sequence([])), DelimitedFormat(.sequence([1, 2, 3, 4, 5])),
      DelimitedFormat(.anyOf([], sent: [])),
      DelimitedFormat(.anyOf([1, 2, 3, 4], sent: [1])), DelimitedFormat(.anyOf([1], sent: [])),
      DelimitedFormat(.anyOf([1], sent: [2])), DelimitedFormat(.anyOf([1, 2], sent: [1, 2]), keepsEmpty: true),
      DelimitedFormat(.sequence([1]), escape: .init(1)), DelimitedFormat(.sequence([1]), escape: .init(3, mask: 2)),
    ] {
      #expect(throws: FramingParameterError.self) { try DelimitedCodec(format, maximumPayload: 10) }
    }
    #expect(throws: FramingParameterError.self) { try DelimitedCodec(.lineFeed, maximumPayload: 0) }
  }
}
