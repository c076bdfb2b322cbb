// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols
import TestSupport
import Testing

/// What damage to a stream costs.
@Suite struct ResynchronizationTests {
  /// Frames with their place in a stream.
  struct Stream {
    var bytes: [UInt8] = []
    var frames: [(number: UInt16, range: Range<Int>)] = []

    mutating func append(_ number: UInt16, _ payload: [UInt8]) {
      let wire = frame(number, payload)
      frames.append((number, bytes.count..<(bytes.count + wire.count)))
      bytes += wire
    }

    func numbers(where condition: (Range<Int>) -> Bool) -> [UInt16] {
      frames.filter { condition($0.range) }.map(\.number)
    }
  }

  /// Frames of 0 to 40 plain bytes; their numbers count from 100.
  static func plain(seed: UInt64, count: Int = 8) -> Stream {
    var random = SeededGenerator(seed: seed)
    var stream = Stream()
    for number in 0..<count {
      let length = number % 3 == 2 ? 0 : Int.random(in: 1...40, using: &random)
      stream.append(UInt16(100 + number), random.plainBytes(length))
    }
    return stream
  }

  /// Small frames among ones whose payload holds a whole frame and the start of one that reaches far beyond.
  static func carrying(seed: UInt64) -> Stream {
    var random = SeededGenerator(seed: seed)
    var stream = Stream()
    for number in UInt16(0)..<6 {
      stream.append(100 + number, random.plainBytes(Int.random(in: 0...9, using: &random)))
      var payload = random.plainBytes(5) + frame(900, random.plainBytes(4)) + frame(901)
      payload += frame(902, random.plainBytes(70)).prefix(Int.random(in: 10...30, using: &random))
      stream.append(200 + number, payload)
    }
    // So that no carrier is left unfinished: what becomes of its payload is the matter of `SilenceTests`.
    stream.append(300, random.plainBytes(100))
    return stream
  }

  @Test(arguments: [UInt64](1...6))
  func oneChangedByteCostsOneAF1Frame(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let stream = Self.plain(seed: seed)
    for at in stream.bytes.indices {
      var bytes = stream.bytes
      bytes[at] ^= UInt8.random(in: 1...255, using: &random)
      let result = decode(bytes, expire: true)
      let whole = result.frames.filter { $0.outcome == .whole }.map(\.header.number)
      #expect(whole == stream.numbers { !$0.contains(at) }, "byte \(at), seed \(seed)")
    }
  }

  @Test(arguments: [UInt64](1...6))
  func aChangedPayloadByteDamagesOnlyItsFrame(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let stream = Self.carrying(seed: seed)
    #expect(decode(stream.bytes).frames.map(\.header.number) == stream.frames.map(\.number))
    for (_, range) in stream.frames {
      for at in range.dropFirst(10) {
        var bytes = stream.bytes
        bytes[at] ^= UInt8.random(in: 1...255, using: &random)
        let result = decode(bytes, expire: true)
        let whole = result.frames.filter { $0.outcome == .whole }.map(\.header.number)
        #expect(whole == stream.numbers { !$0.contains(at) }, "byte \(at), seed \(seed)")
        let damaged = result.frames.filter { $0.outcome == .payloadDamaged }.map(\.header.number)
        #expect(damaged.first == stream.numbers { $0.contains(at) }.first)
        #expect(!damaged.contains(900))
      }
    }
  }

  @Test(arguments: [UInt64](1...3), [1, 2, 3, 7, 15, 30, 60])
  func lostBytesCostNoMoreThanAsMany(seed: UInt64, count: Int) {
    let stream = Self.plain(seed: seed)
    for at in 0...(stream.bytes.count - count) {
      checkLoss(of: at..<(at + count), from: stream)
    }
  }

  @Test(arguments: [UInt64](1...3), [1, 2, 5, 11])
  func bytesLostFromAPayloadCostAsManyAtMost(seed: UInt64, count: Int) {
    let stream = Self.carrying(seed: seed)
    for (_, range) in stream.frames where range.count >= 10 + count {
      for at in range.dropFirst(10).dropLast(count) {
        checkLoss(of: at..<(at + count), from: stream)
      }
    }
  }

  private func checkLoss(of lost: Range<Int>, from stream: Stream) {
    let bytes = Array(stream.bytes[..<lost.lowerBound] + stream.bytes[lost.upperBound...])
    let whole = decode(bytes, expire: true).frames.filter { $0.outcome == .whole }.map(\.header.number)
    let end = stream.frames.first { $0.range.overlaps(lost) }?.range.upperBound ?? 0
    let mustArrive = stream.numbers {
      !$0.overlaps(lost) && ($0.upperBound <= lost.lowerBound || $0.upperBound > end + lost.count)
    }
    #expect(Set(mustArrive).isSubset(of: whole), "lost \(lost)")
    // Nothing else comes, nor twice, nor out of turn. A frame can survive a loss at its border: of two frames that begin
    // with the same bytes, it does not matter which one lost them.
    #expect(whole == stream.numbers { _ in true }.filter { whole.contains($0) }, "lost \(lost)")
  }

  @Test func insertedBytesCostOneFrame() {
    let stream = Self.plain(seed: 5)
    for at in stream.bytes.indices {
      for inserted: [UInt8] in [[0x00], [0x0F], [0x0F, 0xF0], [0x0F, 0xF0, 0x11]] {
        var bytes = stream.bytes
        bytes.insert(contentsOf: inserted, at: at)
        let whole = decode(bytes, expire: true).frames.filter { $0.outcome == .whole }.map(\.header.number)
        let mustArrive = stream.numbers { $0.lowerBound >= at || $0.upperBound <= at }
        #expect(Set(mustArrive).isSubset(of: whole), "\(inserted) at \(at)")
        #expect(whole == stream.numbers { _ in true }.filter { whole.contains($0) }, "\(inserted) at \(at)")
      }
    }
  }

