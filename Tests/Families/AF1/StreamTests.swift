// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import AccessoryProtocols
@testable import FamilyAF1

/// How a stream is cut must not matter, and memory is bounded.
@Suite struct StreamTests {
  @Test(arguments: [UInt64](1...150))
  func anyPiecesAreReadAsByTheReference(seed: UInt64) {
    var traffic = TrafficGenerator(seed: seed)
    let stream = traffic.stream(pieces: 25)
    let expected = ReferenceDecoder(stream, maximumPayload: 300)
    var random = SeededGenerator(seed: ~seed)
    var ways = [[], Array(1..<max(1, stream.count))]
    for pieces in [2, 10, 100] {
      ways.append((0..<pieces).map { _ in Int.random(in: 0...stream.count, using: &random) }.sorted())
    }
    for cuts in ways {
      let result = decode(stream, cuts: cuts)
      #expect(result.frames == expected.frames, "seed \(seed), cuts \(cuts.count)")
      #expect(result.counters == expected.counters, "seed \(seed), cuts \(cuts.count)")
      #expect(result.unfinished == expected.unfinished, "seed \(seed), cuts \(cuts.count)")
    }
  }

  @Test(arguments: [UInt64](1...20))
  func randomBytesAreReadAsByTheReference(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    // Half of the bytes are sync bytes, so that pairs abound.
    let stream = random.bytes(5000).map { $0 & 1 == 0 ? ($0 & 2 == 0 ? 0x0F : 0xF0) : $0 }
    let expected = ReferenceDecoder(stream, maximumPayload: 300)
    #expect(expected.counters.headerErrors > 100)
    let result = decode(stream, cuts: Array(1..<stream.count))
    #expect(result.counters == expected.counters)
    #expect(result.frames == expected.frames)
    #expect(UInt64(result.unfinished) + result.counters.skippedBytes == UInt64(stream.count))
  }

  @Test func aFrameIsCompletedFromAnyPosition() {
    let wire = frame(1, Array(0..<40))
    for count in 0..<wire.count {
      var codec = AF1Codec(maximumPayload: 300)
      var batch = FrameBatch<AF1Header>()
      codec.decode(wire.prefix(count), into: &batch)
      #expect(batch.isEmpty)
      #expect(codec.unfinishedByteCount == count)
      #expect(codec.hasUnfinishedFrame == (count > 0))
      codec.decode(wire.dropFirst(count) + frame(2), into: &batch)
      #expect(batch.wholeNumbers == [1, 2])
      #expect(!codec.hasUnfinishedFrame)
    }
  }

  @Test func theLongestHeaderAloneIsGivenUp() {
    var codec = AF1Codec(maximumPayload: 65535)
    var batch = FrameBatch<AF1Header>()
    codec.decode(frame(1, [UInt8](repeating: 0, count: 65535)).prefix(10), into: &batch)
    #expect(batch.isEmpty)
    #expect(codec.unfinishedByteCount == 10)
    codec.idle(into: &batch)
    #expect(codec.unfinishedByteCount == 10)
    codec.expire(into: &batch)
    #expect(!codec.hasUnfinishedFrame)
    codec.decode(frame(2), into: &batch)
    #expect(batch.wholeNumbers == [2])
    #expect(codec.counters.skippedBytes == 10)
  }

  @Test(arguments: [UInt64](1...10), [1, 20, 300])
  func memoryIsBoundedInAnyTraffic(seed: UInt64, maximumPayload: Int) {
    var traffic = TrafficGenerator(seed: seed)
    traffic.maximumPayload = maximumPayload
    let stream = traffic.stream(pieces: 60)
    var random = SeededGenerator(seed: seed)
    var codec = AF1Codec(maximumPayload: maximumPayload)
    var batch = FrameBatch<AF1Header>()
    var start = 0
    while start < stream.count {
      let end = min(stream.count, start + Int.random(in: 1...(random.next() % 4 == 0 ? 500 : 3), using: &random))
      codec.decode(stream[start..<end], into: &batch)
      if random.next() % 8 == 0 { codec.idle(into: &batch) }
      start = end
      #expect(codec.unfinishedByteCount < maximumPayload + 14)
      // An allocation may be rounded up.
      #expect(codec.keptCapacity <= maximumPayload + 14 + 48)
    }
  }

