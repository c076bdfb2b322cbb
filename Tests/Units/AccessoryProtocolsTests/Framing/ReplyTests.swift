// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import AccessoryProtocols

@Suite struct ReplyTests {
  /// Some replies of the HM-10.
  static let patterns: [ReplyPattern] = [
    ReplyPattern("OK"), ReplyPattern("OK+LOST"), ReplyPattern("OK+CONN"), ReplyPattern("OK+CONNA"),
    ReplyPattern("OK+CONNE"), ReplyPattern("OK+CONNF"), ReplyPattern("OK+CONN", .digit),
    ReplyPattern("OK+CONN:", .hexDigit, count: 12), ReplyPattern("OK+ADDR:", .hexDigit, count: 12),
    ReplyPattern("OK+Get:", .digit), ReplyPattern("OK+Get:", .digit, count: 3), ReplyPattern("OK+DISCS"),
    ReplyPattern("OK+DISCE"), ReplyPattern("OK+DIS0:", .hexDigit, count: 12),
    ReplyPattern("OK+RSSI:-", .digit, count: 3),
    ReplyPattern("OK+NAME:", terminator: [0x0D, 0x0A]),
  ]

  private func codec(_ limit: Int = 60) throws -> ReplyCodec {
    try ReplyCodec(patterns: Self.patterns, maximumPayload: limit)
  }

  /// What comes of `text`; "|" stands for silence. A reply that silence ended has a "|" behind it.
  private func replies(_ text: String, limit: Int = 60, function: String = #function) throws -> [String] {
    let expected = try run(text, limit: limit, byteByByte: false)
    #expect(try run(text, limit: limit, byteByByte: true) == expected, "\(text)")
    return expected
  }

  private func run(_ text: String, limit: Int, byteByByte: Bool) throws -> [String] {
    var codec = try codec(limit)
    var batch = FrameBatch<ReplyEnd>()
    for (index, part) in text.split(separator: "|", omittingEmptySubsequences: false).enumerated() {
      if index > 0 { codec.idle(into: &batch) }
      if byteByByte {
        for byte in part.utf8 { codec.feed([byte], into: &batch) }
      } else {
        codec.feed(part.utf8, into: &batch)
      }
    }
    return batch.received.map {
      $0.outcome == .whole
        ? String(decoding: $0.payload, as: UTF8.self) + ($0.header.pattern == nil ? "|" : "") : "\($0.outcome)"
    }
  }

