// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import TestSupport
import Testing

@testable import AccessoryDescriptions
@testable import AccessoryProtocols

/// How Modbus frames are found, with and without a request that they answer.
@Suite struct ModbusCodecTests {
  private static let request = hex("0104331A00039E88")
  private static let reply = hex("01040604FCFFFDFFFF9157")
  private static let exception = hex("018402C2C1")

  /// The contents of the frames in `bytes`, in pieces of so many.
  private func frames(
    _ bytes: [UInt8], _ codec: inout DescribedCodec, pieces: Int = .max, isSilent: Bool = false
  ) -> [[UInt8]] {
    var batch = FrameBatch<DescribedHeader>()
    var rest = bytes[...]
    while !rest.isEmpty {
      codec.decode(Array(rest.prefix(pieces)).span.bytes, into: &batch)
      rest = rest.dropFirst(pieces)
    }
    if isSilent { codec.idle(into: &batch) }
    return (0..<batch.count).filter { !batch.header(at: $0).isStray }.map { batch.payloadBytes(at: $0) }
  }

  private func asking(_ request: [UInt8] = request) throws -> DescribedCodec {
    var codec = try DescribedCodec(Samples.charger)
    _ = codec.begin(request)
    return codec
  }

  // MARK: - With a request

  @Test(arguments: [1, 2, 3, 5, 1_000]) func aReplyOfModbusIsFoundBehindNoise(pieces: Int) throws {
    var codec = try asking()
    // Behind the request's own bytes, and noise that begins like a reply and says that it is long.
    let noise: [UInt8] = [0x00, 0x01, 0x04, 0x06, 0x01, 0x04, 0xFA]
    #expect(frames(Self.request + noise + Self.reply + [0xFF], &codec, pieces: pieces) == [Self.reply])
    #expect(codec.counters.frames == 1)
    #expect(!codec.hasUnfinishedFrame || codec.unfinishedByteCount <= 1)
  }

  @Test func onlyOneReplyIsTaken() throws {
    var codec = try asking()
    #expect(frames(Self.reply + Self.reply, &codec) == [Self.reply])
  }

  @Test func anExceptionOfModbusIsAReply() throws {
    var codec = try asking()
    #expect(frames([0x01] + Self.exception, &codec) == [Self.exception])
  }

  /// Right frames that answer something else.
  @Test(
    arguments: [
      "020406000000010001",  // of another unit
      "010306000000010001", "0104020001", "0104080000000100010000",  // another function, other lengths
      "018302",  // an exception of another function
    ])
  func framesThatAnswerSomethingElseAreNoReplies(text: String) throws {
    var codec = try asking()
    var frame = hex(text)
    ModbusCheck().append(to: &frame)
    #expect(frames(frame, &codec) == [])
    #expect(frames(Self.reply, &codec) == [Self.reply])
  }

  @Test func aDamagedReplyIsCountedAndTheNextOneFound() throws {
    var codec = try asking()
    var damaged = Self.reply
    damaged[4] ^= 1
    #expect(frames(damaged, &codec) == [])
    #expect(codec.counters.payloadErrors == 1)
    #expect(frames(Self.reply, &codec) == [Self.reply])
    #expect(codec.counters.skippedBytes == UInt64(damaged.count))
  }

  /// What was kept when the time was up is no part of an answer to the next request.
  @Test func halfALateReplyIsForgotten() throws {
    var codec = try asking()
    #expect(frames(Array(Self.reply.prefix(7)), &codec) == [])
    var batch = FrameBatch<DescribedHeader>()
    codec.expire(into: &batch)
    #expect(batch.isEmpty && codec.unfinishedByteCount == 0)
    _ = codec.begin(hex("010432000003BEB3"))
    #expect(
      frames(Array(Self.reply.dropFirst(7)) + hex("010406000000010001F093"), &codec) == [hex("010406000000010001F093")])
  }

  /// Noise without an end is kept no longer than a frame.
  @Test func endlessNoiseIsKeptNoLongerThanAFrame() throws {
    var codec = try asking()
    for _ in 0..<1_000 {
      #expect(frames([0x01, 0x04, 0x06, 0x01, 0x84], &codec) == [])
      #expect(codec.unfinishedByteCount < 11)
    }
    #expect(frames(Self.reply, &codec) == [Self.reply])
  }

  /// The reply to a register that is written is the request once more, which an adapter may give back in front of it.
  @Test func theReplyToAWrite() throws {
    let write = hex("010600010003980B")
    var plain = try asking(write)
    #expect(frames(write, &plain) == [write])
    var echoing = try asking()
    #expect(frames(Self.request + Self.reply, &echoing) == [Self.reply])
    _ = echoing.begin(write)
    #expect(frames(write, &echoing) == [])
    #expect(frames(write, &echoing) == [write])
  }

  // MARK: - Without a request

  @Test(arguments: [1, 3, 1_000]) func aListenerReadsRequestsAndReplies(pieces: Int) throws {
    var codec = try DescribedCodec(Samples.charger)
    let other = hex("01020100A188")
    let parts: [[UInt8]] = [Self.request, Self.reply, [0x55], other, Self.exception, [0x01, 0x04, 0x08]]
    let found = frames(parts.flatMap { $0 }, &codec, pieces: pieces)
    #expect(found == [Self.request, Self.reply, other, Self.exception])
    #expect(codec.unfinishedByteCount == 3 && codec.counters.skippedBytes == 1)
    // Behind what has begun and doesn't go on, silence shows a whole frame.
    #expect(frames(Self.reply, &codec, isSilent: true) == [Self.reply])
    #expect(codec.unfinishedByteCount == 0 && codec.counters.skippedBytes == 4)
  }

  @Test func anAccessoryReadsItsRequests() throws {
    var codec = try DescribedCodec(Samples.charger, side: .accessory)
    // The reply of another accessory on the line is noise to this one.
    #expect(frames([0xFF] + Self.request + Self.reply + Self.request, &codec) == [Self.request, Self.request])
    #expect(frames([], &codec, isSilent: true) == [])
    #expect(codec.counters.frames == 2 && codec.counters.skippedBytes == UInt64(1 + Self.reply.count))
  }

  /// The largest counts, and those that no request can have.
  @Test(arguments: [0, 1, 2, 249, 250, 251, 255]) func onlyEvenCountsOfBytesAreReplies(count: Int) throws {
    var frame: [UInt8] = [1, 3, UInt8(count)] + [UInt8](repeating: 0xFF, count: count)
    ModbusCheck().append(to: &frame)
    var codec = try DescribedCodec(Samples.charger)
    let isRight = count > 0 && count.isMultiple(of: 2) && count <= 250
    #expect(frames(frame, &codec) == (isRight ? [frame] : []))
  }
}
