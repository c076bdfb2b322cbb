// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import TestSupport
import Testing

@testable import AccessoryDescriptions
@testable import AccessoryProtocols

@Suite struct DescribedCodecTests {
  /// All frames in `wire`, in pieces of so many bytes, with what they say.
  private func read(_ description: ProtocolDescription, _ wire: [UInt8], pieces: Int = .max) throws -> [DecodedMessage]
  {
    var codec = try DescribedCodec(description)
    let decoder = MessageDecoder(codec)
    var batch = FrameBatch<DescribedHeader>()
    var offset = 0
    while offset < wire.count {
      let count = min(pieces, wire.count - offset)
      codec.decode(wire.span.bytes.extracting(offset..<(offset + count)), into: &batch)
      offset += count
    }
    return (0..<batch.count).compactMap { index in
      let (header, content) = (batch.header(at: index), batch.payloadBytes(at: index))
      return decoder.message(header, content.span.bytes).map { decoder.decode($0, header, content.span.bytes) }
    }
  }

  private static let j1 = "DD03001B1700000002D003E8000020780000000000001048030F020B760B82FBFF77"

  @Test(arguments: [1, 2, 3, 7, 1_000]) func aBasicReplyOfJBDIsRead(pieces: Int) throws {
    // Noise in front.
    let read = try read(Samples.jbd, [0x00, 0x77, 0x03] + hex(Self.j1) + hex(Self.j1), pieces: pieces)
    try #require(read.count == 2)
    let message = read[1]
    #expect(message["battery.voltage"]?.value == .number(58.88))
    #expect(message["battery.current"]?.value == .number(0))
    #expect(message["battery.remaining"]?.value == .number(7.2))
    #expect(message["production"]?.value == .text("2016-03-24"))
    #expect(message["battery.percent"]?.value == .whole(72))
    #expect(message["charge_mosfet"]?.value == .flag(true))
    #expect(message["discharge_mosfet"]?.value == .flag(true))
    #expect(message["battery.temperatures"]?.value == .list([.number(20.3), .number(21.5)]))
    #expect(message["battery.faults"]?.value == .list([]))
    #expect(message.problemCount == 0)
  }

  @Test func faultsCurrentAndRefusalsOfJBDAreRead() throws {
    let faulty = try read(
      Samples.jbd, hex("DD03001D060B000001ED01F400002C7C00000000100080630204030BA00B9D0B98FA5577"))
    #expect(faulty.first?["battery.faults"]?.value == .list([.text("mosfet-software-lock")]))
    #expect(faulty.first?["charge_mosfet"]?.value == .flag(false))
    let empty = try read(Samples.jbd, hex("DD030017000000000000271000002C500000000000002000011000FF0577"))
    #expect(empty.first?["battery.temperatures"]?.value == .list([]))
    let discharging = try read(
      Samples.jbd, hex("DD03001F19DFF8240DA50FA00002249100000000000012570311040B980BA90B960B97F89A77"))
    #expect(discharging.first?["battery.current"]?.value == .number(-20.12))
    let refused = try read(Samples.jbd, hex("DD038000FF8077"))
    #expect(refused.map(\.message) == [2])
  }

  @Test func aWrongCheckIsKeptUntilAGoodFrameComes() throws {
    var codec = try DescribedCodec(Samples.jbd)
    var batch = FrameBatch<DescribedHeader>()
    let frame = hex(Self.j1)
    var damaged = frame
    damaged[damaged.count - 3] ^= 0x80
    #expect(codec.mismatch == nil)
    codec.decode(damaged.span.bytes, into: &batch)
    #expect(codec.mismatch?.description == "the check is 7bff, calculated fbff")
    codec.decode(frame.span.bytes, into: &batch)
    #expect(codec.mismatch == nil && batch.count == 1)
  }

  /// Each is told once, with its bytes and its place, although its data has bytes like another damaged frame.
  @Test(arguments: [1, 2, 5, 1_000]) func damagedFramesAreToldAtTheirPlace(pieces: Int) throws {
    let frame = hex(Self.j1)
    var damaged = frame
    (damaged[16], damaged[21], damaged[22], damaged[damaged.count - 2]) = (0xDD, 1, 0x77, 0)
    let wire = [0x01, 0x02] + frame + damaged + damaged + frame
    var codec = try DescribedCodec(Samples.jbd)
    var batch = FrameBatch<DescribedHeader>()
    var told: [String] = []
    var offset = 0
    while offset < wire.count {
      let count = min(pieces, wire.count - offset)
      codec.decode(wire.span.bytes.extracting(offset..<(offset + count)), into: &batch)
      for found in codec.damaged {
        #expect(found.bytes == damaged)
        told.append("\(found.position): \(found.mismatch)")
      }
      offset += count
    }
    #expect(batch.count == 2)
    #expect(told == ["1: the check is fb00, calculated faba", "1: the check is fb00, calculated faba"])
  }

