// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols
import TestSupport

@testable import FamilyAF1

/// The rules for finding frames, written down as simply as possible and over the whole stream at once.
///
/// It shares no code with the codec: checksums are taken bit by bit.
struct ReferenceDecoder {
  var frames: [Decoded] = []
  var counters = FrameCounters()
  /// Bytes that begin an unfinished frame.
  var unfinished = 0

  init(_ stream: [UInt8], maximumPayload: Int) {
    var index = 0
    var suspectEnd = 0
    func u16(_ at: Int) -> Int { Int(stream[at]) | Int(stream[at + 1]) << 8 }
    while index < stream.count {
      if stream[index] != 0x0F {
        skip(&index, 1)
        continue
      }
      if index + 1 < stream.count, stream[index + 1] != 0xF0 {
        skip(&index, 1)
        continue
      }
      if index + 10 > stream.count { break }
      if bitwiseCRC(stream[index..<(index + 8)], .crc16IBM3740) != u16(index + 8) {
        if index >= suspectEnd { counters.headerErrors += 1 }
        skip(&index, 1)
        continue
      }
      let length = u16(index + 6)
      let header = AF1Header(
        version: stream[index + 2] >> 4, flags: .init(rawValue: stream[index + 2] & 15),
        command: .init(rawValue: stream[index + 3]), number: UInt16(u16(index + 4)), payloadLength: UInt16(length))
      let end = index + 10 + (length > 0 ? length + 4 : 0)
      if end <= suspectEnd {
        skip(&index, 2)
      } else if header.version != 1 {
        counters.otherVersions += 1
        frames.append(Decoded(outcome: .otherVersion, header: header, payload: []))
        skip(&index, 2)
      } else if length > maximumPayload {
        counters.tooLong += 1
        frames.append(Decoded(outcome: .tooLong, header: header, payload: []))
        skip(&index, 2)
      } else if end > stream.count {
        break
      } else if length > 0,
        Int(bitwiseCRC(stream[(index + 10)..<(end - 4)], .crc32ISOHDLC)) != u16(end - 4) | u16(end - 2) << 16
      {
        counters.payloadErrors += 1
        frames.append(Decoded(outcome: .payloadDamaged, header: header, payload: []))
        if index >= suspectEnd { suspectEnd = end }
        skip(&index, 2)
      } else {
        counters.frames += 1
        let payload = Array(stream[(index + 10)..<(index + 10 + length)])
        frames.append(Decoded(outcome: .whole, header: header, payload: payload))
        index = end
      }
    }
    unfinished = stream.count - index
  }

  private mutating func skip(_ index: inout Int, _ count: Int) {
    counters.skippedBytes += UInt64(count)
    index += count
  }
}

/// Streams of everything that can go wrong, with nested frames and false headers.
struct TrafficGenerator {
  var random: SeededGenerator
  var maximumPayload = 300
  private var number: UInt16 = 0

  init(seed: UInt64) { random = SeededGenerator(seed: seed) }

  mutating func stream(pieces: Int) -> [UInt8] {
    (0..<pieces).flatMap { _ in piece(depth: 0) }
  }

  private mutating func piece(depth: Int) -> [UInt8] {
    number &+= 1
    switch Int.random(in: 0..<(depth > 2 ? 9 : 14), using: &random) {
    case 0: return frame(number)
    case 1: return frame(number, random.bytes(Int.random(in: 1...maximumPayload, using: &random)))
    case 2: return random.bytes(Int.random(in: 0...40, using: &random))
    case 3: return Array([[0x0F], [0x0F, 0xF0], [0x0F, 0x0F, 0xF0], [0xF0]].randomElement(using: &random) ?? [])
    case 4: return frame(number, random.bytes(Int.random(in: 0...30, using: &random)), version: 2)
    case 5: return Array(frame(number, random.bytes(maximumPayload + 1 + Int(random.next() % 9))).prefix(30))
    case 6:
      let whole = frame(number, random.bytes(Int.random(in: 0...60, using: &random)))
      return Array(whole.prefix(Int.random(in: 0...whole.count, using: &random)))
    case 7: return damaged(frame(number, random.bytes(Int.random(in: 0...60, using: &random))))
    case 8:
      // A header alone, for a payload that is not there.
      return Array(frame(number, random.bytes(Int.random(in: 1...maximumPayload, using: &random))).prefix(10))
    default:
      var payload: [UInt8] = []
      for _ in 0..<Int.random(in: 1...5, using: &random) { payload += piece(depth: depth + 1) }
      let carrier = frame(number, Array(payload.prefix(maximumPayload)))
      return Bool.random(using: &random) ? carrier : damaged(carrier)
    }
  }

  private mutating func damaged(_ bytes: [UInt8]) -> [UInt8] {
    var bytes = bytes
    let at = Int.random(in: bytes.indices, using: &random)
    switch Int.random(in: 0..<3, using: &random) {
    case 0: bytes[at] ^= UInt8.random(in: 1...255, using: &random)
    case 1: bytes.remove(at: at)
    default: bytes.insert(UInt8.random(in: 0...255, using: &random), at: at)
    }
    return bytes
  }
}
