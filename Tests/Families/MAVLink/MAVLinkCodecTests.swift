// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import AccessoryProtocols
@testable import FamilyMAVLink

@Suite struct MAVLinkCodecTests {
  private static let stream = MAVLinkSample.all.flatMap { $0 }

  private func texts(_ batch: FrameBatch<MAVLinkHeader>) -> [UInt32] {
    (0..<batch.count).filter { batch.outcome(at: $0) == .whole }.map { batch.header(at: $0).message }
  }

  /// A frame of a message that isn't in the table.
  private func unknown(_ payload: [UInt8], system: UInt8 = 1, component: UInt8 = 1, flags: UInt8 = 0) -> [UInt8] {
    [0xFD, UInt8(payload.count), flags, 0, 9, system, component, 0x60, 0xEA, 0] + payload + [0x12, 0x34]
  }

  @Test func theSameHoweverItIsCut() {
    var codec = MAVLinkCodec()
    let expected = codec.received(Self.stream + [1, 2, 3] + Self.stream)
    #expect(texts(expected) == [1, 147, 253, 0, 2, 0, 1, 147, 0, 1, 147, 253, 0, 2, 0, 1, 147, 0])
    for size in [1, 2, 7, 31, 280, 1_025] {
      var other = MAVLinkCodec()
      var batch = FrameBatch<MAVLinkHeader>()
      let bytes = Self.stream + [1, 2, 3] + Self.stream
      for start in stride(from: 0, to: bytes.count, by: size) {
        other.feed(bytes[start..<min(bytes.count, start + size)], into: &batch)
        #expect(other.unfinishedByteCount <= 280)
      }
      #expect(batch.received == expected.received && other.counters == codec.counters, "\(size)")
    }
    #expect(codec.counters.skippedBytes == 3 && codec.counters.frames == 18)
  }

  /// Noise full of start bytes costs no frame.
  @Test func noiseFullOfStartBytesCostsNoFrame() {
    var random = SeededGenerator(seed: 1)
    for _ in 0..<200 {
      let noise = random.bytes(Int.random(in: 1...60, using: &random)).map { $0 < 40 ? [0xFD, 0xFE][Int($0) % 2] : $0 }
      var codec = MAVLinkCodec()
      var batch = codec.received(Self.stream + noise + Self.stream)
      codec.idle(into: &batch)
      while codec.hasUnfinishedFrame { codec.expire(into: &batch) }
      #expect(texts(batch).sorted() == texts(codec.received(Self.stream + Self.stream)).sorted())
    }
  }

  /// One lost byte costs the frame that it is in.
  @Test func aLostByteCostsOneFrame() {
    for lost in 0..<MAVLinkSample.battery.count {
      var damaged = MAVLinkSample.battery
      damaged.remove(at: lost)
      var codec = MAVLinkCodec()
      var batch = codec.received(
        MAVLinkSample.heartbeat + damaged + MAVLinkSample.systemStatus + MAVLinkSample.realText)
      codec.idle(into: &batch)
      #expect(texts(batch).filter { $0 != 147 } == [0, 1, 253], "byte \(lost)")
    }
  }

  /// A length that is too large holds frames back until the line is silent; they are delivered once.
  @Test func silenceDeliversHeldBackMessagesOnce() {
    var codec = MAVLinkCodec()
    let start: [UInt8] = [0xFD, 200, 0, 0, 1, 1, 1, 147, 0, 0]
    var batch = codec.received(start + MAVLinkSample.heartbeat + MAVLinkSample.battery)
    #expect(batch.isEmpty && codec.hasUnfinishedFrame)
    codec.idle(into: &batch)
    #expect(texts(batch) == [0, 147])
    codec.idle(into: &batch)
    #expect(texts(batch) == [0, 147])
    codec.expire(into: &batch)
    #expect(texts(batch) == [0, 147] && !codec.hasUnfinishedFrame)
    #expect(codec.counters.skippedBytes == 10 && codec.counters.frames == 2)
    // And likewise when the bytes that it wants come.
    codec.feed(start + MAVLinkSample.heartbeat, into: &batch)
    codec.idle(into: &batch)
    codec.feed([UInt8](repeating: 0, count: 300), into: &batch)
    #expect(texts(batch) == [0, 147, 0])
  }

  // MARK: - Messages that can't be checked

  /// Start bytes and whole frames within a frame that can't be checked are not looked for.
  @Test func unknownMessagesArePassedOver() {
    var codec = MAVLinkCodec()
    let foreign = unknown([0xFE] + MAVLinkSample.battery + [0xFD, 0xFE])
    var batch = codec.received(MAVLinkSample.heartbeat + foreign + foreign + MAVLinkSample.systemStatus)
    #expect(batch.outcomes == [.whole, .otherVersion, .otherVersion, .whole])
    #expect(codec.counters.otherVersions == 2 && codec.counters.frames == 2)
    #expect(codec.counters.skippedBytes == UInt64(2 * foreign.count))
    // At the end of what comes, silence says that it was a frame.
    codec.feed(foreign, into: &batch)
    #expect(batch.count == 4)
    codec.idle(into: &batch)
    #expect(batch.outcomes.suffix(1) == [.otherVersion] && !codec.hasUnfinishedFrame)
  }

