// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import AccessoryProtocols

@Suite struct WindowTests {
  /// The remote control of the HM-1X cars: lights and signs, steering, speed, a colon.
  private func hm1x() throws -> WindowCodec {
    try WindowCodec(pattern: [0, 0, 0, 0x3A], mask: [0xC0, 0x80, 0x80, 0xFF])
  }

  static let frames = [
    "00 00 00 3A", "0D 7F 7F 3A", "00 3A 00 3A", "04 3A 00 3A", "05 00 00 3A", "32 00 01 3A", "3A 3A 3A 3A",
  ].map { hex($0) }

  /// The rules over the whole stream at once.
  private func reference(_ stream: [UInt8]) -> (payloads: [[UInt8]], skipped: Int, slips: Int, kept: Int) {
    func isGood(_ index: Int) -> Bool {
      stream[index] & 0xC0 == 0 && stream[index + 1] < 0x80 && stream[index + 2] < 0x80 && stream[index + 3] == 0x3A
    }
    var (payloads, skipped, slips, index, isAligned) = ([[UInt8]](), 0, 0, 0, true)
    while index + 4 <= stream.count {
      if isGood(index), !isAligned, index + 8 > stream.count { break }
      if isGood(index), isAligned || isGood(index + 4) {
        payloads.append(Array(stream[index..<(index + 4)]))
        isAligned = true
        index += 4
      } else {
        if isAligned { slips += 1 }
        isAligned = false
        skipped += 1
        index += 1
      }
    }
    return (payloads, skipped, slips, stream.count - index)
  }

  @Test func framesOfAWindowAreReadAndWritten() throws {
    var codec = try hm1x()
    let stream = Self.frames.flatMap { $0 }
    #expect(codec.received(stream).payloads == Self.frames)
    #expect(codec.counters.skippedBytes == 0 && !codec.hasUnfinishedFrame)
    for frame in Self.frames { #expect(try codec.wire(frame) == frame) }
    expectSameForAnyCuts(try hm1x(), stream, pauses: true)
  }

  @Test func twoGoodWindowsAreNeededAfterASlip() throws {
    var codec = try hm1x()
    var batch = codec.received(hex("00 00 3A"))
    codec.feed(hex("05 01 02 3A"), into: &batch)
    #expect(batch.isEmpty && codec.counters.headerErrors == 1 && codec.hasUnfinishedFrame)
    codec.idle(into: &batch)
    #expect(batch.isEmpty)
    codec.feed(hex("05 03 04 3A"), into: &batch)
    #expect(batch.payloads == [hex("05 01 02 3A"), hex("05 03 04 3A")])
    #expect(codec.counters.skippedBytes == 3)
    // Believed again: the next comes at once.
    codec.feed(hex("05 05 06 3A"), into: &batch)
    #expect(batch.count == 3)
    // One good window between bad ones is not believed.
    codec.reset()
    batch.removeAll()
    codec.feed(hex("FF 05 01 02 3A FF FF 05 01 02 3A 05 01 02 3B"), into: &batch)
    #expect(batch.isEmpty)
  }

  @Test func expiryIsASlip() throws {
    var codec = try hm1x()
    var batch = codec.received(hex("00 00"))
    codec.expire(into: &batch)
    #expect(!codec.hasUnfinishedFrame && codec.counters.skippedBytes == 2)
    codec.feed(Self.frames[0], into: &batch)
    #expect(batch.isEmpty)
    codec.feed(Self.frames[1], into: &batch)
    #expect(batch.count == 2)
    codec.expire(into: &batch)
    codec.feed(Self.frames[1], into: &batch)
    #expect(batch.count == 3)
  }

  @Test(arguments: [UInt64](1...60))
  func windowsAreReadAsByTheReference(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var stream: [UInt8] = []
    for _ in 0..<60 {
      var frame = [random.bytes(1)[0] & 0x3F] + random.bytes(2).map { $0 & 0x7F } + [0x3A]
      switch random.next() % 12 {
      case 0: frame.remove(at: Int.random(in: 0..<4, using: &random))
      case 1: frame.insert(UInt8(truncatingIfNeeded: random.next()), at: Int.random(in: 0..<4, using: &random))
      case 2: frame = random.bytes(5)
      case 3: frame = [0x3A, 0x3A, 0x3A]
      default: break
      }
      stream += frame
    }
    let expected = reference(stream)
    var codec = try hm1x()
    #expect(codec.received(stream).payloads == expected.payloads)
    #expect(codec.counters.skippedBytes == UInt64(expected.skipped))
    #expect(codec.counters.headerErrors == UInt64(expected.slips))
    #expect(codec.unfinishedByteCount == expected.kept)
    expectSameForAnyCuts(try hm1x(), stream, everyCut: seed < 10, pauses: true)
  }

  @Test func lostByteCostsLittle() throws {
    var stream: [UInt8] = []
    for number in UInt8(0)..<20 { stream += hex("01 02 03 3A") + [number] + hex("40 41 3A") }
    for at in stream.indices {
      var codec = try hm1x()
      var bytes = stream
      bytes.remove(at: at)
      let payloads = codec.received(bytes).payloads
      // The last two windows need each other.
      #expect(payloads.count >= 38 || at >= stream.count - 8)
      #expect(payloads.allSatisfy { $0[3] == 0x3A && ($0[1] == 2 || $0[1] == 0x40) })
    }
  }

  @Test(arguments: [1, 2, 3, 5, 64])
  func aWindowOfAnyLengthKeepsLittle(length: Int) throws {
    var random = SeededGenerator(seed: UInt64(length))
    let pattern = random.bytes(length)
    let mask = random.bytes(length).map { byte -> UInt8 in byte | 1 }
    var codec = try WindowCodec(pattern: pattern, mask: mask)
    var stream: [UInt8] = []
    for _ in 0..<40 {
      let free = random.bytes(length)
      for index in 0..<length { stream.append(pattern[index] & mask[index] | free[index] & ~mask[index]) }
      if random.next() % 5 == 0 { stream += random.bytes(Int.random(in: 1...3, using: &random)) }
    }
    expectSameForAnyCuts(codec, stream, everyCut: false, pauses: true)
    var batch = FrameBatch<NoHeader>()
    for byte in stream + random.bytes(1000) {
      codec.feed([byte], into: &batch)
      #expect(codec.unfinishedByteCount < 2 * length && codec.keptCapacity <= 4 * length + 64)
    }
    #expect(codec.counters.frames > 0)
  }

  @Test func framesThatDoNotMatchTheWindowAreRefused() throws {
    let codec = try hm1x()
    #expect(throws: FrameEncodingError.unencodableByte(offset: 1)) { try codec.wire([0, 0x80, 0, 0x3A]) }
    #expect(throws: FrameEncodingError.unencodableByte(offset: 3)) { try codec.wire([0, 0, 0, 0x3B]) }
    #expect(throws: FrameEncodingError.payloadTooLong(byteCount: 5, limit: 4)) { try codec.wire([0, 0, 0, 0x3A, 0]) }
    #expect(throws: FrameEncodingError.payloadTooShort(byteCount: 3, minimum: 4)) { try codec.wire([0, 0, 0]) }
    #expect(throws: FramingParameterError.self) { try WindowCodec(pattern: [], mask: []) }
    #expect(throws: FramingParameterError.self) { try WindowCodec(pattern: [1], mask: [0]) }
    #expect(throws: FramingParameterError.self) { try WindowCodec(pattern: [1, 2], mask: [1]) }
  }
}
