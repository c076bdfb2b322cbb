// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import AccessoryProtocols

/// What is on the wire for a `HeaderFormat`.
@Suite struct HeaderFormatTests {
  struct Vector: Sendable, CustomTestStringConvertible {
    var name: String
    var format: HeaderFormat
    var header: [UInt8]
    var payload: String
    var wire: String
    var testDescription: String { name }
  }

  static let vectors = [
    Vector(
      name: "AF1 battery reply", format: HeaderFormats.af1, header: [0, 0, 0x12, 3, 1, 0], payload: "02 39 80 0E 02",
      wire: "0F F0 12 03 01 00 05 00 33 31 02 39 80 0E 02 74 44 79 A0"),
    Vector(
      name: "AF1 battery request", format: HeaderFormats.af1, header: [0, 0, 0x11, 3, 1, 0], payload: "",
      wire: "0F F0 11 03 01 00 00 00 26 00"),
    Vector(
      name: "UBX-MON-VER poll", format: HeaderFormats.ubx, header: [0, 0, 0x0A, 0x04], payload: "",
      wire: "B5 62 0A 04 00 00 0E 34"),
    Vector(
      name: "UBX-CFG-RATE 5 Hz", format: HeaderFormats.ubx, header: [0, 0, 0x06, 0x08], payload: "C8 00 01 00 01 00",
      wire: "B5 62 06 08 06 00 C8 00 01 00 01 00 DE 6A"),
    Vector(
      name: "MAVLink heartbeat", format: HeaderFormats.mavlink, header: [0, 0, 0, 0, 7, 1, 1, 0, 0, 0],
      payload: "00 00 00 00 02 03 51 04 03", wire: "FD 09 00 00 07 01 01 00 00 00 00 00 00 00 02 03 51 04 03 0B E6"),
    Vector(
      name: "MAVLink without payload", format: HeaderFormats.mavlink, header: [0, 0, 0, 0, 8, 1, 1, 0, 0, 0],
      payload: "", wire: "FD 00 00 00 08 01 01 00 00 00 BF 78"),
    Vector(
      name: "RTCM", format: HeaderFormats.rtcm, header: [], payload: "01 02 03 04 05 06 07",
      wire: "D3 00 07 01 02 03 04 05 06 07 88 38 D5"),
    Vector(
      name: "length of the frame", format: HeaderFormats.wholeFrame, header: [], payload: "68 65 6C 6C 6F",
      wire: "AA 44 13 00 0B 68 65 6C 6C 6F E0"),
    Vector(
      name: "one less", format: HeaderFormats.oneLess, header: [], payload: "10 20 30 40", wire: "31 03 10 20 30 40 43"),
    Vector(
      name: "checksum in the header", format: HeaderFormats.checksumInHeader, header: [0, 0, 9], payload: "01 02 03",
      wire: "7E 03 09 61 61 4C 01 02 03"),
    Vector(name: "no checksum", format: HeaderFormats.bare, header: [], payload: "41 42", wire: "02 02 41 42"),
  ]

  @Test(arguments: vectors)
  func aHeadersVectorIsEncodedAndDecoded(_ vector: Vector) throws {
    var codec = try HeaderCodec(vector.format, maximumPayload: 16)
    var output: [UInt8] = [0xEE]
    try codec.encode(HeaderBytes(vector.header), payload: hex(vector.payload), into: &output)
    #expect(output == [0xEE] + hex(vector.wire))
    let batch = codec.received(hex(vector.wire))
    #expect(batch.outcomes == [.whole])
    #expect(batch.payloads == [hex(vector.payload)])
    let headerByteCount = vector.format.headerByteCount
    #expect(batch.header(at: 0).prefix(headerByteCount) == Array(hex(vector.wire).prefix(headerByteCount)))
    #expect(codec.counters.frames == 1 && codec.counters.skippedBytes == 0)
    #expect(!codec.hasUnfinishedFrame)
  }