  /// Nobody who has sent something that could be checked: noise, and what is in it may be a frame.
  @Test func unknownMessagesOfStrangersAreNoise() {
    var codec = MAVLinkCodec()
    let foreign = unknown(MAVLinkSample.battery, system: 7)
    let batch = codec.received(MAVLinkSample.heartbeat + foreign + MAVLinkSample.systemStatus)
    #expect(texts(batch) == [0, 147, 1] && batch.outcomes == [.whole, .whole, .whole])
  }

  /// What isn't followed by a frame was none.
  @Test func unknownMessagesOfAWrongLengthAreNoise() {
    var codec = MAVLinkCodec()
    var foreign = unknown(MAVLinkSample.battery)
    foreign[1] -= 1
    let batch = codec.received(MAVLinkSample.heartbeat + foreign + MAVLinkSample.systemStatus)
    #expect(texts(batch) == [0, 147, 1])
  }

  // MARK: - Features

  @Test func aSignedFrameIsReadWithItsSignature() throws {
    var header = MAVLinkHeader(0, sequence: 3, system: 1, component: 1)
    header.incompatibilityFlags = 1
    header.signature = (1...13).map { UInt8($0) }
    var bytes: [UInt8] = []
    try MAVLinkCodec().encode(header, payload: [0, 0, 0, 0, 2, 3, 81, 3, 3], into: &bytes)
    #expect(bytes.count == 34)
    var codec = MAVLinkCodec()
    let batch = codec.received(bytes + MAVLinkSample.heartbeat)
    #expect(batch.outcomes == [.whole, .whole] && batch.header(at: 0) == header)
    #expect(codec.counters.skippedBytes == 0)
  }

  /// Other features than a signature: the frame is dropped and counted, and what follows isn't lost.
  @Test func aFrameWithUnknownFlagsIsDroppedAndCounted() throws {
    var header = MAVLinkHeader(0, sequence: 3, system: 1, component: 1)
    header.incompatibilityFlags = 2
    var bytes: [UInt8] = []
    try MAVLinkCodec().encode(header, payload: [0, 0, 0, 0, 2, 3, 81, 3, 3], into: &bytes)
    var codec = MAVLinkCodec()
    let batch = codec.received(bytes + MAVLinkSample.heartbeat)
    #expect(batch.outcomes == [.otherVersion, .whole] && codec.counters.otherVersions == 1)
    // Without a checksum that fits, they are noise.
    var other = MAVLinkCodec()
    #expect(
      texts(other.received(MAVLinkSample.heartbeat + unknown([1, 2], flags: 2) + MAVLinkSample.heartbeat)) == [0, 0])
    #expect(other.counters.otherVersions == 0)
  }

  /// Some send extensions in version 1, too.
  @Test func extensionsInVersion1AreRead() {
    let bytes = hex(
      "fe36000101934d030000ffffffffff0a640f640f640f640fffffffffffffffffffffffffd20400010157580200000100000000000000"
        + "0000000000004ceb")
    var codec = MAVLinkCodec()
    let batch = codec.received(bytes)
    guard batch.outcomes == [.whole],
      case .batteryStatus(let status)? = batch.withPayload(at: 0, { MAVLinkMessage(147, payload: $0) })
    else {
      Issue.record("no battery")
      return
    }
    #expect(status.secondsRemaining == 600 && status.state == .ok)
  }

  @Test func whatMAVLinkCannotSendIsRefused() {
    var bytes: [UInt8] = [1]
    let codec = MAVLinkCodec()
    #expect(throws: FrameEncodingError.unknownMessage(60_000)) {
      try codec.encode(MAVLinkHeader(60_000, system: 1, component: 1), payload: [1], into: &bytes)
    }
    #expect(throws: FrameEncodingError.unknownMessage(370)) {
      try codec.encode(MAVLinkHeader(370, version: .one, system: 1, component: 1), payload: [1], into: &bytes)
    }
    #expect(throws: FrameEncodingError.payloadTooLong(byteCount: 256, limit: 255)) {
      try codec.encode(
        MAVLinkHeader(0, system: 1, component: 1), payload: [UInt8](repeating: 1, count: 256), into: &bytes)
    }
    #expect(throws: FrameEncodingError.payloadTooShort(byteCount: 8, minimum: 9)) {
      try codec.encode(
        MAVLinkHeader(0, version: .one, system: 1, component: 1), payload: [UInt8](repeating: 1, count: 8), into: &bytes
      )
    }
    #expect(bytes == [1])
  }

  @Test func theTableOfMessagesIsConsistent() {
    #expect(MAVLinkTable.definition(of: 0)?.seed == 50 && MAVLinkTable.definition(of: 147)?.seed == 154)
    #expect(MAVLinkTable.definition(of: 370)?.seed == 75 && MAVLinkTable.definition(of: 3) == nil)
    for number in MAVLinkTable.numbers {
      guard let facts = MAVLinkTable.definition(of: number) else { continue }
      #expect((1...255).contains(facts.fullByteCount) && facts.baseByteCount <= facts.fullByteCount, "\(number)")
      #expect((facts.baseByteCount > 0) == (number < 256), "\(number)")
      #expect(facts.name.allSatisfy { $0.isUppercase || $0.isNumber || $0 == "_" })
    }
  }
}
