// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import AccessoryProtocols

@Suite struct SLIPTests {
  private func codec(_ limit: Int = 20, leadingEnd: Bool = true) throws -> SLIPCodec {
    try SLIPCodec(maximumPayload: limit, sendsLeadingEnd: leadingEnd)
  }

  @Test(arguments: [
    ("01 02 03", "C0 01 02 03 C0"), ("C0", "C0 DB DC C0"), ("DB", "C0 DB DD C0"),
    ("DC DD", "C0 DC DD C0"), ("DB DC C0 DD", "C0 DB DD DC DB DC DD C0"), ("C0 41 DB", "C0 DB DC 41 DB DD C0"),
  ])
  func aPayloadOfSLIPIsEncodedAndDecoded(payload: String, wire: String) throws {
    var slip = try codec()
    #expect(try slip.wire(hex(payload)) == hex(wire))
    #expect(try codec(leadingEnd: false).wire(hex(payload)) == Array(hex(wire).dropFirst()))
    #expect(slip.received(hex(wire)).payloads == [hex(payload)])
    #expect(slip.counters.skippedBytes == 0 && !slip.hasUnfinishedFrame)
    expectSameForAnyCuts(try codec(), hex(wire) + hex(wire).dropFirst() + hex(wire), pauses: true)
  }

  @Test func anInvalidEscapeOfSLIPSpoilsOnlyItsFrame() throws {
    for (wire, outcomes) in [
      ("41 DB 41 42 C0 43 C0", [FrameOutcome.malformed, .whole]), ("41 DB C0 43 C0", [.malformed, .whole]),
      ("DB DB DC C0 43 C0", [.malformed, .whole]), ("41 DB 00 DB 00 C0 43 C0", [.malformed, .whole]),
      ("DB 41 C0 C0", [.malformed]), ("DB C0 DB C0", [.malformed, .malformed]),
    ] {
      var slip = try codec()
      let batch = slip.received(hex(wire))
      #expect(batch.outcomes == outcomes, "\(wire)")
      #expect(slip.counters.malformed == UInt64(outcomes.count { $0 == .malformed }))
      #expect(!slip.hasUnfinishedFrame)
      expectSameForAnyCuts(try codec(), hex(wire), pauses: true)
    }
    var slip = try codec()
    // Reported at once, not only at the end.
    #expect(slip.received(hex("41 42 DB 43 44")).outcomes == [.malformed])
    #expect(slip.hasUnfinishedFrame && slip.counters.skippedBytes == 5)
    #expect(slip.received(hex("C0")).isEmpty && !slip.hasUnfinishedFrame && slip.counters.skippedBytes == 5)
  }

  @Test func framesOfSLIPOverTheLimitAreSkipped() throws {
    var slip = try codec(4)
    let stream = hex("01 02 03 04 C0 01 02 03 04 05 C0 01 02 03 DB DC C0 01 02 03 04 DB DC 06 DB 07 C0 09 C0")
    #expect(slip.received(stream).outcomes == [.whole, .tooLong, .whole, .tooLong, .whole])
    expectSameForAnyCuts(try codec(4), stream, pauses: true)
    #expect(slip.counters.skippedBytes == 5 + 9)
    #expect(throws: FrameEncodingError.payloadTooLong(byteCount: 5, limit: 4)) { try slip.wire([1, 2, 3, 4, 5]) }
    #expect(throws: FrameEncodingError.payloadTooShort(byteCount: 0, minimum: 1)) { try slip.wire([]) }
    #expect(throws: FramingParameterError.self) { try codec(0) }
  }

  @Test func slipRecoversAfterFloodsAndResets() throws {
    var slip = try codec()
    #expect(slip.received([UInt8](repeating: 0xC0, count: 9999)).isEmpty)
    #expect(!slip.hasUnfinishedFrame && slip.counters == FrameCounters())
    #expect(slip.received([UInt8](repeating: 0xDB, count: 9999)).outcomes == [.malformed])
    var batch = FrameBatch<NoHeader>()
    slip.expire(into: &batch)
    #expect(!slip.hasUnfinishedFrame && slip.counters.skippedBytes == 9999)
    for start in ["DB", "41", "41 DB", "41 DB 42"] {
      _ = slip.received(hex(start))
      slip.expire(into: &batch)
      #expect(slip.received(hex("DC C0")).payloads == [[0xDC]])
      _ = slip.received(hex(start))
      slip.reset()
      #expect(slip.received(hex("DC C0")).payloads == [[0xDC]])
    }
  }

