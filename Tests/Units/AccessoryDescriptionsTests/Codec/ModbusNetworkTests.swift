// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import TestSupport
import Testing

@testable import AccessoryDescriptions
@testable import AccessoryProtocols

/// Frames of Modbus TCP.
@Suite struct ModbusNetworkTests {
  private static let request = hex("0104331A00039E88")
  private static let reply = hex("01040604FCFFFDFFFF9157")

  private func read(_ bytes: [UInt8], _ codec: inout DescribedCodec, pieces: Int = .max) -> [(
    frame: [UInt8], isStray: Bool
  )] {
    var batch = FrameBatch<DescribedHeader>()
    var rest = bytes[...]
    while !rest.isEmpty {
      codec.decode(Array(rest.prefix(pieces)).span.bytes, into: &batch)
      rest = rest.dropFirst(pieces)
    }
    return (0..<batch.count).map { (batch.payloadBytes(at: $0), batch.header(at: $0).isStray) }
  }

  @Test func aRepeatedRequestKeepsItsTransactionNumber() throws {
    var codec = try DescribedCodec(Samples.charger, wire: .network)
    #expect(codec.begin(Self.request) == hex("000100000006 0104331A0003"))
    // The same again has the same number, another one has another.
    #expect(codec.begin(Self.request, isRepeated: true) == hex("000100000006 0104331A0003"))
    #expect(codec.begin(Self.request) == hex("000200000006 0104331A0003"))
  }

  @Test(arguments: [1, 4, 7, 1_000]) func aNetworkReplyGetsASerialLinesCheck(pieces: Int) throws {
    var codec = try DescribedCodec(Samples.charger, wire: .network)
    _ = codec.begin(Self.request)
    let found = read(hex("000100000009 01040604FCFFFDFFFF"), &codec, pieces: pieces)
    #expect(found.map(\.frame) == [Self.reply], "with the check of a serial line")
    #expect(found.map(\.isStray) == [false])
  }

  /// Each answers something else, or is no answer.
  @Test(
    arguments: [
      "000000000009 01040604FCFFFDFFFF", "000100000009 02040604FCFFFDFFFF", "000100000009 01030604FCFFFDFFFF",
      "000100000007 01040404FCFFFD", "000100000003 018302", "000100000006 0104331A0003",
      "000100000009 01040504FCFFFDFFFF",
    ])
  func networkFramesThatAnswerSomethingElseAreStray(text: String) throws {
    var codec = try DescribedCodec(Samples.charger, wire: .network)
    _ = codec.begin(Self.request)
    #expect(read(hex(text), &codec).filter { !$0.isStray }.isEmpty)
    let found = read(hex("000100000009 01040604FCFFFDFFFF"), &codec)
    #expect(found.map(\.frame) == [Self.reply] && found.map(\.isStray) == [false])
  }

  @Test func aNetworkExceptionGetsASerialLinesCheck() throws {
    var codec = try DescribedCodec(Samples.charger, wire: .network)
    _ = codec.begin(Self.request)
    let found = read(hex("000100000003 018402"), &codec)
    #expect(found.map(\.frame) == [hex("018402C2C1")] && found.map(\.isStray) == [false])
  }

  /// Behind bytes that can't be a header the next one is found.
  @Test func aReplyIsFoundBehindAWrongHeader() throws {
    var codec = try DescribedCodec(Samples.charger, wire: .network)
    _ = codec.begin(Self.request)
    let found = read(hex("FFFF000100FF 000100000009 01040604FCFFFDFFFF"), &codec)
    #expect(found.map(\.frame) == [Self.reply])
  }

  /// A header that promises more than comes.
  @Test func halfAFrameAtTheTimesEnd() throws {
    var codec = try DescribedCodec(Samples.charger, wire: .network)
    _ = codec.begin(Self.request)
    #expect(read(hex("000100000009 0104"), &codec).isEmpty)
    var batch = FrameBatch<DescribedHeader>()
    codec.expire(into: &batch)
    #expect(batch.isEmpty)
    _ = codec.begin(Self.request)
    let found = read(hex("000200000009 01040604FCFFFDFFFF"), &codec)
    #expect(found.map(\.frame).contains(Self.reply))
  }

  /// Who looks on knows both ways of travelling.
  @Test func aListenerReadsBothFormsOfFrames() throws {
    var codec = try DescribedCodec(Samples.charger, wire: .either)
    let found = read(hex("000100000009 01040604FCFFFDFFFF") + Self.reply + hex("000200000003 018402"), &codec)
    #expect(found.map(\.frame) == [Self.reply, Self.reply, hex("018402C2C1")])
    var other = try DescribedCodec(Samples.charger, side: .accessory, wire: .either)
    #expect(read(hex("000100000006 0104331A0003") + Self.request, &other).map(\.frame) == [Self.request, Self.request])
  }
}