  @Test func memoryIsBoundedForNestedHeaders() {
    let header = frame(1, [UInt8](repeating: 0, count: 4000)).prefix(10)
    let stream = (0..<3000).flatMap { _ in header }
    var codec = AF1Codec(maximumPayload: 4000)
    var batch = FrameBatch<AF1Header>()
    var most = 0
    for start in stride(from: 0, to: stream.count, by: 7) {
      codec.decode(stream[start..<min(stream.count, start + 7)], into: &batch)
      most = max(most, codec.unfinishedByteCount)
      #expect(codec.keptCapacity <= 4014 + 64)
    }
    #expect(most == 4013)
    let expected = ReferenceDecoder(Array(stream.prefix(9000)), maximumPayload: 4000)
    let result = decode(Array(stream.prefix(9000)), cuts: Array(stride(from: 5, to: 9000, by: 5)), maximumPayload: 4000)
    #expect(result.frames == expected.frames)
  }

  @Test func resetForgetsTheStreamAndKeepsTheCounters() {
    var codec = AF1Codec(maximumPayload: 300)
    var batch = FrameBatch<AF1Header>()
    // A damaged carrier leaves a failed extent behind, in which #2 would be suspect.
    var damaged = frame(1, [UInt8](repeating: 0, count: 60))
    damaged[20] = 9
    codec.decode(frame(7) + damaged + frame(3, [1, 2]).dropLast(), into: &batch)
    let before = codec.counters
    #expect(before.frames == 1 && before.payloadErrors == 1)
    codec.reset()
    #expect(codec.counters == before)
    #expect(!codec.hasUnfinishedFrame)
    batch.removeAll()
    codec.decode(frame(2), into: &batch)
    #expect(batch.wholeNumbers == [2])
    #expect(codec.counters.skippedBytes == before.skippedBytes)
  }

  /// What is remembered of one stream's checksums must not be used for the next.
  @Test(arguments: [UInt64](1...10))
  func resettingForgetsChecksumsOfTheStream(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var codec = AF1Codec(maximumPayload: 2000)
    for _ in 0..<5 {
      // A carrier damaged at its start, and a long frame that begins in its failed extent and ends behind it.
      var carrier = frame(1, random.plainBytes(1500))
      carrier[12] ^= 1
      carrier.removeSubrange(900..<1200)
      var stream = carrier + Array(frame(2, random.plainBytes(1900)).prefix(20))
      for number: UInt16 in 3...5 { stream += frame(number, random.plainBytes(1900)) }
      let expected = decode(stream, maximumPayload: 2000)
      #expect(expected.frames.contains { $0.outcome == .whole })
      codec.reset()
      var batch = FrameBatch<AF1Header>()
      codec.decode(stream, into: &batch)
      #expect(batch.all == expected.frames)
    }
  }

  @Test func aBatchIsReusableOnceEmptied() {
    var codec = AF1Codec(maximumPayload: 300)
    var batch = FrameBatch<AF1Header>()
    codec.decode(frame(1, [1, 2]) + frame(2) + frame(3, [3]), into: &batch)
    #expect(batch.count == 3)
    #expect(batch.payloadStore == [1, 2, 3])
    #expect(batch.payloadRange(at: 2) == 2..<3)
    #expect(batch.payloadBytes(at: 1).isEmpty)
    #expect(batch.withPayload(at: 0) { $0.byteCount } == 2)
    batch.removeAll()
    #expect(batch.isEmpty)
    #expect(batch.payloadStore.isEmpty)
    codec.decode(frame(4, [9]), into: &batch)
    #expect(batch.count == 1)
    #expect(batch.payloadBytes(at: 0) == [9])
  }
}
