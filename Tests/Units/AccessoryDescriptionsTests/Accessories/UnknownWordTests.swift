// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryFamilies
import AccessoryLink
import AccessoryProtocols
import AccessoryTesting
import TestSupport
import Testing

@testable import AccessoryDescriptions
@testable import AccessoryDrivers

/// Numbers that no description has a word for, as newer firmware sends them: they are kept, and an error is a fault.
@Suite(.timeLimit(.minutes(Patience.minutes(2)))) struct UnknownWordTests {
  private static func description(_ name: String) throws -> ProtocolDescription {
    try #require(DescriptionLibrary.builtIn.described(name)).description
  }

  /// A block of VE.Direct with these lines.
  static func block(_ lines: String...) -> [UInt8] {
    var block = Array((lines.map { "\r\n" + $0 } + ["\r\nChecksum\t"]).joined().utf8)
    block.append(0 &- block.reduce(0, &+))
    return block
  }

  private func charger(_ lines: String...) async throws -> (status: AccessoryStatus, values: [AccessoryValue]) {
    let transport = MemoryTransport(label: "charger")
    let accessory = try await DescribedAccessory.open(AccessorySession(transport), Self.description("vedirect"))
    var block = Array((lines.map { "\r\n" + $0 } + ["\r\nChecksum\t"]).joined().utf8)
    block.append(0 &- block.reduce(0, &+))
    transport.receive(block + block)
    let read = (try await accessory.status(), try await accessory.values())
    await accessory.close()
    return read
  }

  @Test func errorsOfAChargerAreFaults() async throws {
    let read = try await charger("V\t13120", "CS\t10", "ERR\t24")
    #expect(read.values.first { $0.name == "error" }?.content == .choice(word: "24", number: 24))
    #expect(read.values.first { $0.name == "charger_state" }?.content == .choice(word: "10", number: 10))
    #expect(read.status == AccessoryStatus(state: .fault, faultCode: 24))
    let hot = try await charger("V\t13120", "CS\t2", "ERR\t17")
    #expect(hot.values.first { $0.name == "error" }?.content == .choice(word: "charger-hot", number: 17))
    #expect(hot.status == AccessoryStatus(state: .fault, faultCode: 17))
    #expect(try await charger("V\t13120", "CS\t5", "ERR\t0").status == AccessoryStatus(reportsFaults: true))
    #expect(try await charger("V\t13120", "I\t-100").status == AccessoryStatus(), "a shunt reports no errors")
  }

  /// An error that appears later is told without being asked for, and only once.
  @Test func aNewErrorIsToldOnce() async throws {
    let transport = MemoryTransport(label: "charger")
    let accessory = try await DescribedAccessory.open(AccessorySession(transport), Self.description("vedirect"))
    let news = accessory.news()
    var states: [AccessoryStatus] = []
    for error in [0, 24, 24, 0] {
      transport.receive(Self.block("V\t13120", "ERR\t\(error)"))
      for try await one in news {
        if case .status(let status) = one { states.append(status) }
        // The battery is the last news of a block.
        if case .battery = one { break }
      }
    }
    #expect(
      states == [
        AccessoryStatus(reportsFaults: true), AccessoryStatus(state: .fault, faultCode: 24),
        AccessoryStatus(reportsFaults: true),
      ])
    await accessory.close()
  }

  /// Decodes the bytes that a simulator of this kind sends for a message with these values.
  private func decoded(_ kind: String, _ message: String, _ values: [String: PlainValue]) throws -> DecodedMessage {
    let description = try Self.description(kind)
    let index = try #require(description.message(named: message))
    let frame = try MessageEncoder(DescribedCodec(description, side: .accessory)).frame(
      index, values, elements: description.modbus == nil ? [:] : [0: 1])
    var codec = try DescribedCodec(description)
    if description.modbus != nil, let request = description.request(named: message) {
      _ = codec.begin(try RequestEncoder(codec).bytes(request).bytes)
    }
    var batch = FrameBatch<DescribedHeader>()
    codec.decode(frame.span.bytes, into: &batch)
    try #require(batch.count == 1)
    let content = batch.payloadBytes(at: 0)
    return MessageDecoder(codec).decode(index, batch.header(at: 0), content.span.bytes)
  }

  @Test(arguments: [5, 9]) func unknownBatteryTypesStayNumbers(type: Int) throws {
    let read = try decoded("pi30", "ratings", ["battery_type": .text("\(type)"), "rated_power": .whole(4_000)])
    #expect(read["battery_type"]?.value == .text("\(type)") && read["battery_type"]?.raw == type)
    #expect(try decoded("pi30", "ratings", ["battery_type": .text("pylon")])["battery_type"]?.raw == 3)
    // A simulator may be told the number, and doesn't send it with a fraction.
    #expect(try decoded("pi30", "ratings", ["battery_type": .number(Double(type))])["battery_type"]?.raw == type)
    // A word in place of a number is a text of the accessory, and kept as well.
    #expect(try decoded("pi30", "mode", ["mode": .text("Q")])["mode"]?.value == .text("Q"))
  }

  /// In bytes, in parts of a number, and in registers.
  @Test func unknownWordsOfAllKindsOfMessagesStayNumbers() throws {
    #expect(try decoded("jk", "values", ["battery_type": .text("7")])["battery_type"]?.value == .text("7"))
    let kind = try decoded("epever", "battery_kind", ["battery_kind": .text("12"), "battery.full": .whole(100)])
    #expect(kind["battery_kind"]?.value == .text("12") && kind["battery_kind"]?.raw == 12)
    let state = try decoded("epever", "state", ["battery_condition": .text("9"), "battery_heat": .text("cold")])
    #expect(state["battery_condition"]?.value == .text("9") && state["battery_heat"]?.value == .text("cold"))
    // Whether a battery is charging has four words: a number without one is impossible, and isn't shown as a word.
    let daly = try decoded("daly", "state", ["battery.charging": .text("7")])
    #expect(daly.impossibleValues == 1)
    #expect(BatteryReading(described: daly.values, derived: []).charge == .unknown)
  }
}