  @Test func framesInsideDamagedPayloadAreNotDelivered() {
    let inner = frame(2, [1, 2, 3])
    var carrier = frame(1, inner + frame(3) + frame(9, [1], version: 2) + frame(8, [UInt8](repeating: 0, count: 40)))
    #expect(decode(carrier).frames.map(\.header.number) == [1])
    carrier[carrier.count - 1] ^= 1
    let damaged = decode(carrier + frame(4))
    #expect(damaged.frames.map(\.header.number) == [1, 4])
    #expect(damaged.frames.map(\.outcome) == [.payloadDamaged, .whole])
    #expect(damaged.counters.payloadErrors == 1)
    #expect(damaged.counters.skippedBytes == UInt64(carrier.count))
    // Without its header nothing says that they are payload.
    carrier[4] ^= 1
    #expect(decode(carrier + frame(4)).frames.map(\.header.number) == [2, 3, 9, 8, 4])
  }

  @Test func aFrameBegunInAFailedExtentIsFound() {
    let carrier = frame(1, [UInt8](repeating: 0x55, count: 40))
    let cut = carrier.dropLast(30)
    let result = decode(Array(cut) + frame(2, [1, 2, 3]) + frame(3, [UInt8](repeating: 1, count: 10)) + frame(4))
    // The 30 lost bytes are made up by #2, of 17 bytes, and the first 13 bytes of #3.
    #expect(result.frames.map(\.header.number) == [1, 3, 4])
    #expect(result.frames.map(\.outcome) == [.payloadDamaged, .whole, .whole])
    // One that ends with the failed extent lies wholly inside.
    let exact = decode(Array(carrier.dropLast(17)) + frame(2, [1, 2, 3]) + frame(4))
    #expect(exact.frames.map(\.header.number) == [1, 4])
    let oneLess = decode(Array(carrier.dropLast(16)) + frame(2, [1, 2, 3]) + frame(4))
    #expect(oneLess.frames.map(\.header.number) == [1, 2, 4])
  }

  @Test func badHeaderCostsOneByte() {
    let result = decode([0x0F, 0xF0] + frame(1))
    #expect(result.frames.map(\.header.number) == [1])
    #expect(result.counters.headerErrors == 1)
    #expect(result.counters.skippedBytes == 2)
    let again = decode([0x0F] + frame(1))
    #expect(again.frames.map(\.header.number) == [1])
    #expect(again.counters.headerErrors == 0)
    #expect(again.counters.skippedBytes == 1)
    #expect(decode([0x0F, 0x0F, 0xF0]).unfinished == 2)
    #expect(decode([0x0F, 0x0F]).unfinished == 1)
    #expect(decode([0x0F, 0x01]).unfinished == 0)
  }

  @Test func tooLongIsReportedAndScannedOn() {
    let limited = decode(frame(1, [UInt8](repeating: 0, count: 17)) + frame(2), maximumPayload: 16)
    #expect(limited.frames.map(\.outcome) == [.tooLong, .whole])
    #expect(limited.frames.map(\.header.payloadLength) == [17, 0])
    #expect(limited.counters.tooLong == 1)
    #expect(limited.counters.skippedBytes == 31)
    #expect(decode(frame(1, [UInt8](repeating: 0, count: 16)), maximumPayload: 16).frames.map(\.outcome) == [.whole])
    // The scan goes on two bytes after the start: what follows a false header at once is found.
    let false1 = Array(frame(1, [UInt8](repeating: 0, count: 17)).prefix(10))
    #expect(decode(false1 + frame(2), maximumPayload: 16).frames.map(\.header.number) == [1, 2])
  }

  /// A header for `length` bytes in whose fourth byte another header begins, with all that this one announces.
  private func overlapping(version: UInt8, length: UInt16) -> [UInt8] {
    var bytes: [UInt8] = [0x0F, 0xF0, version << 4, 0x0F, 0xF0, 0x11, UInt8(length & 0xFF), UInt8(length >> 8)]
    let first = CRC16.checksum(of: bytes.span.bytes, .crc16IBM3740)
    bytes += [UInt8(first & 0xFF), UInt8(first >> 8), 0]
    let second = CRC16.checksum(of: bytes.span.bytes.extracting(3..<11), .crc16IBM3740)
    bytes += [UInt8(second & 0xFF), UInt8(second >> 8)]
    let payload = [UInt8](repeating: 0x33, count: Int(bytes[9]))
    let check = CRC32.checksum(of: payload.span.bytes, .crc32ISOHDLC)
    return bytes + payload + (0..<4).map { UInt8(truncatingIfNeeded: check >> UInt32(8 * $0)) }
  }

  @Test func scanGoesOnTwoBytesAfterTheStart() {
    let otherVersion = decode(overlapping(version: 2, length: 0x0301))
    #expect(otherVersion.frames.map(\.outcome) == [.otherVersion, .whole])
    let tooLong = decode(overlapping(version: 1, length: 0x0301))
    #expect(tooLong.frames.map(\.outcome) == [.tooLong, .whole])
    let damaged = decode(overlapping(version: 1, length: 1))
    #expect(damaged.frames.map(\.outcome) == [.payloadDamaged, .whole])
  }
}
