// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import AccessoryProtocols

/// What the general codec makes of damage and of silence, above all where no checksum vouches for the length.
@Suite struct HeaderRecoveryTests {
  /// UBX as simply as possible, over the whole stream at once, sharing no code with the codec.
  private func ubxPayloads(_ stream: [UInt8], maximumPayload: Int) -> (payloads: [[UInt8]], counters: FrameCounters) {
    var payloads: [[UInt8]] = []
    var counters = FrameCounters()
    var index = 0
    while index < stream.count {
      if stream[index] == 0xB5, index + 1 == stream.count { break }
      guard stream[index] == 0xB5, stream[index + 1] == 0x62 else {
        counters.skippedBytes += 1
        index += 1
        continue
      }
      if index + 6 > stream.count { break }
      let length = Int(stream[index + 4]) + 256 * Int(stream[index + 5])
      if length > maximumPayload {
        counters.tooLong += 1
        counters.skippedBytes += 1
        index += 1
        continue
      }
      if index + 8 + length > stream.count { break }
      var sums = (0, 0)
      for byte in stream[(index + 2)..<(index + 6 + length)] {
        sums.0 = (sums.0 + Int(byte)) % 256
        sums.1 = (sums.1 + sums.0) % 256
      }
      if sums.0 == Int(stream[index + 6 + length]), sums.1 == Int(stream[index + 7 + length]) {
        payloads.append(Array(stream[(index + 6)..<(index + 6 + length)]))
        counters.frames += 1
        index += 8 + length
      } else {
        counters.payloadErrors += 1
        counters.skippedBytes += 1
        index += 1
      }
    }
    return (payloads, counters)
  }

  private func traffic(_ codec: HeaderCodec, seed: UInt64, pieces: Int = 30) throws -> [UInt8] {
    var random = SeededGenerator(seed: seed)
    var stream: [UInt8] = []
    for _ in 0..<pieces {
      var wire = try codec.wire(HeaderBytes(random.bytes(4)), random.bytes(Int.random(in: 1...60, using: &random)))
      switch random.next() % 6 {
      case 0: wire.remove(at: Int.random(in: wire.indices, using: &random))
      case 1: wire[Int.random(in: wire.indices, using: &random)] ^= UInt8.random(in: 1...255, using: &random)
      case 2: stream += codec.format.sync + random.bytes(3)
      default: break
      }
      stream += wire
    }
    return stream
  }

  @Test(arguments: [UInt64](1...60))
  func framesOfUBXAreReadAsByTheReference(seed: UInt64) throws {
    let codec = try HeaderCodec(HeaderFormats.ubx, maximumPayload: 300)
    let stream = try traffic(codec, seed: seed)
    let expected = ubxPayloads(stream, maximumPayload: 300)
    var all = codec
    #expect(all.received(stream).payloads == expected.payloads)
    #expect(all.counters == expected.counters)
    expectSameForAnyCuts(codec, stream, everyCut: seed < 6)
  }

  @Test(arguments: HeaderFormats.all)
  func noiseIsReadTheSameInAnyPieces(format: HeaderFormat) throws {
    var random = SeededGenerator(seed: 7)
    let codec = try HeaderCodec(format, maximumPayload: 200)
    for _ in 0..<6 {
      let stream = random.bytes(700).map { $0 % 3 == 0 ? $0 : format.sync[Int($0) % format.sync.count] }
      expectSameForAnyCuts(codec, stream, everyCut: false)
      var copy = codec
      var batch = copy.received(stream)
      while copy.hasUnfinishedFrame { copy.expire(into: &batch) }
      let delivered = batch.received.filter { $0.outcome == .whole }.reduce(0) {
        $0 + format.headerByteCount + $1.payload.count + format.trailerByteCount(payload: $1.payload.count)
      }
      #expect(UInt64(delivered) + copy.counters.skippedBytes == UInt64(stream.count))
    }
  }

  @Test(arguments: HeaderFormats.all)
  func damagedTrafficIsReadTheSameInAnyPieces(format: HeaderFormat) throws {
    let codec = try HeaderCodec(format, maximumPayload: 100)
    for seed in UInt64(1)...8 {
      expectSameForAnyCuts(codec, try traffic(codec, seed: seed, pieces: 12), everyCut: false)
    }
  }