  @Test func repliesEndByTheirPatternOrSilence() throws {
    #expect(try replies("OK") == [])
    #expect(try replies("OK|") == ["OK"])
    #expect(try replies("OKOK+LOST") == ["OK", "OK+LOST"])
    #expect(try replies("OK+CONNA") == ["OK+CONNA"])
    #expect(try replies("OK+CONNAOK+CONN") == ["OK+CONNA"])
    #expect(try replies("OK+CONNAOK+CONN|") == ["OK+CONNA", "OK+CONN"])
    #expect(try replies("OK+CONNOK+CONN3OK+CONNF") == ["OK+CONN", "OK+CONN3", "OK+CONNF"])
    #expect(try replies("OK+CONN:001122AABBccOK+LOST") == ["OK+CONN:001122AABBcc", "OK+LOST"])
    #expect(try replies("OK+Get:1|OK+Get:100OK+Get:2OK|") == ["OK+Get:1", "OK+Get:100", "OK+Get:2", "OK"])
    #expect(try replies("HMSoft V540|OK|") == ["HMSoft V540|", "OK"])
    #expect(
      try replies("OK+NAME:HM\r\nOK+NAME:\r\r\nOK+NAME:x|") == ["OK+NAME:HM\r\n", "OK+NAME:\r\r\n", "OK+NAME:x|"])
    #expect(try replies("||") == [])
  }

  @Test func aRangeOfBytesMatchesItsBounds() throws {
    let pattern = ReplyPattern("n", .range(0x00...0x04))
    var codec = try ReplyCodec(patterns: [ReplyPattern("n"), pattern], maximumPayload: 9)
    #expect(codec.received([0x6E, 0x04, 0x6E, 0x6E, 0x00]).received.map(\.header.pattern) == [1, 0, 1])
    var long = try ReplyCodec(patterns: [ReplyPattern("", .digit, count: 128)], maximumPayload: 128)
    #expect(long.received([UInt8](repeating: 0x30, count: 128)).count == 1)
  }

  @Test func aScansRepliesAreSplitWithoutLineEnds() throws {
    // As a module sent it.
    let log =
      "OK+DISCSOK+DIS0:A6D73C040381OK+RSSI:-066OK+NAME:L3250 Series\r\nOK+DIS0:D43639A63BC4OK+RSSI:-062"
      + "OK+NAME:HMSoft\r\nOK+DISCE"
    #expect(
      try replies(log) == [
        "OK+DISCS", "OK+DIS0:A6D73C040381", "OK+RSSI:-066", "OK+NAME:L3250 Series\r\n", "OK+DIS0:D43639A63BC4",
        "OK+RSSI:-062", "OK+NAME:HMSoft\r\n", "OK+DISCE",
      ])
    expectSameForAnyCuts(try codec(), Array(log.utf8))
  }

  @Test func damagedRepliesAreNotTakenForShorterOnes() throws {
    // A beginning of something longer is no "OK", though it begins with one.
    #expect(try replies("OK+CON|") == ["OK+CON|"])
    #expect(try replies("OK+COX|") == ["OK+COX|"])
    #expect(try replies("OK+Get:12|") == ["OK+Get:12|"])
    #expect(try replies("OK+ADDR:0011223344G5|OK|") == ["OK+ADDR:0011223344G5|", "OK"])
    #expect(try replies("xOK+LOST|OK+LOST") == ["xOK+LOST|", "OK+LOST"])
  }

  @Test func terminatorEndsItsPatternForGood() throws {
    let patterns = [ReplyPattern("", terminator: Array("zz".utf8)), ReplyPattern("azzbb")]
    var codec = try ReplyCodec(patterns: patterns, maximumPayload: 20)
    #expect(codec.received("azzbbxzz".utf8).received.map(\.header.pattern) == [1, 0])
    #expect(codec.received("azzxzz".utf8).received.map(\.header.pattern) == [0, 0])
    // Once it waits for the longer one, the shorter is off, and no second terminator ends it.
    #expect(codec.received("azzbxzz".utf8).isEmpty)
    var batch = FrameBatch<ReplyEnd>()
    codec.idle(into: &batch)
    #expect(batch.received.map(\.header.pattern) == [nil] && batch.payloads == [Array("azzbxzz".utf8)])
  }

  @Test func aReplyNamesThePatternThatItMatches() throws {
    var codec = try codec()
    let batch = codec.received("OK+LOSTOK+CONN7".utf8)
    #expect(batch.received.map(\.header.pattern) == [1, 6])
    // Of two that match alike, the first.
    var twice = try ReplyCodec(patterns: [ReplyPattern("ab"), ReplyPattern("a", .any)], maximumPayload: 9)
    #expect(twice.received("abaxab".utf8).received.map(\.header.pattern) == [0, 1, 0])
  }

  @Test func anOverlongReplyIsReportedAndSkipped() throws {
    #expect(try replies("12345678|123456789|OK|", limit: 22) == ["12345678|", "123456789|", "OK"])
    let long = String(repeating: "x", count: 61)
    #expect(try replies(long + "OK+LOST|OK+LOST") == ["tooLong", "OK+LOST"])
    #expect(try replies("OK+NAME:" + long + "\r\nOK|OK|") == ["tooLong", "OK"])
    #expect(try replies("OK+NAME:" + String(repeating: "x", count: 50) + "\r\nOK|").last == "OK")
    var codec = try codec()
    var batch = codec.received((long + "yy").utf8)
    #expect(batch.outcomes == [.tooLong] && codec.counters.skippedBytes == 63 && codec.hasUnfinishedFrame)
    codec.expire(into: &batch)
    #expect(!codec.hasUnfinishedFrame && codec.counters.skippedBytes == 63)
  }

  @Test func expiringOrResettingDropsAnUnfinishedReply() throws {
    var codec = try codec()
    var batch = codec.received("OK+CO".utf8)
    codec.expire(into: &batch)
    #expect(batch.isEmpty && codec.counters.skippedBytes == 5 && !codec.hasUnfinishedFrame)
    codec.feed("OK+LOST".utf8, into: &batch)
    #expect(batch.count == 1)
    for start in ["OK", "OK+CON", "xyz"] {
      _ = codec.received(start.utf8)
      codec.reset()
      #expect(codec.received("OK+LOST".utf8).payloads == [Array("OK+LOST".utf8)])
    }
    #expect(codec.counters.skippedBytes == 5)
  }

  @Test(arguments: [UInt64](1...40))
  func everyByteOfRandomRepliesIsDeliveredOrCounted(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let parts = ["OK", "+", "CONN", "A", "3", "Get:", "1", "00", "OK+NAME:", "\r\n", "OK+LOST", "\r", "x", "OK+Get:"]
    let stream = (0..<60).flatMap { _ in (parts.randomElement(using: &random) ?? "").utf8 }
    expectSameForAnyCuts(try codec(30), stream, everyCut: false)
    var codec = try codec(30)
    var batch = FrameBatch<ReplyEnd>()
    for byte in stream {
      codec.feed([byte], into: &batch)
      if random.next() % 9 == 0 { codec.idle(into: &batch) }
      #expect(codec.unfinishedByteCount <= 30 && codec.keptCapacity <= 30 + 64)
    }
    codec.idle(into: &batch)
    #expect(codec.counters.skippedBytes + UInt64(batch.payloads.reduce(0) { $0 + $1.count }) == UInt64(stream.count))
    #expect(!codec.hasUnfinishedFrame && codec.counters.frames == UInt64(batch.payloads.count))
  }

  @Test func wrongPatternsAndPayloadsOfRepliesAreRefused() throws {
    let codec = try codec()
    #expect(try codec.wire(ReplyEnd(), Array("AT+BATT?".utf8)) == Array("AT+BATT?".utf8))
    #expect(throws: FrameEncodingError.payloadTooShort(byteCount: 0, minimum: 1)) { try codec.wire(ReplyEnd(), []) }
    #expect(throws: FrameEncodingError.payloadTooLong(byteCount: 61, limit: 60)) {
      try codec.wire(ReplyEnd(), [UInt8](repeating: 0x41, count: 61))
    }
    #expect(throws: FramingParameterError.self) { try ReplyCodec(patterns: [ReplyPattern("")], maximumPayload: 9) }
    #expect(throws: FramingParameterError.self) { try ReplyCodec(patterns: [ReplyPattern("abc")], maximumPayload: 2) }
    #expect(throws: FramingParameterError.self) {
      try ReplyCodec(patterns: [ReplyPattern("", .any, count: 129)], maximumPayload: 999)
    }
    #expect(throws: FramingParameterError.self) {
      try ReplyCodec(patterns: Array(repeating: ReplyPattern("a"), count: 1025), maximumPayload: 99)
    }
    #expect(throws: FramingParameterError.self) { try ReplyCodec(patterns: [], maximumPayload: 0) }
  }
}
