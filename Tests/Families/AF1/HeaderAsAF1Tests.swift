// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import AccessoryProtocols
@testable import FamilyAF1

/// With AF1's parameters, the general codec does what AF1's own does.
@Suite struct HeaderAsAF1Tests {
  /// A frame of AF1 as the general codec would give it.
  private func general(_ batch: FrameBatch<AF1Header>) -> [String] {
    batch.all.map {
      let third = $0.header.version << 4 | $0.header.flags.rawValue
      return "\($0.outcome) \(third) \($0.header.command.rawValue) \($0.header.number) \($0.header.payloadLength) "
        + "\($0.payload)"
    }
  }

  private func general(_ batch: FrameBatch<HeaderBytes>) -> [String] {
    batch.received.map {
      "\($0.outcome) \($0.header[2]) \($0.header[3]) \($0.header.integer(at: 4, byteCount: 2)) "
        + "\($0.header.integer(at: 6, byteCount: 2)) \($0.payload)"
    }
  }

  /// Any traffic, cut anywhere, with silence and timeouts anywhere.
  @Test(arguments: [UInt64](1...120), [SilenceRule.everyFinished, .onlyLast])
  func aHeadersCodecGivesTheFramesOfAF1s(seed: UInt64, silence: SilenceRule) throws {
    var traffic = TrafficGenerator(seed: seed)
    let stream = traffic.stream(pieces: 30)
    var random = SeededGenerator(seed: seed)
    for pauses in [0, 2, 6] {
      var af1 = AF1Codec(maximumPayload: 300, silence: silence)
      var af1Batch = FrameBatch<AF1Header>()
      var codec = try HeaderCodec(HeaderFormats.af1, maximumPayload: 300, silence: silence)
      var batch = FrameBatch<HeaderBytes>()
      var start = 0
      while start < stream.count {
        let end = min(stream.count, start + Int.random(in: 1...(random.next() % 3 == 0 ? 500 : 20), using: &random))
        af1.decode(stream[start..<end], into: &af1Batch)
        codec.feed(stream[start..<end], into: &batch)
        start = end
        let pause = pauses == 0 ? 9 : Int(random.next() % 8)
        if pause < pauses {
          af1.idle(into: &af1Batch)
          codec.idle(into: &batch)
        } else if pause == 7 {
          af1.expire(into: &af1Batch)
          codec.expire(into: &batch)
        }
        #expect(af1.unfinishedByteCount == codec.unfinishedByteCount)
        #expect(codec.unfinishedByteCount < 314 && codec.keptCapacity <= 314 + 64)
      }
      #expect(general(batch) == general(af1Batch), "seed \(seed), pauses \(pauses)")
      #expect(codec.counters == af1.counters, "seed \(seed), pauses \(pauses)")
    }
  }

  @Test(arguments: [UInt64](1...10))
  func aHeadersCodecReadsNoiseAsAF1sDoes(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let stream = random.bytes(5000).map { $0 & 1 == 0 ? ($0 & 2 == 0 ? 0x0F : 0xF0) : $0 }
    var af1 = AF1Codec(maximumPayload: 300)
    var af1Batch = FrameBatch<AF1Header>()
    af1.decode(stream, into: &af1Batch)
    var codec = try HeaderCodec(HeaderFormats.af1, maximumPayload: 300)
    #expect(general(codec.received(stream)) == general(af1Batch))
    #expect(codec.counters == af1.counters)
  }

  @Test(arguments: [UInt64](1...4))
  func aChangedByteCostsAHeadersCodecOneFrame(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let stream = ResynchronizationTests.carrying(seed: seed)
    for (_, range) in stream.frames {
      for at in range.dropFirst(10) {
        var bytes = stream.bytes
        bytes[at] ^= UInt8.random(in: 1...255, using: &random)
        var codec = try HeaderCodec(HeaderFormats.af1, maximumPayload: 300)
        var batch = codec.received(bytes)
        while codec.hasUnfinishedFrame { codec.expire(into: &batch) }
        let whole = batch.received.filter { $0.outcome == .whole }.map { $0.header.integer(at: 4, byteCount: 2) }
        #expect(whole.map { UInt16($0) } == stream.numbers { !$0.contains(at) }, "byte \(at), seed \(seed)")
      }
    }
  }
}
