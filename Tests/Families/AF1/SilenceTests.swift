// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols
import TestSupport
import Testing

@testable import FamilyAF1

/// What silence and timeouts do.
@Suite struct SilenceTests {
  @Test(arguments: [UInt64](1...10))
  func pausesNeverLoseOrDouble(seed: UInt64) {
    let stream = ResynchronizationTests.plain(seed: seed)
    for at in 0...stream.bytes.count {
      var codec = AF1Codec(maximumPayload: 300)
      var batch = FrameBatch<AF1Header>()
      codec.decode(stream.bytes[..<at], into: &batch)
      codec.idle(into: &batch)
      codec.idle(into: &batch)
      codec.decode(stream.bytes[at...], into: &batch)
      codec.idle(into: &batch)
      #expect(batch.wholeNumbers == stream.frames.map(\.number))
      #expect(codec.counters.skippedBytes == 0)
    }
  }

  /// Lost bytes and pauses anywhere: each frame comes at most once, and none is lost that comes without pauses.
  @Test(arguments: [UInt64](1...60), [SilenceRule.everyFinished, .onlyLast])
  func pausesInDamagedStreamsLoseNoFrame(seed: UInt64, rule: SilenceRule) {
    var random = SeededGenerator(seed: seed)
    var stream = ResynchronizationTests.plain(seed: seed, count: 30).bytes
    for _ in 0..<4 {
      let at = Int.random(in: 0..<(stream.count - 40), using: &random)
      stream.removeSubrange(at..<(at + Int.random(in: 1...40, using: &random)))
    }
    let without = decode(stream, expire: true).frames.filter { $0.outcome == .whole }.map(\.header.number)
    var codec = AF1Codec(maximumPayload: 300, silence: rule)
    var batch = FrameBatch<AF1Header>()
    for byte in stream {
      codec.decode([byte], into: &batch)
      if random.next() % 6 == 0 { codec.idle(into: &batch) }
    }
    codec.expireAll(into: &batch)
    let with = batch.wholeNumbers
    #expect(Set(with).count == with.count, "seed \(seed)")
    #expect(Set(without).isSubset(of: with), "seed \(seed)")
    #expect(codec.counters.frames == UInt64(with.count))
  }

  @Test func silenceFindsFramesBehindAnUnfinishedOne() {
    var codec = AF1Codec(maximumPayload: 300)
    var batch = FrameBatch<AF1Header>()
    let unfinished = frame(1, [UInt8](repeating: 0x55, count: 100)).prefix(40)
    codec.decode(unfinished + frame(2, [1, 2, 3]) + frame(3), into: &batch)
    #expect(batch.isEmpty)
    codec.idle(into: &batch)
    #expect(batch.wholeNumbers == [2, 3])
    #expect(batch.payloadBytes(at: 0) == [1, 2, 3])
    #expect(codec.hasUnfinishedFrame)
    codec.idle(into: &batch)
    #expect(batch.count == 2)
    codec.decode(frame(4, [4]), into: &batch)
    #expect(batch.count == 2)
    codec.idle(into: &batch)
    #expect(batch.wholeNumbers == [2, 3, 4])
    codec.expire(into: &batch)
    #expect(batch.wholeNumbers == [2, 3, 4])
    #expect(!codec.hasUnfinishedFrame)
    #expect(codec.counters.frames == 3)
    #expect(codec.counters.skippedBytes == 40)
  }

  @Test func anUnfinishedFrameIsDamagedByLaterBytes() {
    var codec = AF1Codec(maximumPayload: 300)
    var batch = FrameBatch<AF1Header>()
    let unfinished = frame(1, [UInt8](repeating: 0x55, count: 50)).prefix(30)
    codec.decode(unfinished + frame(2), into: &batch)
    codec.idle(into: &batch)
    codec.decode(frame(3, [UInt8](repeating: 1, count: 60)), into: &batch)
    #expect(batch.all.map(\.header.number) == [2, 1, 3])
    #expect(batch.all.map(\.outcome) == [.whole, .payloadDamaged, .whole])
    #expect(codec.counters.skippedBytes == 30)
    #expect(codec.counters.frames == 2)
  }

  @Test func anUnfinishedFrameIsCompletedLater() {
    var codec = AF1Codec(maximumPayload: 300)
    var batch = FrameBatch<AF1Header>()
    let carrier = frame(1, frame(2) + frame(3, [7]) + [1, 2, 3, 4])
    codec.decode(carrier.prefix(22), into: &batch)
    codec.idle(into: &batch)
    #expect(batch.wholeNumbers == [2])
    codec.decode(carrier.dropFirst(22) + frame(4), into: &batch)
    #expect(batch.wholeNumbers == [2, 1, 4])
    #expect(codec.counters.skippedBytes == 0)
    // What was delivered from one carrier says nothing about the next.
    codec.decode(carrier.prefix(22), into: &batch)
    codec.idle(into: &batch)
    #expect(batch.wholeNumbers == [2, 1, 4, 2])
  }

  @Test func silenceDoesNotLookIntoFailedExtents() {
    var codec = AF1Codec(maximumPayload: 300)
    var batch = FrameBatch<AF1Header>()
    var damaged = frame(2, frame(3) + [0, 0])
    damaged[damaged.count - 5] ^= 1
    codec.decode(frame(1, [UInt8](repeating: 0x55, count: 200)).prefix(20) + damaged + frame(4), into: &batch)
    codec.idle(into: &batch)
    #expect(batch.all.map(\.header.number) == [4])
    codec.expire(into: &batch)
    #expect(batch.all.map(\.header.number) == [4, 2])
    #expect(batch.all.map(\.outcome) == [.whole, .payloadDamaged])
    #expect(!codec.hasUnfinishedFrame)
  }