  /// A command of JBD's is also an answer, since the check of an answer leaves out the register.
  @Test func aFrameOfTheWrongDirectionIsNotMatched() throws {
    var description = Samples.jbd
    let command = hex("DDA50300FFFD77")
    func framings(_ side: DescribedCodec.Side) throws -> [String] {
      var codec = try DescribedCodec(description, side: side)
      var batch = FrameBatch<DescribedHeader>()
      codec.decode(command.span.bytes, into: &batch)
      codec.idle(into: &batch)
      #expect(codec.counters.skippedBytes == (batch.count == 0 ? 7 : 0))
      return (0..<batch.count).map { description.framings[batch.header(at: $0).framing].name }
    }
    #expect(try framings(.host) == ["answer"] && framings(.accessory) == ["command"])
    description.framings[0].direction = .toDevice
    #expect(try framings(.host) == ["command"], "of a framing that goes both ways")
    description.framings[1].direction = .toDevice
    #expect(try framings(.host) == [], "none is received")
    description.framings[0].direction = .fromDevice
    description.framings[1].direction = .fromDevice
    #expect(try framings(.accessory) == [])
  }

  /// A telegram of a smart meter: "!", a CRC in digits, a line end. The text may have the end in it, then the check is wrong.
  @Test(arguments: [1, 2, 3, 1_000]) func aCheckBehindTheEndIsPartOfItsFrame(pieces: Int) throws {
    var check = ProtocolDescription.Check(.frame(.crc(.crc16ARC)), covers: 0...2)
    check.notation = .hexadecimal
    var description = ProtocolDescription(name: "x")
    description.framings = [
      .init(
        name: "telegram",
        form: .layout([
          .init("start", .constant(Array("/".utf8))), .init("data", .body(nil)),
          .init("end", .constant(Array("!".utf8))),
          .init("check", .check(check)), .init("constant", .constant([13, 10])),
        ]))
    ]
    description.framings[0].limit = 64
    var codec = try DescribedCodec(description)
    let frame = try codec.frame(0, [:], body: Array("a\r\n".utf8))
    // The CRC-16/ARC of "/a\r\n!".
    #expect(frame == Array("/a\r\n!419D\r\n".utf8))
    #expect(throws: FrameEncodingError.self) { try codec.frame(0, [:], body: Array("a!b".utf8)) }
    var wire = Array("!12/x!0000\r\n".utf8) + frame + frame
    wire += Array("/".utf8) + [UInt8](repeating: 0x61, count: 80) + frame + Array("/late!".utf8)
    var batch = FrameBatch<DescribedHeader>()
    for start in stride(from: 0, to: wire.count, by: pieces) {
      codec.decode(wire[start..<min(start + pieces, wire.count)].span.bytes, into: &batch)
    }
    #expect(batch.count == 3)
    #expect((0..<batch.count).allSatisfy { batch.header(at: $0).body == 1..<4 && batch.payloadBytes(at: $0) == frame })
    #expect(codec.unfinishedByteCount == 6 && codec.counters.tooLong == 1)
  }

  @Test func numbersInDecimalDigitsHaveUpToSixteen() {
    let format = ProtocolDescription.NumberFormat(byteCount: 8, encoding: .bcd)
    #expect(format.bytes(of: 9_876_543_210_123_456) == [0x98, 0x76, 0x54, 0x32, 0x10, 0x12, 0x34, 0x56])
    #expect(format.whole(0x9876_5432_1012_3456) == 9_876_543_210_123_456 && format.whole(.max) == nil)
    #expect(format.bytes(of: 10_000_000_000_000_000) == nil && format.bytes(of: .max) == nil)
    let five = ProtocolDescription.NumberFormat(byteCount: 5, order: .littleEndian, encoding: .bcd)
    #expect(five.bytes(of: 1_234_567_890) == [0x90, 0x78, 0x56, 0x34, 0x12] && five.bytes(of: 10_000_000_000) == nil)
  }