  @Test func damagedLengthDoesNotStall() throws {
    var codec = try HeaderCodec(HeaderFormats.ubx, maximumPayload: 300)
    var batch = FrameBatch<HeaderBytes>()
    var damaged = try codec.wire(HeaderBytes(), [1, 2, 3])
    damaged[4] = 200
    let next = try codec.wire(HeaderBytes(), [4])
    codec.feed(damaged + next, into: &batch)
    #expect(batch.isEmpty && codec.hasUnfinishedFrame)
    codec.idle(into: &batch)
    #expect(batch.payloads == [[4]])
    codec.idle(into: &batch)
    #expect(batch.count == 1)
    // The rest of the time it waits, and is given up at last.
    codec.expire(into: &batch)
    #expect(!codec.hasUnfinishedFrame)
    #expect(batch.count == 1)
    #expect(codec.counters.frames == 1)
    #expect(codec.counters.skippedBytes == UInt64(damaged.count))
    // Without silence, further traffic shows that it was false; the length being in doubt, all in it is delivered.
    batch.removeAll()
    codec.feed(damaged, into: &batch)
    for _ in 0..<30 { codec.feed(next, into: &batch) }
    #expect(batch.outcomes == [.payloadDamaged] + Array(repeating: .whole, count: 30))
  }

  @Test func framesInsideADamagedOneAreFoundWhereUnchecked() throws {
    // Delivered where nothing vouches for the length; not where its checksum was good.
    for format in [HeaderFormats.ubx, HeaderFormats.checksumInHeader] {
      var codec = try HeaderCodec(format, maximumPayload: 100)
      let inside = try codec.wire(HeaderBytes(), [1])
      var carrier = try codec.wire(HeaderBytes(), inside + [0, 0])
      // The byte behind the frame inside.
      carrier[format.headerByteCount + inside.count] ^= 1
      let batch = codec.received(try carrier + codec.wire(HeaderBytes(), [2]))
      #expect(batch.outcomes.first == .payloadDamaged)
      #expect(batch.payloads == (format == HeaderFormats.ubx ? [[1], [2]] : [[2]]))
    }
  }

  @Test func aSyncThatOverlapsItselfIsFound() throws {
    var codec = try HeaderCodec(HeaderFormats.withTrailer, maximumPayload: 100)
    let wire = try codec.wire(HeaderBytes(), [1, 2, 3])
    for extra in 1...5 {
      let batch = codec.received([UInt8](repeating: 0xAA, count: extra) + wire)
      #expect(batch.payloads == [[1, 2, 3]])
      expectSameForAnyCuts(codec, [UInt8](repeating: 0xAA, count: extra) + wire + [0xAA, 0xAA])
    }
    #expect(codec.counters.skippedBytes == 15)
    #expect(codec.received([0xAA, 0xAA, 0xAA]).isEmpty && codec.unfinishedByteCount == 3)
    #expect(codec.received([0xAA]).isEmpty && codec.unfinishedByteCount == 3)
    #expect(codec.received([0x54]).isEmpty && !codec.hasUnfinishedFrame)
  }

  @Test(arguments: HeaderFormats.all)
  func memoryIsBoundedForEveryHeader(format: HeaderFormat) throws {
    // Each header announces as much as is allowed, and none of it is there.
    var codec = try HeaderCodec(format, maximumPayload: 200)
    var header = HeaderBytes()
    if format.version != nil { header[2] = 0x10 }
    let start = try codec.wire(header, [UInt8](repeating: 0, count: 200)).prefix(format.headerByteCount)
    var batch = FrameBatch<HeaderBytes>()
    let limit = format.headerByteCount + 200 + format.trailerByteCount(payload: 200)
    for round in 0..<3000 {
      codec.feed(start, into: &batch)
      #expect(codec.unfinishedByteCount < limit && codec.keptCapacity <= limit + 64)
      if round % 16 == 0 { codec.idle(into: &batch) }
      batch.removeAll()
    }
  }