  @Test func silenceLeavesReportsToTheScan() {
    var codec = AF1Codec(maximumPayload: 300)
    var batch = FrameBatch<AF1Header>()
    let tail = frame(2, [1], version: 3) + frame(3, [UInt8](repeating: 0, count: 301)).prefix(10) + frame(4)
    codec.decode(frame(1, [UInt8](repeating: 0x55, count: 200)).prefix(20) + tail, into: &batch)
    codec.idle(into: &batch)
    #expect(batch.all.map(\.header.number) == [4])
    codec.expire(into: &batch)
    #expect(batch.all.map(\.header.number) == [4, 2, 3])
    #expect(batch.all.map(\.outcome) == [.whole, .otherVersion, .tooLong])
  }

  @Test func expiryKeepsTheNextUnfinishedFrame() {
    var codec = AF1Codec(maximumPayload: 300)
    var batch = FrameBatch<AF1Header>()
    let next = frame(2, [1, 2, 3])
    codec.decode(frame(1, [UInt8](repeating: 0x55, count: 200)).prefix(20) + next.dropLast(), into: &batch)
    codec.expire(into: &batch)
    #expect(batch.isEmpty)
    #expect(codec.unfinishedByteCount == next.count - 1)
    codec.decode(next.suffix(1), into: &batch)
    #expect(batch.wholeNumbers == [2])
    #expect(codec.counters.skippedBytes == 20)
    codec.decode([0x0F], into: &batch)
    codec.expire(into: &batch)
    #expect(!codec.hasUnfinishedFrame)
    #expect(codec.counters.skippedBytes == 21)
  }

  /// Anything at any time: each byte is delivered, skipped or kept, as long as no delivered frame holds another.
  @Test(arguments: [UInt64](1...100), [SilenceRule.everyFinished, .onlyLast])
  func everyByteIsAccountedFor(seed: UInt64, rule: SilenceRule) {
    var random = SeededGenerator(seed: seed)
    var stream: [UInt8] = []
    for number in UInt16(1)...20 {
      let wire = frame(number, random.plainBytes(Int.random(in: 0...50, using: &random)))
      stream += random.next() % 3 == 0 ? wire.prefix(Int.random(in: 0...wire.count, using: &random)) : wire[...]
    }
    var codec = AF1Codec(maximumPayload: 300, silence: rule)
    var batch = FrameBatch<AF1Header>()
    var start = 0
    var expiries = 0
    while start < stream.count {
      let end = min(stream.count, start + Int.random(in: 1...30, using: &random))
      codec.decode(stream[start..<end], into: &batch)
      start = end
      switch random.next() % 6 {
      case 0, 1: codec.idle(into: &batch)
      case 2:
        codec.expire(into: &batch)
        expiries += 1
      default: break
      }
    }
    codec.expireAll(into: &batch)
    let whole = batch.all.filter { $0.outcome == .whole }
    let delivered = whole.reduce(0) { $0 + 10 + ($1.payload.isEmpty ? 0 : $1.payload.count + 4) }
    #expect(UInt64(delivered) + codec.counters.skippedBytes == UInt64(stream.count), "seed \(seed)")
    #expect(Set(batch.wholeNumbers).count == whole.count)
    #expect(codec.counters.frames == UInt64(whole.count))
  }

  /// A carrier with a lost byte, after which the sender waits for its reply.
  @Test func framesBehindAnUnfinishedCarrierAreFound() {
    let carrier = frame(1, frame(2) + frame(3, [7]) + [1, 2, 3])
    for at in carrier.indices.dropFirst(10) {
      var cut = carrier
      cut.remove(at: at)
      var strict = AF1Codec(maximumPayload: 300, silence: .onlyLast)
      var batch = FrameBatch<AF1Header>()
      strict.decode(cut, into: &batch)
      strict.idle(into: &batch)
      #expect(batch.isEmpty)
      // The next frames are wanted, though they are behind the unfinished one.
      strict.decode(frame(4, [9]) + frame(5), into: &batch)
      if batch.isEmpty { strict.idle(into: &batch) }
      let first = batch.wholeNumbers
      #expect(first == [4, 5], "lost \(at)")
      strict.expireAll(into: &batch)
      #expect(batch.wholeNumbers == first)
    }
  }

  @Test func expiryKeepsOnlyTheLastUnfinishedFrame() {
    var codec = AF1Codec(maximumPayload: 300, silence: .onlyLast)
    var batch = FrameBatch<AF1Header>()
    let unfinished = frame(1, frame(2) + [UInt8](repeating: 0x55, count: 100)).prefix(40)
    let next = frame(4, frame(5) + [1])
    codec.decode(unfinished + frame(3) + next.dropLast(3), into: &batch)
    codec.idle(into: &batch)
    #expect(batch.isEmpty)
    codec.expire(into: &batch)
    #expect(batch.isEmpty)
    #expect(codec.unfinishedByteCount == next.count - 3)
    codec.decode(next.suffix(3), into: &batch)
    #expect(batch.wholeNumbers == [4])
    codec.decode(unfinished + frame(6) + frame(7, [1]), into: &batch)
    codec.expire(into: &batch)
    #expect(batch.wholeNumbers == [4, 6, 7])
    #expect(!codec.hasUnfinishedFrame)
  }

  @Test func everyFinishedFrameIncludesPayload() {
    // The letter of the specification, and why there is another rule.
    var codec = AF1Codec(maximumPayload: 300)
    var batch = FrameBatch<AF1Header>()
    codec.decode(frame(1, frame(2) + [1, 2]).dropLast(), into: &batch)
    codec.idle(into: &batch)
    #expect(batch.wholeNumbers == [2])
  }
}
