// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import TestSupport
import Testing

@testable import AccessoryDescriptions
@testable import AccessoryProtocols

/// Registers: which request reads them, and what is in them.
@Suite struct RegisterTests {
  private typealias Block = ProtocolDescription.RegisterBlock

  private func register(_ address: Int, count: Int = 1, repetitions: Int = 1) -> ProtocolDescription.Register {
    .init(
      address, count: count, repetitions: repetitions,
      .init("r\(address)", .number(.init(byteCount: 2 * count))))
  }

  private func ranges(_ addresses: [Int], count: Int = 1, longest: Int = 125, hole: Int = 0) -> [[Int]] {
    Block.blocks(
      of: addresses.map { register($0, count: count) }, function: 4, longest: longest, hole: hole
    ).map { [$0.start, $0.count] }
  }

  @Test func neighboursAreReadTogether() {
    #expect(ranges([3, 1, 2, 0]) == [[0, 4]])
    #expect(ranges([0, 1, 3]) == [[0, 2], [3, 1]], "not across a hole")
    #expect(ranges([0, 1, 3], hole: 1) == [[0, 4]])
    #expect(ranges([0, 2, 5], hole: 1) == [[0, 3], [5, 1]])
    #expect(ranges([0, 2, 4, 6], count: 2, longest: 4) == [[0, 4], [4, 4]])
    #expect(ranges([0, 2, 4], count: 2, longest: 5) == [[0, 4], [4, 2]], "no number is cut")
    #expect(ranges([7, 7, 7]) == [[7, 1]], "several values in one register")
    #expect(ranges([0xFFFE, 0xFFFF]) == [[0xFFFE, 2]])
  }

  @Test func aNumberWithinATextIsReadWithIt() {
    let text = register(10, count: 10)
    let blocks = Block.blocks(of: [register(15), text, register(20)], function: 3, longest: 20, hole: 0)
    #expect(blocks.map { [$0.start, $0.count] } == [[10, 11]])
    #expect(blocks[0].values.map(\.offset) == [0, 10, 20])
  }

  @Test func bitsAreCountedInBits() {
    let blocks = Block.blocks(of: [register(0x2000), register(0x2009)], function: 2, longest: 2_000, hole: 8)
    #expect(blocks.map { [$0.start, $0.count, $0.byteCount] } == [[0x2000, 10, 2]])
    #expect(blocks[0].values.map(\.offset) == [0, 1])
    #expect(blocks[0].values.map(\.field.bits) == [.init(lowest: 0, count: 1), .init(lowest: 1, count: 1)])
  }

  private func decode(_ request: String, _ data: String) throws -> DecodedMessage {
    let codec = try DescribedCodec(Samples.charger)
    let decoder = MessageDecoder(codec)
    let index = try #require(Samples.charger.request(named: request))
    let sent = try RequestEncoder(codec).bytes(index).bytes
    let frame = ModbusAnswer(sent, data: hex(data)).frame
    let header = DescribedHeader(framing: 0, body: 3..<(frame.count - 2))
    let reply = try #require(Samples.charger.requests[index].reply)
    let isFitting = decoder.fits(reply, header, frame.span.bytes)
    #expect(isFitting)
    return decoder.decode(reply, header, frame.span.bytes)
  }

  private static let bodies = [
    ("battery", "04FCFFFDFFFF"), ("state", "002300010001"), ("parts", "9914 0D480D490D4A 43663334"), ("night", "0102"),
  ]

  @Test func registersAreReadAsWordsBytesAndBits() throws {
    let battery = try decode("battery", "04FCFFFDFFFF")
    #expect(battery["battery.voltage"]?.value == .number(12.76))
    #expect(battery["battery.current"]?.value == .number(-0.03))
    let state = try decode("state", "002300010001")
    #expect(state["condition"]?.value == .whole(3) && state["heat"]?.value == .whole(2))
    let parts = try decode("parts", "9914 0D480D490D4A 43663334")
    #expect(parts["temperature"]?.value == .whole(-25) && parts["battery_temperature"]?.value == .whole(20))
    #expect(parts["cells"]?.value == .list([.number(3.4), .number(3.401), .number(3.402)]))
    #expect(parts["price"]?.value == .number(230.20001))
    let night = try decode("night", "0102")
    #expect(night["is_hot"]?.value == .whole(1) && night["is_night"]?.value == .whole(1))
  }

  @Test(arguments: bodies) func registersAreEncodedAsTheyWereRead(request: String, data: String) throws {
    let message = try decode(request, data)
    let values = Dictionary(uniqueKeysWithValues: message.values.map { ($0.name, $0.value) })
    let encoder = MessageEncoder(try DescribedCodec(Samples.charger))
    #expect(encoder.body(message.message, values) == hex(data))
  }

  /// A unit that isn't the file's own is put into the frame, and is no part of what the reply must be.
  @Test func theUnitIsFilledIn() throws {
    let writer = RequestEncoder(try DescribedCodec(Samples.charger))
    let (bytes, elements) = try writer.bytes(0, unit: 17)
    #expect(bytes.prefix(6) == [17, 4, 0x33, 0x1A, 0, 3] && elements[0] == 17)
  }

  @Test(
    arguments: [
      (0, 0), (52_083, 1_750_000), (1_041_667, 3_645_834), (Int64.max, 3_500_000_000),
    ] as [(Int64, Int64)])
  func theSilenceFollowsFromTheRate(perByte: Int64, silence: Int64) {
    #expect(Modbus.silence(nanosecondsPerByte: perByte) == silence)
  }
}