  @Test(arguments: HeaderFormats.all)
  func framesAreReadWholeAndTruncatedOnesAwaited(format: HeaderFormat) throws {
    var random = SeededGenerator(seed: 1)
    let codec = try HeaderCodec(format, maximumPayload: 200)
    for count in [1, 2, 3, 7, 50, 199, 200] + (format == HeaderFormats.oneLess ? [] : [0]) {
      var header = HeaderBytes(random.bytes(format.headerByteCount))
      if format.version != nil { header[2] = 0x1F }
      let payload = random.bytes(count)
      let wire = try codec.wire(header, payload)
      #expect(wire.count == format.headerByteCount + count + format.trailerByteCount(payload: count))
      for end in 0..<wire.count {
        var codec = codec
        #expect(codec.received(wire.prefix(end)).isEmpty)
        #expect(codec.hasUnfinishedFrame == (end > 0))
        #expect(codec.unfinishedByteCount == end)
        let batch = codec.received(wire.dropFirst(end) + wire)
        #expect(batch.payloads == [payload, payload])
        #expect(!codec.hasUnfinishedFrame && codec.counters.skippedBytes == 0)
      }
    }
  }

  @Test(arguments: HeaderFormats.all)
  func payloadsLongerThanAHeadersLimitAreRefused(format: HeaderFormat) throws {
    let codec = try HeaderCodec(format, maximumPayload: 9)
    let wide = try HeaderCodec(format, maximumPayload: 10)
    var output: [UInt8] = [1]
    #expect(throws: FrameEncodingError.payloadTooLong(byteCount: 10, limit: 9)) {
      try codec.encode(HeaderBytes(), payload: [UInt8](repeating: 0, count: 10), into: &output)
    }
    #expect(output == [1])
    var header = HeaderBytes()
    if format.version != nil { header[2] = 0x10 }
    let long = try wide.wire(header, [UInt8](repeating: 1, count: 10))
    let next = try codec.wire(header, [UInt8](repeating: 1, count: 9))
    var receiver = codec
    let batch = receiver.received(long + next)
    #expect(batch.outcomes == [.tooLong, .whole])
    #expect(receiver.counters.tooLong == 1 && receiver.counters.skippedBytes == UInt64(long.count))
    #expect(batch.header(at: 0).prefix(format.headerByteCount) == Array(long.prefix(format.headerByteCount)))
  }

  @Test func anEmptyPayloadIsRefusedAsTooShort() throws {
    let codec = try HeaderCodec(HeaderFormats.oneLess, maximumPayload: 256)
    #expect(throws: FrameEncodingError.payloadTooShort(byteCount: 0, minimum: 1)) {
      try codec.wire(HeaderBytes(), [])
    }
    #expect(try codec.wire(HeaderBytes(), [UInt8](repeating: 0, count: 256))[1] == 0xFF)
  }

  @Test func impossibleLengthsAreRefused() throws {
    // Vouched for, so reported.
    var format = HeaderFormats.af1
    format.length.counts = .frame
    var codec = try HeaderCodec(format, maximumPayload: 300)
    for length in [0, 1, 9, 11, 13, 14] {
      var header = hex("0F F0 11 00 00 00 00 00")
      header[6] = UInt8(length)
      let check = CRC16.checksum(of: header.span.bytes, .crc16IBM3740)
      header += [UInt8(check & 0xFF), UInt8(check >> 8)]
      let batch = codec.received(header)
      #expect(batch.outcomes == [.malformed])
      #expect(codec.counters.malformed == UInt64([0, 1, 9, 11, 13, 14].firstIndex(of: length) ?? 0) + 1)
      #expect(!codec.hasUnfinishedFrame)
    }
    #expect(codec.received(try codec.wire(HeaderBytes([0, 0, 0x11]), [])).outcomes == [.whole])
    #expect(codec.received(try codec.wire(HeaderBytes([0, 0, 0x11]), [7])).outcomes == [.whole])
    // Not vouched for: it is noise.
    var plain = try HeaderCodec(HeaderFormats.wholeFrame, maximumPayload: 300)
    #expect(plain.received(hex("AA 44 13 00 05")).isEmpty)
    #expect(plain.counters.headerErrors == 1 && plain.counters.skippedBytes == 5)
  }

  @Test func aWrongFormatIsRefusedByItsParameter() {
    func refused(_ change: (inout HeaderFormat) -> Void) -> String? {
      var format = HeaderFormats.af1
      change(&format)
      do {
        _ = try HeaderCodec(format, maximumPayload: 300)
        return nil
      } catch {
        return error.parameter
      }
    }
    #expect(refused { _ in } == nil)
    #expect(refused { $0.sync = [] } == "sync")
    #expect(refused { $0.sync = [1, 2, 3, 4, 5] } == "sync")
    #expect(refused { $0.headerByteCount = 33 } == "headerByteCount")
    #expect(refused { $0.headerByteCount = 1 } == "headerByteCount")
    #expect(refused { $0.length.byteCount = 0 } == "length.byteCount")
    #expect(refused { $0.length.byteCount = 5 } == "length.byteCount")
    #expect(refused { $0.length.byteCount = 1 } == "maximumPayload")
    #expect(refused { $0.length.offset = 9 } == "length.offset")
    #expect(refused { $0.length.offset = 1 } == "length.offset")
    #expect(refused { $0.length.bias = 1 << 20 } == "length.bias")
    #expect(refused { $0.length.bias = 400 } == "maximumPayload")
    #expect(refused { $0.headerChecksum?.offset = 9 } == "headerChecksum.offset")
    #expect(refused { $0.headerChecksum?.offset = 7 } == "headerChecksum.offset")
    #expect(refused { $0.headerChecksum?.covers = 0..<9 } == "headerChecksum.covers")
    #expect(refused { $0.headerChecksum?.covers = 0..<7 } == "headerChecksum.covers")
    #expect(refused { $0.headerChecksum?.covers = -1..<8 } == "headerChecksum.covers")
    #expect(refused { $0.payloadChecksum?.coveredHeader = 0..<11 } == "payloadChecksum.coveredHeader")
    #expect(refused { $0.payloadChecksum?.position = .inHeader(offset: 3) } == "payloadChecksum.position")
    #expect(refused { $0.payloadChecksum?.position = .inHeader(offset: 9) } == "payloadChecksum.position")
    #expect(refused { $0.version?.offset = 10 } == "version.offset")
    #expect(
      refused {
        $0.payloadChecksum = .init(.sum8, position: .inHeader(offset: 3), coveredHeader: 8..<9)
      } == "payloadChecksum.coveredHeader")
    #expect(
      refused {
        $0.payloadChecksum = .init(.sum8, position: .inHeader(offset: 3), coveredHeader: 3..<4)
      } == "payloadChecksum.coveredHeader")
    #expect(throws: FramingParameterError("maximumPayload", "must be 1 to 16777216")) {
      try HeaderCodec(HeaderFormats.af1, maximumPayload: 0)
    }
    #expect(throws: FramingParameterError.self) { try HeaderCodec(HeaderFormats.withTrailer, maximumPayload: 1 << 25) }
    #expect("\(FramingParameterError("length.byteCount", "must be 1 to 4"))" == "length.byteCount must be 1 to 4")
  }

  @Test func headerBytesAreReadAsIntegers() {
    var header = HeaderBytes([1, 2, 3, 4])
    #expect(header.integer(at: 1, byteCount: 2) == 0x0302)
    #expect(header.integer(at: 0, byteCount: 4, .bigEndian) == 0x0102_0304)
    #expect(header.prefix(5) == [1, 2, 3, 4, 0])
    header[4] = 9
    #expect(header == HeaderBytes([1, 2, 3, 4, 9]))
    #expect(header != HeaderBytes([1, 2, 3, 4]))
  }
}