  /// What keeps the cost of false headers from growing with the length they announce.
  @Test(arguments: [
    FrameChecksum.crc(.crc32ISOHDLC), .crc(.crc16XMODEM), .crc(.crc8SMBUS), .crc(HeaderFormats.crc24Q),
    .crc(.crc16MODBUS), .sum8, .negatedSum8, .xor8, .fletcher8,
    .crc(
      CRCParameters(
        name: "CRC-5/USB", width: 5, polynomial: 0x05, initial: 0x1F, reflected: true, xorOut: 0x1F, check: 0x19)),
    .crc(
      CRCParameters(
        name: "CRC-7/MMC", width: 7, polynomial: 0x09, initial: 0, reflected: false, xorOut: 0, check: 0x75)),
  ])
  func checksumsByCheckpointsAreThoseOfTheRange(checksum: FrameChecksum) {
    var random = SeededGenerator(seed: 3)
    let stream = random.bytes(60_000)
    let engine = ChecksumEngine(checksum, shifts: true)
    var checkpoints = ChecksumCheckpoints(longestRange: 9000)
    let bytes = stream.span.bytes
    for _ in 0..<600 {
      let base = Int.random(in: 0...1000, using: &random) * 7
      let start = Int.random(in: 0..<(50_000), using: &random)
      let end = start + Int.random(in: 0...9000, using: &random)
      guard start >= base else { continue }
      let state = engine.advance(engine.start, over: bytes.extracting(0..<Int.random(in: 0...20, using: &random)))
      let part = bytes.extracting(base..<stream.count)
      let found = checkpoints.advance(state, over: (start - base)..<(end - base), in: part, base: base, engine)
      let expected = engine.advance(state, over: bytes.extracting(start..<end))
      #expect(engine.value(found) == engine.value(expected), "\(start)..<\(end)")
    }
    // Ranges that follow one another closely, as false headers do.
    checkpoints.reset()
    for start in stride(from: 20_000, to: 23_000, by: 5) {
      let found = checkpoints.advance(engine.start, over: start..<(start + 8000), in: bytes, base: 0, engine)
      let expected = engine.advance(engine.start, over: bytes.extracting(start..<(start + 8000)))
      #expect(engine.value(found) == engine.value(expected))
    }
  }

  @Test func aFramesChecksumsHaveTheirKnownValues() {
    let digits = Array("123456789".utf8)
    #expect(FrameChecksum.sum8.value(of: digits.span.bytes) == 0xDD)
    #expect(FrameChecksum.negatedSum8.value(of: digits.span.bytes) == 0x23)
    #expect(FrameChecksum.xor8.value(of: digits.span.bytes) == 0x31)
    // RFC 1145 gives none; these are the sums 477 and 2325 modulo 256.
    #expect(FrameChecksum.fletcher8.value(of: digits.span.bytes) == 0x15DD)
    for parameters in CRCParameters.catalogue + [HeaderFormats.crc24Q] {
      #expect(FrameChecksum.crc(parameters).value(of: digits.span.bytes) == parameters.check)
    }
    #expect(FrameChecksum.crc(HeaderFormats.crc24Q).byteCount == 3)
    #expect([FrameChecksum.sum8, .fletcher8, .crc(.crc8SMBUS), .crc(.crc32ISCSI)].map(\.byteCount) == [1, 2, 1, 4])
    // The read of a register in Modbus ASCII, whose LRC is FB.
    #expect(FrameChecksum.negatedSum8.value(of: hex("01 03 00 00 00 01").span.bytes) == 0xFB)
  }

  @Test func resettingForgetsTheUnfinishedFrameOnly() throws {
    var codec = try HeaderCodec(HeaderFormats.ubx, maximumPayload: 100)
    let wire = try codec.wire(HeaderBytes(), Array(1...50))
    _ = codec.received(wire.prefix(20))
    let before = codec.counters
    codec.reset()
    #expect(!codec.hasUnfinishedFrame && codec.counters == before)
    #expect(codec.received(wire).payloads == [Array(1...50)])
  }
}
