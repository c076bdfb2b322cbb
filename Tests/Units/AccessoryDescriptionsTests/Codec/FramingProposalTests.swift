// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import TestSupport
import Testing

@testable import AccessoryDescriptions
@testable import AccessoryProtocols

/// Framings are found in bytes that the encoders made.
@Suite struct FramingProposalTests {
  private typealias Element = ProtocolDescription.Element
  private typealias Check = ProtocolDescription.Check
  private static let u8 = ProtocolDescription.NumberFormat(byteCount: 1)

  /// Frames of a layout with bodies of these sizes, from a generator whose numbers are always the same.
  private func frames(
    _ layout: [Element], sizes: [Int], numbers: (Int) -> [Int: Int] = { _ in [:] }
  ) throws -> [[UInt8]] {
    var description = ProtocolDescription(name: "made")
    description.framings = [.init(name: "frame", form: .layout(layout))]
    let codec = try DescribedCodec(description)
    var state: UInt64 = 42
    return try sizes.enumerated().map { index, size in
      let body = (0..<size).map { _ -> UInt8 in
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return UInt8(truncatingIfNeeded: state >> 33)
      }
      return try codec.frame(0, numbers(index), body: body)
    }
  }

  private func pieces(_ bytes: [UInt8], of size: Int) -> [[UInt8]] {
    stride(from: 0, to: bytes.count, by: size).map { Array(bytes[$0..<min($0 + size, bytes.count)]) }
  }

  @Test(arguments: [7, 64, 4_096]) func theFramingOfJBDIsFound(size: Int) throws {
    let codec = try DescribedCodec(Samples.jbd)
    var wire: [UInt8] = []
    for index in 0..<12 {
      let (number, count) = index.isMultiple(of: 3) ? (4, 8) : (3, 23 + index % 4)
      wire += try codec.frame(
        0, [1: number, 2: 0], body: (0..<count).map { UInt8(truncatingIfNeeded: $0 * 37 + index * 11) })
    }
    let found = try #require(FramingProposal(pieces: pieces(wire, of: size)))
    #expect(found.start == [0xDD])
    #expect(found.extent == .length(place: 3, Self.u8, added: 7))
    // The check begins behind the register, though the status is 0.
    #expect(found.check == .init(algorithm: .negatedSum16, order: .bigEndian, from: 2))
    #expect(found.end == [0x77])
    #expect(found.frameCount == 12 && found.framedByteCount == wire.count && found.byteCount == wire.count)
    let text = found.text(name: "mine")
    #expect(text.contains("      - length: {type: u8, of: data}\n"))
    #expect(text.contains("      - check: {algorithm: negated-sum16, over: byte_2..data}\n      - end: 77\n"))
  }

  @Test(arguments: [5, 4_096]) func theFramingOfDalyIsFound(size: Int) throws {
    let layout = [
      Element("start", .constant([0xA5])), Element("address", .number(Self.u8)), Element("id", .number(Self.u8)),
      Element("constant", .constant([8])), Element("data", .body(8)),
      Element("check", .check(Check(.frame(.sum8), covers: 0...4))),
    ]
    let wire = try frames(layout, sizes: .init(repeating: 8, count: 9)) { [1: 1, 2: 0x90 + $0 % 5] }
    let found = try #require(FramingProposal(pieces: pieces(wire.flatMap(\.self), of: size)))
    #expect(found.start == [0xA5])
    #expect(found.extent == .length(place: 3, Self.u8, added: 5))
    #expect(found.check == .init(algorithm: .frame(.sum8), order: .bigEndian, from: 0))
    #expect(found.end == [] && found.frameCount == 9)
  }

  @Test(arguments: [11, 4_096]) func theFramingOfPMS5003IsFound(size: Int) throws {
    let layout = [
      Element("start", .constant([0x42, 0x4D, 0, 0x1C])), Element("data", .body(26)),
      Element("check", .check(Check(.sum16, covers: 0...1))),
    ]
    let wire = try frames(layout, sizes: .init(repeating: 26, count: 8)).flatMap(\.self)
    let found = try #require(FramingProposal(pieces: pieces(wire, of: size)))
    #expect(found.start == [0x42, 0x4D])
    #expect(found.extent == .length(place: 3, Self.u8, added: 4))
    #expect(found.check == .init(algorithm: .sum16, order: .bigEndian, from: 0))
    let text = found.text(name: "mine")
    #expect(text.contains("length: {type: u8, of: data..check}"))
    #expect(text.contains("may belong to the length"))
  }

