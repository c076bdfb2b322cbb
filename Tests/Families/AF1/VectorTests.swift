// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols
import TestSupport
import Testing

@testable import FamilyAF1

/// The frames that the AF1 specification gives byte by byte.
@Suite struct VectorTests {
  struct Vector: Sendable, CustomTestStringConvertible {
    var name: String
    var wire: String
    var header: AF1Header
    var payload: String
    var testDescription: String { name }
  }

  static let vectors = [
    Vector(
      name: "battery request", wire: "0F F0 11 03 01 00 00 00 26 00", header: .request(.battery, number: 1),
      payload: ""),
    Vector(
      name: "battery reply", wire: "0F F0 12 03 01 00 01 00 F7 FD 02 A1 8E 0C 3C",
      header: .reply(to: .request(.battery, number: 1)), payload: "02"),
    Vector(
      name: "full battery reply", wire: "0F F0 12 03 01 00 05 00 33 31 02 39 80 0E 02 74 44 79 A0",
      header: .reply(to: .request(.battery, number: 1)), payload: "02 39 80 0E 02"),
    Vector(
      name: "status reply", wire: "0F F0 12 02 03 00 04 00 3B 45 00 00 00 FF 91 30 46 0C",
      header: .reply(to: .request(.status, number: 3)), payload: "00 00 00 FF"),
    Vector(
      name: "hello", wire: "0F F0 11 00 17 2A 04 00 09 5F 78 56 34 12 D2 87 6D AF",
      header: .request(.hello, number: 0x2A17), payload: "78 56 34 12"),
    Vector(
      name: "hello reply", wire: "0F F0 12 00 17 2A 08 00 84 D4 01 EE FF C0 00 10 01 00 9B D3 FB F2",
      header: .reply(to: .request(.hello, number: 0x2A17)), payload: "01 EE FF C0 00 10 01 00"),
    Vector(
      name: "refusal", wire: "0F F0 16 55 09 00 01 00 22 A6 03 37 BE 0B 4B",
      header: .refusal(of: .request(AF1Command(rawValue: 0x55), number: 9)), payload: "03"),
    Vector(
      name: "battery event", wire: "0F F0 18 03 05 00 05 00 C0 7D 01 0C 5C 0D 02 A0 A9 92 8F",
      header: .event(.battery, number: 5), payload: "01 0C 5C 0D 02"),
    Vector(
      name: "number FFFF", wire: "0F F0 11 01 FF FF 00 00 D1 B6", header: .request(.identify, number: 0xFFFF),
      payload: ""),
    Vector(
      name: "number wrapped", wire: "0F F0 11 01 00 00 00 00 11 32", header: .request(.identify, number: 0),
      payload: ""),
    Vector(
      name: "nine digits", wire: "0F F0 10 7F 02 00 09 00 6F F2 31 32 33 34 35 36 37 38 39 26 39 F4 CB",
      header: AF1Header(flags: [], command: AF1Command(rawValue: 0x7F), number: 2), payload: "313233343536373839"),
    Vector(
      name: "payload like a header",
      wire: "0F F0 10 10 07 00 08 00 3E 01 0F F0 10 03 01 00 00 00 32 E8 B6 24",
      header: AF1Header(flags: [], command: .transferBegin, number: 7), payload: "0F F0 10 03 01 00 00 00"),
  ]

  /// Who writes firmware reads them in Documentation/af1.md.
  @Test func thePageHasEveryVector() throws {
    let page = try Page("Documentation/af1.md")
    for vector in Self.vectors {
      #expect(page.lines.contains { $0.contains("`\(vector.wire)`") }, "\(vector.name)")
    }
  }

  @Test(arguments: vectors)
  func aFrameIsEncodedAsInItsVector(_ vector: Vector) throws {
    var output: [UInt8] = [0xAA]
    try AF1Codec(maximumPayload: 16).encode(vector.header, payload: hex(vector.payload), into: &output)
    #expect(output == [0xAA] + hex(vector.wire))
  }

  @Test(arguments: vectors)
  func aFrameIsDecodedAsInItsVector(_ vector: Vector) {
    let result = decode(hex(vector.wire))
    var header = vector.header
    header.payloadLength = UInt16(hex(vector.payload).count)
    #expect(result.frames == [Decoded(outcome: .whole, header: header, payload: hex(vector.payload))])
    #expect(result.counters.frames == 1)
    #expect(result.counters.skippedBytes == 0)
    #expect(result.unfinished == 0)
  }

  @Test func allVectorsAreReadInOneStream() {
    let result = decode(Self.vectors.flatMap { hex($0.wire) })
    #expect(result.frames.map(\.header.number) == Self.vectors.map(\.header.number))
    #expect(result.counters.frames == UInt64(Self.vectors.count))
  }

  @Test func otherVersionIsReported() throws {
    let wire = hex("0F F0 21 03 01 00 00 00 AA 2F")
    let header = AF1Header(version: 2, flags: .replyWanted, command: .battery, number: 1)
    var output: [UInt8] = []
    try AF1Codec(maximumPayload: 16).encode(header, payload: [], into: &output)
    #expect(output == wire)
    let result = decode(wire)
    #expect(result.frames == [Decoded(outcome: .otherVersion, header: header, payload: [])])
    #expect(result.counters.otherVersions == 1)
    #expect(result.counters.frames == 0)
    #expect(result.counters.skippedBytes == 10)
  }

  @Test func encodingRefusesLongPayloads() throws {
    let codec = AF1Codec(maximumPayload: 16)
    var output: [UInt8] = [1]
    try codec.encode(.request(.echo, number: 1), payload: [UInt8](repeating: 0, count: 16), into: &output)
    let before = output
    #expect(throws: FrameEncodingError.payloadTooLong(byteCount: 17, limit: 16)) {
      try codec.encode(.request(.echo, number: 1), payload: [UInt8](repeating: 0, count: 17), into: &output)
    }
    #expect(output == before)
    var largest: [UInt8] = []
    try AF1Codec(maximumPayload: 65535).encode(
      .request(.echo, number: 1), payload: [UInt8](repeating: 7, count: 65535), into: &largest)
    #expect(decode(largest, maximumPayload: 65535).frames.first?.payload.count == 65535)
  }
}