  @Test func aWindowThatIsOnlySentIsNotReceived() throws {
    var framing = ProtocolDescription.Framing(name: "window", form: .window(pattern: [0, 0x3A], mask: [0x80, 0xFF]))
    framing.direction = .toDevice
    var description = ProtocolDescription(name: "x")
    description.framings = [framing]
    for side in [DescribedCodec.Side.host, .accessory] {
      var codec = try DescribedCodec(description, side: side)
      var batch = FrameBatch<DescribedHeader>()
      let bytes: [UInt8] = [1, 0x3A, 2, 0x3A]
      codec.decode(bytes.span.bytes, into: &batch)
      #expect(batch.count == (side == .host ? 0 : 2))
    }
  }

  @Test func aChangedByteCostsOnlyItsOwnFrame() throws {
    let frame = hex(Self.j1)
    for place in frame.indices where place != 1 {
      var damaged = frame
      damaged[place] ^= 0x10
      let read = try read(Samples.jbd, damaged + frame)
      // The register isn't covered by the check of a reply; every other byte costs this frame alone.
      #expect(read.count == 1, "byte \(place)")
    }
  }

  private static let v1 =
    "\r\nPID\t0xA389\r\nV\t53509\r\nI\t23866\r\nP\t1277\r\nCE\t-131099\r\nSOC\t548\r\nTTG\t-1\r\nAlarm\tOFF\r\nAR\t0"
    + "\r\nBMV\tSmartShunt 500A/50mV\r\nFW\t0414\r\nMON\t0\r\nChecksum\t"

  @Test(arguments: [1, 5, 1_000]) func blocksAreReadAroundHexadecimalMessages(pieces: Int) throws {
    let block = Array(Self.v1.utf8) + [0xDF]
    let message = Array(":A0102000345\n".utf8)
    var wire = Array("4\r\nSOC\t1\r\nChecksum\t:".utf8) + message + block
    // A message in the middle of a line.
    wire += block[..<30] + message + block[30...]
    let read = try read(Samples.vedirect, wire, pieces: pieces)
    let mains = read.filter { $0.message == 0 }
    #expect(mains.count == 2)
    for main in mains {
      #expect(main["battery.voltage"]?.value == .number(53.509))
      #expect(main["battery.current"]?.value == .number(23.866))
      #expect(main["battery.percent"]?.value == .number(54.8))
      #expect(main["product"]?.value == .whole(0xA389))
    }
    var codec = try DescribedCodec(Samples.vedirect)
    var batch = FrameBatch<DescribedHeader>()
    codec.decode(wire.span.bytes, into: &batch)
    #expect((0..<batch.count).count { batch.header(at: $0).framing == 1 } == 2)
    // The block of which the beginning is missing.
    #expect(codec.counters.payloadErrors == 1)
  }

  @Test func aChangedByteOfABlockCostsLittle() throws {
    let block = Array(Self.v1.utf8) + [0xDF]
    for place in block.indices {
      var damaged = block
      damaged[place] ^= 0x01
      // Where the closing line is damaged, the block runs on into the next one, and both are lost.
      let isClosing = (block.count - 12..<block.count - 1).contains(place)
      let read = try read(Samples.vedirect, damaged + block + block)
      #expect(read.count == (isClosing ? 1 : 2), "byte \(place)")
    }
  }

  @Test func repliesOfPylontechAreReadAndWrongOnesDropped() throws {
    let p1 =
      "~20024600C06E10020F0C9A0C980C990C980C9A0C9A0C990C9B0C9C0C9A0C9B0C9B0C9B0C9B0C99050B740B550B570B530B630000BD06190F02"
      + "C3500084E545\r"
    let message = try #require(try read(Samples.pylontech, Array(p1.utf8), pieces: 9).first)
    #expect(message["battery.cells"]?.value.count == 15)
    #expect(message["battery.voltage"]?.value == .number(48.39))
    #expect(message["battery.temperatures"]?.value == .list([20.1, 17, 17.2, 16.8, 18.4].map { .number($0) }))
    #expect(message["battery.cycles"]?.value == .whole(132))
    let derived = Samples.pylontech.derivedValues { message[$0]?.value }
    #expect(derived.map(\.value) == [.number(6.415), .number(50), .number(12.83)])
    let p9 =
      "~20024600D05E1002080D020D020D020D030D000D010D010D03050B7D0B690B690B690B73FFFA680EFFFF04FFFF00000174E401B198E906\r"
    let large = try #require(try read(Samples.pylontech, Array(p9.utf8)).first)
    #expect(Samples.pylontech.derivedValues { large[$0]?.value }.map(\.value)[..<2] == [.number(95.46), .number(111)])
    // A wrong digit of the length, or of the check.
    for wrong in [p1.replacing("C06E", with: "D06E"), p1.replacing("E545", with: "E546")] {
      #expect(try read(Samples.pylontech, Array(wrong.utf8)).isEmpty)
    }
  }