  /// What is the same again and again is cut where it begins, and not so that its parts seem to differ.
  @Test(arguments: [32, 50, 4_096]) func framesThatAreAllAlikeAreFoundWhole(size: Int) throws {
    let frame = try #require(
      Hexadecimal.bytes("424d001c000500070008000500070008039c010b002f00030001000097000248"))
    let wire = Array(repeatElement(frame, count: 30).joined())
    let found = try #require(FramingProposal(pieces: pieces(wire, of: size)))
    #expect(found.start == [0x42] && found.samples == [frame] && found.frameCount == 30)
    #expect(found.extent == .length(place: 3, Self.u8, added: 4))
    #expect(found.check == .init(algorithm: .sum16, order: .bigEndian, from: 0))
    #expect(found.text(name: "mine").contains("All frames are the same"))
  }

  /// Every check that descriptions can name is found, in both orders.
  @Test func everyCheckOfADescriptionIsFound() throws {
    for (name, algorithm) in Check.Algorithm.named {
      for order in [ByteOrder.bigEndian, .littleEndian] where order == .bigEndian || algorithm.byteCount > 1 {
        let layout = [
          Element("start", .constant([0x5A])), Element("kind", .number(Self.u8)),
          Element("length", .length(Self.u8, of: 3...3, adjust: 0, nibbleCheck: false)), Element("data", .body(nil)),
          Element("check", .check(Check(algorithm, covers: 1...3, order: order))),
        ]
        let wire = try frames(layout, sizes: [9, 12, 30, 17, 9, 21, 40, 12]) { [1: 1 + $0 % 3] }
        let found = try #require(FramingProposal(pieces: wire), "\(name)")
        #expect(found.check == .init(algorithm: algorithm, order: order, from: 1), "\(name)")
        #expect(found.extent == .length(place: 2, Self.u8, added: 3 + algorithm.byteCount), "\(name)")
      }
    }
  }

  @Test(arguments: [[13, 10], [10], [13]] as [[UInt8]]) func linesAreFoundWithTheirEnds(end: [UInt8]) throws {
    let wire = ["12.61 V", "12.60 V", "12.61 V", "err"].flatMap { Array($0.utf8) + end }
    let found = try #require(FramingProposal(pieces: pieces(wire + Array("12".utf8), of: 5)))
    #expect(found.extent == .line && found.end == end && found.start == [])
    #expect(found.frameCount == 4 && found.samples.count == 3 && found.framedByteCount == wire.count)
    #expect(found.text(name: "mine").contains("\"12.61 V"))
  }

  /// One damaged frame in eight, and noise in front, don't hide it.
  @Test func aFramingIsFoundDespiteDamagedFrames() throws {
    let layout = [
      Element("start", .constant([0xAA])),
      Element("length", .length(Self.u8, of: 2...2, adjust: 0, nibbleCheck: false)),
      Element("data", .body(nil)),
      Element("check", .check(Check(.frame(.crc(.crc16MODBUS)), covers: 0...2, order: .littleEndian))),
    ]
    var wire = try frames(layout, sizes: [4, 9, 6, 12, 5, 7, 11, 20, 4, 6, 9, 13, 8, 5, 10, 6])
    wire[3][5] ^= 1
    wire[9][4] ^= 0x80
    let found = try #require(FramingProposal(pieces: [[1, 2, 3]] + wire))
    #expect(found.check == .init(algorithm: .frame(.crc(.crc16MODBUS)), order: .littleEndian, from: 0))
    #expect(found.frameCount == 16)
  }

  /// Of what has no frames nothing is made up, and hostile bytes cost no more than others.
  @Test func noFramingIsFoundInNoise() {
    var state: UInt64 = 7
    let noise = (0..<20_000).map { _ -> UInt8 in
      state = state &* 6_364_136_223_846_793_005 &+ 1
      return UInt8(truncatingIfNeeded: state >> 40)
    }
    #expect(FramingProposal(pieces: [noise]) == nil)
    for pieces: [[UInt8]] in [[], [[]], [[1]], [[0xAA, 0xAA]], [Array(repeating: 0xFF, count: 3)]] {
      _ = FramingProposal(pieces: pieces)?.text(name: "x")
    }
    for byte: UInt8 in [0, 3, 0x20, 0xFF] {
      let found = FramingProposal(pieces: [[UInt8](repeating: byte, count: 10_000)])
      // Frames that are all alike prove no check.
      #expect(found?.check == nil)
    }
  }
}