  @Test(arguments: [UInt64](1...20))
  func randomPayloadsOfSLIPAreReadBack(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let special: [UInt8] = [0xC0, 0xDB, 0xDC, 0xDD]
    let stream = random.bytes(600).map { $0 < 150 ? special[Int($0) % 4] : $0 }
    expectSameForAnyCuts(try codec(30), stream, everyCut: false, pauses: true)
    var slip = try codec(60)
    var payloads: [[UInt8]] = []
    var wire: [UInt8] = []
    for _ in 0..<20 {
      let payload = random.bytes(Int.random(in: 1...60, using: &random)).map { $0 < 150 ? special[Int($0) % 4] : $0 }
      payloads.append(payload)
      wire += try slip.wire(payload)
    }
    expectSameForAnyCuts(slip, wire, everyCut: false, pauses: true)
    var batch = FrameBatch<NoHeader>()
    for byte in wire {
      slip.feed([byte], into: &batch)
      #expect(slip.unfinishedByteCount <= 60 && slip.keptCapacity <= 60 + 64)
    }
    #expect(batch.payloads == payloads)
  }
}

@Suite struct COBSTests {
  private func codec(_ limit: Int = 600) throws -> COBSCodec { try COBSCodec(maximumPayload: limit) }

  /// The examples that are passed around with the paper, in their order.
  static let vectors: [(payload: [UInt8], wire: [UInt8])] = [
    ([], hex("01 00")),
    ([0], hex("01 01 00")),
    ([0, 0], hex("01 01 01 00")),
    ([0, 0x11, 0], hex("01 02 11 01 00")),
    (hex("11 22 00 33"), hex("03 11 22 02 33 00")),
    (hex("11 22 33 44"), hex("05 11 22 33 44 00")),
    (hex("11 00 00 00"), hex("02 11 01 01 01 00")),
    (Array(1...254), [0xFF] + Array(1...254) + [0]),
    (Array(0...254), [0x01, 0xFF] + Array(1...254) + [0]),
    (Array(1...255), [0xFF] + Array(1...254) + [0x02, 0xFF, 0]),
    (Array(2...255) + [0], [0xFF] + Array(2...255) + [0x01, 0x01, 0]),
    (Array(3...255) + [0, 1], [0xFE] + Array(3...255) + [0x02, 0x01, 0]),
  ]

  @Test(arguments: vectors.indices)
  func aPayloadOfCOBSIsEncodedAndDecoded(index: Int) throws {
    let (payload, wire) = Self.vectors[index]
    var cobs = try codec()
    #expect(try cobs.wire(payload) == wire)
    #expect(cobs.received(wire).payloads == [payload])
    #expect(cobs.counters.skippedBytes == 0 && !cobs.hasUnfinishedFrame)
    expectSameForAnyCuts(try codec(), wire + wire + [0] + wire, pauses: true)
  }

  @Test func fullBlockAtTheEnd() throws {
    // Some senders close a packet that ends with a full block by an empty one.
    var cobs = try codec()
    #expect(cobs.received([0xFF] + Array(1...254) + [0x01, 0]).payloads == [Array(1...254)])
  }

  @Test func aTruncatedBlockOfCOBSSpoilsOnlyItsFrame() throws {
    for (wire, outcomes) in [
      ("05 11 22 00 02 33 00", [FrameOutcome.malformed, .whole]), ("02 00 02 33 00", [.malformed, .whole]),
      ("FF 01 00 02 33 00", [.malformed, .whole]), ("02 11 03 22 00 00 00 02 33 00", [.malformed, .whole]),
    ] {
      var cobs = try codec()
      let batch = cobs.received(hex(wire))
      #expect(batch.outcomes == outcomes, "\(wire)")
      #expect(batch.payloads == [[0x33]])
      #expect(cobs.counters.malformed == 1 && !cobs.hasUnfinishedFrame)
      expectSameForAnyCuts(try codec(), hex(wire), pauses: true)
    }
  }

  @Test func framesOfCOBSOverTheLimitAreSkipped() throws {
    var cobs = try codec(3)
    let stream = hex("04 01 02 03 00 05 01 02 03 04 00 01 01 01 01 00 01 01 01 01 01 00 03 01 02 02 03 00 02 07 00")
    #expect(cobs.received(stream).outcomes == [.whole, .tooLong, .whole, .tooLong, .tooLong, .whole])
    expectSameForAnyCuts(try codec(3), stream, pauses: true)
    #expect(throws: FrameEncodingError.payloadTooLong(byteCount: 4, limit: 3)) { try cobs.wire([1, 2, 3, 4]) }
    #expect(throws: FramingParameterError.self) { try codec(0) }
  }

  @Test func cobsRecoversAfterFloodsAndResets() throws {
    var cobs = try codec(10)
    #expect(cobs.received([UInt8](repeating: 0, count: 9999)).isEmpty && cobs.counters == FrameCounters())
    #expect(cobs.received([UInt8](repeating: 1, count: 9999)).outcomes == [.tooLong])
    var batch = FrameBatch<NoHeader>()
    cobs.expire(into: &batch)
    #expect(!cobs.hasUnfinishedFrame && cobs.counters.skippedBytes == 9999)
    for start in ["05", "05 41", "01", "02 41"] {
      _ = cobs.received(hex(start))
      #expect(cobs.hasUnfinishedFrame)
      cobs.expire(into: &batch)
      #expect(cobs.received(hex("02 33 00")).payloads == [[0x33]])
      _ = cobs.received(hex(start))
      cobs.reset()
      #expect(cobs.received(hex("02 33 00")).payloads == [[0x33]])
    }
  }

