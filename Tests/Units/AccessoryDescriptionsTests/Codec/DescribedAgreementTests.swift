// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import FamilyBluno
import FamilyHM1X
import TestSupport
import Testing

@testable import AccessoryDescriptions
@testable import AccessoryProtocols
@testable import FamilyAF1

/// Described frames agree byte for byte with those of the codecs that are written in Swift, both ways.
@Suite struct DescribedAgreementTests {
  private static let count = 100_000

  @Test func describedAF1IsAsTheCodecOfAF1() throws {
    var random = SeededGenerator(seed: 1)
    let described = try DescribedCodec(Samples.af1)
    let decoder = MessageDecoder(described)
    let native = AF1Codec(maximumPayload: 1_024)
    var wire: [UInt8] = []
    var sent: [(header: AF1Header, payload: [UInt8])] = []
    for _ in 0..<Self.count {
      let size = Int.random(in: 0...3, using: &random) == 0 ? 0 : Int.random(in: 0...40, using: &random)
      let payload = (0..<size).map { _ in UInt8.random(in: 0 ... .max, using: &random) }
      let header = AF1Header(
        flags: .init(rawValue: .random(in: 0...15, using: &random)),
        command: .init(rawValue: .random(in: 0 ... .max, using: &random)),
        number: .random(in: 0 ... .max, using: &random))
      var expected: [UInt8] = []
      try native.encode(header, payload: payload, into: &expected)
      let frame = try described.frame(
        0, [1: Int(0x10 | header.flags.rawValue), 2: Int(header.command.rawValue), 3: Int(header.number)], body: payload
      )
      try #require(frame == expected)
      wire += frame
      sent.append((header, payload))
    }
    var reading = described
    var batch = FrameBatch<DescribedHeader>()
    var offset = 0
    while offset < wire.count {
      let piece = min(Int.random(in: 1...5_000, using: &random), wire.count - offset)
      reading.decode(wire.span.bytes.extracting(offset..<(offset + piece)), into: &batch)
      offset += piece
    }
    try #require(batch.count == Self.count && reading.counters.skippedBytes == 0)
    for index in 0..<batch.count {
      let (header, content) = (batch.header(at: index), batch.payloadBytes(at: index))
      let wanted = sent[index]
      try #require(Array(content[header.body]) == wanted.payload)
      try #require(decoder.number(2, header, content.span.bytes) == Int(wanted.header.command.rawValue))
      try #require(decoder.number(3, header, content.span.bytes) == Int(wanted.header.number))
      try #require(decoder.number(1, header, content.span.bytes) == Int(0x10 | wanted.header.flags.rawValue))
    }
  }

  @Test func describedHM1XIsAsHM1XFrame() throws {
    var random = SeededGenerator(seed: 2)
    let codec = try DescribedCodec(Samples.hm1x)
    let (decoder, encoder) = (MessageDecoder(codec), MessageEncoder(codec))
    for _ in 0..<Self.count {
      let frame = try HM1XFrame(
        steering: .random(in: HM1XFrame.range, using: &random),
        acceleration: .random(in: HM1XFrame.range, using: &random),
        headlights: .random(using: &random), brakeLights: .random(using: &random))
      let values: [String: PlainValue] = [
        "steering": .whole(frame.steering), "acceleration": .whole(frame.acceleration),
        "headlights": .flag(frame.headlights), "brake_lights": .flag(frame.brakeLights),
      ]
      let bytes = try encoder.frame(0, values)
      try #require(bytes == frame.encoded())
      let read = decoder.decode(0, DescribedHeader(framing: 0, body: 0..<4), bytes.span.bytes)
      try #require(Dictionary(uniqueKeysWithValues: read.values.map { ($0.name, $0.value) }) == values)
    }
  }

  @Test func describedBlunoIsAsBlunoMessage() throws {
    var random = SeededGenerator(seed: 3)
    var codec = try DescribedCodec(Samples.bluno)
    let (decoder, encoder) = (MessageDecoder(codec), MessageEncoder(codec))
    var batch = FrameBatch<DescribedHeader>()
    for _ in 0..<Self.count {
      let speed = Int.random(in: BlunoMessage.speeds, using: &random) >> Int.random(in: 0...30, using: &random)
      let bytes = try encoder.frame(0, ["speed": .whole(speed)])
      try #require(try bytes == BlunoMessage.speed(speed).encoded())
      batch.removeAll()
      codec.decode(bytes.span.bytes, into: &batch)
      try #require(batch.count == 1)
      let content = batch.payloadBytes(at: 0)
      let read = decoder.decode(0, batch.header(at: 0), content.span.bytes)
      try #require(read["speed"]?.value == .whole(speed))
    }
  }

  /// The sensor's frame, written by hand.
  private static func sensorFrame(_ numbers: [UInt16]) -> [UInt8] {
    var frame: [UInt8] = [0x42, 0x4D, 0, 28]
    for number in numbers { frame += [UInt8(number >> 8), UInt8(number & 0xFF)] }
    let sum = frame.reduce(UInt16(0)) { $0 &+ UInt16($1) }
    return frame + [UInt8(sum >> 8), UInt8(sum & 0xFF)]
  }

  @Test func describedPMS5003IsAsTheSensorSendsIt() throws {
    var random = SeededGenerator(seed: 4)
    var codec = try DescribedCodec(Samples.pms5003)
    let (decoder, encoder) = (MessageDecoder(codec), MessageEncoder(codec))
    var batch = FrameBatch<DescribedHeader>()
    for _ in 0..<Self.count {
      var numbers = (0..<13).map { _ in UInt16.random(in: 0 ... .max, using: &random) }
      // What the description skips is sent as zeros.
      for unread in [3, 4, 5, 12] { numbers[unread] = 0 }
      let wire = Self.sensorFrame(numbers)
      let values: [String: PlainValue] = [
        "pm1": .whole(Int(numbers[0])), "pm2_5": .whole(Int(numbers[1])), "pm10": .whole(Int(numbers[2])),
        "particles": .list(numbers[6..<12].map { .whole(Int($0)) }),
      ]
      try #require(try encoder.frame(0, values) == wire)
      batch.removeAll()
      codec.decode(wire.span.bytes, into: &batch)
      try #require(batch.count == 1)
      let content = batch.payloadBytes(at: 0)
      let read = decoder.decode(0, batch.header(at: 0), content.span.bytes)
      try #require(Dictionary(uniqueKeysWithValues: read.values.map { ($0.name, $0.value) }) == values)
    }
  }
}