  @Test func repliesOfPI30AreReadAndWrongOnesDropped() throws {
    let text =
      "(000.0 00.0 230.0 49.9 0161 0119 003 460 57.50 012 100 0069 0014 103.8 57.45 00000 00110110 00 00 00856 010"
    let frame = Array(text.utf8) + [0x24, 0x8C, 0x0D]
    let message = try #require(try read(Samples.pi30, frame, pieces: 10).first)
    #expect(message["battery.voltage"]?.value == .number(57.5))
    #expect(message["charging_current"]?.value == .whole(12))
    #expect(message["flags"]?.value == .list(["scc_charging", "charging", "load_on", "updated"].map { .text($0) }))
    #expect(message["feed"] == nil)
    #expect(message.problemCount == 0)
    // The wrong check that a document prints.
    #expect(try read(Samples.pi30, hex("28 53 64 39 0D")).isEmpty)
    #expect(try read(Samples.pi30, hex("28 53 E5 D9 0D")).count == 1)
  }

  @Test func encodingIsTheWayBack() throws {
    for (description, wire) in [
      (Samples.jbd, hex(Self.j1)), (Samples.vedirect, Array(Self.v1.utf8) + [0xDF]),
      (Samples.vedirect, Array(":A0102000345\n".utf8)),
    ] {
      var codec = try DescribedCodec(description)
      var batch = FrameBatch<DescribedHeader>()
      codec.decode(wire.span.bytes, into: &batch)
      try #require(batch.count == 1)
      var output: [UInt8] = []
      try codec.encode(batch.header(at: 0), payload: batch.payloadBytes(at: 0), into: &output)
      #expect(output == wire)
    }
  }

  @Test func aFrameBehindAnUnreachedLengthIsFound() throws {
    // FF bytes are announced and never come; behind them is a whole frame, then silence.
    var codec = try DescribedCodec(Samples.jbd)
    var batch = FrameBatch<DescribedHeader>()
    codec.decode((hex("DD 03 00 FF") + hex(Self.j1)).span.bytes, into: &batch)
    #expect(batch.isEmpty)
    codec.idle(into: &batch)
    #expect(batch.count == 1)
    #expect(codec.counters.skippedBytes == 4)
    #expect(!codec.hasUnfinishedFrame)
    // Without one behind it, it is kept until it is given up.
    codec.decode(hex("DD 03 00 FF DD").span.bytes, into: &batch)
    codec.idle(into: &batch)
    #expect(codec.hasUnfinishedFrame)
    codec.expire(into: &batch)
    codec.expire(into: &batch)
    #expect(!codec.hasUnfinishedFrame)
  }

  @Test func whatIsKeptIsBounded() throws {
    for description in [Samples.jbd, Samples.vedirect, Samples.pylontech, Samples.pi30, Samples.af1, Samples.bluno] {
      var codec = try DescribedCodec(description)
      var batch = FrameBatch<DescribedHeader>()
      var random = SeededGenerator(seed: 5)
      let alphabet: [UInt8] = [0xDD, 0x77, 0x3A, 0x7E, 0x28, 0x0D, 0x0A, 0x09, 0x0F, 0xF0, 0x30, 0xFF, 0x3C]
      for _ in 0..<400 {
        let noise = (0..<257).map { _ in alphabet.randomElement(using: &random) ?? 0 }
        codec.decode(noise.span.bytes, into: &batch)
        #expect(codec.unfinishedByteCount < (description.framings.map(\.limit).max() ?? 0) + 1)
        batch.removeAll()
      }
    }
  }
}

extension PlainValue {
  fileprivate var count: Int? { if case .list(let list) = self { list.count } else { nil } }
}
