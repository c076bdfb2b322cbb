// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import AccessoryProtocols

@Suite struct LengthPrefixedTests {
  /// The EV3's form; its messages have 3…1022 bytes.
  private func ev3() throws -> LengthPrefixedCodec {
    try LengthPrefixedCodec(minimumPayload: 3, maximumPayload: 1022)
  }

  /// Messages that LEGO and others published: no operation and its reply, battery, tone.
  static let messages = [
    "06 00 2A 00 00 00 00 01", "03 00 2A 00 02", "0E 00 2A 00 00 09 00 81 01 60 81 02 64 81 12 68",
    "0C 00 2A 00 02 7C 03 F1 40 40 07 3B 3E 64", "0F 00 2A 00 80 00 00 94 01 81 64 82 75 05 82 E8 03",
  ]

  @Test func messagesOfAnEV3AreSplitByTheirLengths() throws {
    var codec = try ev3()
    let stream = Self.messages.flatMap { hex($0) }
    let batch = codec.received(stream)
    #expect(batch.payloads == Self.messages.map { Array(hex($0).dropFirst(2)) })
    #expect(batch.received.allSatisfy { $0.header.payloadLength == $0.payload.count })
    #expect(codec.counters.frames == 5 && codec.counters.skippedBytes == 0 && !codec.hasUnfinishedFrame)
    for message in Self.messages {
      #expect(try codec.wire(LengthPrefix(), Array(hex(message).dropFirst(2))) == hex(message))
    }
    expectSameForAnyCuts(try ev3(), stream, pauses: true)
  }

  @Test(arguments: [1, 2, 3, 4], [ByteOrder.littleEndian, .bigEndian])
  func prefixesOfAnyWidthAndOrderAreRead(width: Int, order: ByteOrder) throws {
    var codec = try LengthPrefixedCodec(
      prefixByteCount: width, byteOrder: order, minimumPayload: 0, maximumPayload: width == 1 ? 255 : 258)
    var random = SeededGenerator(seed: 1)
    let payloads = [0, 1, 255, width == 1 ? 0 : 258, 0].map { random.bytes($0) }
    let stream = try payloads.flatMap { try codec.wire(LengthPrefix(), $0) }
    expectSameForAnyCuts(codec, stream)
    #expect(codec.received(stream).payloads == payloads)
    let three = try codec.wire(LengthPrefix(), [7, 8, 9])
    let zeros = [UInt8](repeating: 0, count: width - 1)
    let prefix: [UInt8] = order == .bigEndian ? zeros + [3] : [3] + zeros
    #expect(three == prefix + [7, 8, 9])
  }

  @Test func impossibleLengthsAreReportedAndSkipped() throws {
    var codec = try ev3()
    let good = hex(Self.messages[1])
    let long: [UInt8] = [0xFF, 0x03] + [UInt8](repeating: 0x55, count: 1023)
    let parts: [[UInt8]] = [[0, 0], good, [1, 0, 9], good, long, good]
    let bytes = parts.flatMap { $0 }
    let batch = codec.received(bytes)
    #expect(batch.outcomes == [.malformed, .whole, .malformed, .whole, .tooLong, .whole])
    #expect(batch.received.map(\.header.payloadLength) == [0, 3, 1, 3, 1023, 3])
    #expect(codec.counters.malformed == 2 && codec.counters.tooLong == 1 && codec.counters.frames == 3)
    #expect(codec.counters.skippedBytes == 2 + 3 + 1025)
    expectSameForAnyCuts(try ev3(), bytes, pauses: true)
  }

  @Test func aStreamOutOfStepRecoversByExpiry() throws {
    var codec = try ev3()
    var batch = codec.received([0xFF, 0xFF, 1, 2, 3])
    #expect(batch.outcomes == [.tooLong] && codec.hasUnfinishedFrame && codec.unfinishedByteCount == 0)
    codec.idle(into: &batch)
    #expect(codec.hasUnfinishedFrame)
    codec.expire(into: &batch)
    #expect(!codec.hasUnfinishedFrame && codec.counters.skippedBytes == 5)
    #expect(codec.received(hex(Self.messages[1])).payloads.count == 1)
    // In the middle of a prefix and of a payload.
    for count in 1...6 {
      _ = codec.received(hex(Self.messages[0]).prefix(count))
      #expect(codec.hasUnfinishedFrame)
      let skipped = codec.counters.skippedBytes
      codec.expire(into: &batch)
      #expect(codec.counters.skippedBytes == skipped + UInt64(count))
      #expect(codec.received(hex(Self.messages[1])).payloads == [[0x2A, 0, 2]])
      _ = codec.received(hex(Self.messages[0]).prefix(count))
      codec.reset()
      #expect(codec.counters.skippedBytes == skipped + UInt64(count))
      #expect(codec.received(hex(Self.messages[1])).payloads == [[0x2A, 0, 2]])
    }
  }

  @Test(arguments: [UInt64](1...20))
  func everyRandomByteIsDeliveredOrCounted(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let stream = random.bytes(3000).map { $0 % 5 == 0 ? $0 : $0 % 3 }
    let codec = try LengthPrefixedCodec(byteOrder: .bigEndian, minimumPayload: 2, maximumPayload: 40)
    expectSameForAnyCuts(codec, stream, everyCut: false, pauses: true)
    var copy = codec
    var batch = copy.received(stream)
    copy.expire(into: &batch)
    let delivered = batch.payloads.reduce(0) { $0 + $1.count + 2 }
    #expect(copy.counters.skippedBytes + UInt64(delivered) == 3000)
  }

  @Test func memoryFollowsWhatCame() throws {
    var codec = try LengthPrefixedCodec(prefixByteCount: 4, maximumPayload: 1 << 24)
    _ = codec.received([0, 0, 0, 1] + [1, 2, 3])
    #expect(codec.unfinishedByteCount == 3 && codec.keptCapacity < 200)
    var small = try LengthPrefixedCodec(maximumPayload: 100)
    for _ in 0..<300 {
      _ = small.received([0x64])
      #expect(small.keptCapacity <= 100 + 64)
    }
    // Zeros, which are lengths that cannot be.
    small.reset()
    let batch = small.received([UInt8](repeating: 0, count: 20_000))
    #expect(batch.count == 10_000 && batch.payloadStore.isEmpty)
    #expect(small.unfinishedByteCount == 0 && !small.hasUnfinishedFrame)
  }

  @Test func payloadsOutsideAPrefixsLimitsAreRefused() throws {
    let codec = try ev3()
    #expect(throws: FrameEncodingError.payloadTooLong(byteCount: 1023, limit: 1022)) {
      try codec.wire(LengthPrefix(), [UInt8](repeating: 0, count: 1023))
    }
    #expect(throws: FrameEncodingError.payloadTooShort(byteCount: 2, minimum: 3)) {
      try codec.wire(LengthPrefix(), [1, 2])
    }
    #expect(throws: FramingParameterError.self) { try LengthPrefixedCodec(prefixByteCount: 1, maximumPayload: 256) }
    #expect(throws: FramingParameterError.self) { try LengthPrefixedCodec(prefixByteCount: 5, maximumPayload: 256) }
    #expect(throws: FramingParameterError.self) { try LengthPrefixedCodec(minimumPayload: 9, maximumPayload: 8) }
    #expect(throws: FramingParameterError.self) { try LengthPrefixedCodec(maximumPayload: 0) }
  }
}