  @Test(arguments: [UInt64](1...20))
  func randomPayloadsOfCOBSAreReadBack(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    expectSameForAnyCuts(try codec(30), random.bytes(600).map { $0 % 11 }, everyCut: false, pauses: true)
    var cobs = try codec()
    var payloads: [[UInt8]] = []
    var wire: [UInt8] = []
    for _ in 0..<12 {
      let isDense = Bool.random(using: &random)
      let payload = random.bytes(Int.random(in: 0...600, using: &random)).map { isDense ? $0 % 4 : max(1, $0) }
      payloads.append(payload)
      let one = try cobs.wire(payload)
      #expect(!one.dropLast().contains(0) && one.count <= payload.count + max(1, (payload.count + 253) / 254) + 1)
      wire += one
    }
    expectSameForAnyCuts(cobs, wire, everyCut: false, pauses: true)
    var batch = FrameBatch<NoHeader>()
    for byte in wire {
      cobs.feed([byte], into: &batch)
      #expect(cobs.unfinishedByteCount <= 600 && cobs.keptCapacity <= 600 + 64)
    }
    #expect(batch.payloads == payloads)
  }
}

@Suite struct CheckedTests {
  @Test func theChecksumIsStuffedWithThePayload() throws {
    var slip = CheckedCodec(try SLIPCodec(maximumPayload: 50), .crc(.crc8SMBUS))
    #expect(try slip.wire([1, 0xC0, 2, 0xDB]) == hex("C0 01 DB DC 02 DB DD BE C0"))
    var cobs = CheckedCodec(try COBSCodec(maximumPayload: 50), .crc(.crc16KERMIT))
    #expect(try cobs.wire([0x11, 0, 0, 0x22]) == hex("02 11 01 04 22 0A DD 00"))
    #expect(slip.received(hex("C0 01 DB DC 02 DB DD BE C0")).payloads == [[1, 0xC0, 2, 0xDB]])
    #expect(cobs.received(hex("02 11 01 04 22 0A DD 00")).payloads == [[0x11, 0, 0, 0x22]])
    let big = CheckedCodec(try COBSCodec(maximumPayload: 50), .crc(.crc16KERMIT), byteOrder: .bigEndian)
    #expect(try big.wire([0x11, 0, 0, 0x22]) == hex("02 11 01 04 22 DD 0A 00"))
  }

  @Test func damagedPayloadsAreReportedAndCounted() throws {
    var codec = CheckedCodec(try SLIPCodec(maximumPayload: 50), .crc(.crc16MODBUS))
    let good = try codec.wire([1, 2, 3])
    var bad = good
    bad[2] ^= 4
    let stream = good + bad + hex("C0 41 C0 DB 00 C0") + good
    let batch = codec.received(stream)
    #expect(batch.outcomes == [.whole, .payloadDamaged, .payloadDamaged, .malformed, .whole])
    #expect(batch.payloads == [[1, 2, 3], [1, 2, 3]])
    #expect(batch.payloadRange(at: 1).isEmpty && batch.payloadRange(at: 2).isEmpty)
    let counters = codec.counters
    #expect(counters.frames == 2 && counters.payloadErrors == 2 && counters.malformed == 1)
    #expect(counters.skippedBytes == 5 + 1 + 2)
    expectSameForAnyCuts(CheckedCodec(try SLIPCodec(maximumPayload: 50), .crc(.crc16MODBUS)), stream, pauses: true)
  }

  @Test func decodingKeepsTheBatchsEarlierFrames() throws {
    var codec = CheckedCodec(try SLIPCodec(maximumPayload: 50), .sum8)
    var batch = FrameBatch<NoHeader>()
    batch.append(.whole, NoHeader(), payload: hex("09 09").span.bytes)
    codec.feed(try codec.wire([1]) + hex("41 42 C0"), into: &batch)
    #expect(batch.received.map(\.payload) == [[9, 9], [1], []])
    #expect(batch.outcomes == [.whole, .whole, .payloadDamaged])
  }

  @Test func framesThatEndBySilenceAreChecked() throws {
    var codec = CheckedCodec(try ReplyCodec(patterns: [], maximumPayload: 50), .sum8)
    var batch = codec.received([1, 2, 3])
    codec.idle(into: &batch)
    codec.feed([1, 2, 4], into: &batch)
    codec.idle(into: &batch)
    #expect(batch.outcomes == [.whole, .payloadDamaged] && batch.payloads == [[1, 2]])
  }

  @Test func theChecksumCountsTowardsTheLimit() throws {
    let codec = CheckedCodec(try SLIPCodec(maximumPayload: 5), .crc(.crc32ISCSI))
    #expect(throws: FrameEncodingError.payloadTooLong(byteCount: 6, limit: 5)) { try codec.wire([1, 2]) }
    #expect(codec.checksum == .crc(.crc32ISCSI))
    #expect(codec.base.maximumPayload == 5)
  }
}
