// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryFamilies
import AccessoryLink
import AccessoryProtocols
import TestSupport
import Testing

@testable import AccessoryDescriptions
@testable import AccessoryDrivers

/// What an accessory says that can't be: it is unknown, never a number that was made up, and it is counted.
@Suite(.timeLimit(.minutes(Patience.minutes(2)))) struct NonsenseTests {
  private func description(_ name: String) throws -> ProtocolDescription {
    try #require(DescriptionLibrary.builtIn.described(name)).description
  }

  /// A reply of a JBD board.
  private func reply(_ register: UInt8, _ data: String) -> [UInt8] {
    let digits = data.compactMap(\.hexDigitValue)
    let data = stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] * 16 + digits[$0 + 1]) }
    let covered = [0, UInt8(data.count)] + data
    let check = 0x10000 - covered.reduce(0) { $0 + Int($1) }
    return [0xDD, register] + covered + [UInt8(check >> 8), UInt8(check & 0xFF), 0x77]
  }

  @Test func unreadableFieldsOfRepliesAreUnknownAndCounted() async throws {
    let (askBasic, askCells): ([UInt8], [UInt8]) = (
      [0xDD, 0xA5, 3, 0, 0xFF, 0xFD, 0x77], [0xDD, 0xA5, 4, 0, 0xFF, 0xFC, 0x77]
    )
    let askCounters: [UInt8] = [0xDD, 0xA5, 0xAA, 0, 0xFF, 0x56, 0x77]
    let good = "1700 0000 02D0 03E8 0000 2078 00000000 0000 10 48 03 0F 02 0B76 0B82"
    // On day 0, of the version 1F, 250 percent full.
    let bad = "1700 0000 02D0 03E8 0000 0000 00000000 0000 1F FA 03 0F 02 0B76 0B82"
    let script = AccessoryScript([
      .expect(askBasic), .send(reply(3, good)), .expect(askBasic), .send(reply(3, bad)), .expect(askCells),
      .send(reply(4, "0F66 0F")), .expect(askBasic), .send(reply(3, bad)), .expect(askCounters),
      .send([0xDD, 0xAA, 0x80, 0, 0xFF, 0x80, 0x77]),
    ])
    let accessory = try await DescribedAccessory.open(AccessorySession(script.transport), description("jbd"))
    #expect(accessory.protocolDetails?.unreadableFields == 0)
    let battery = try await accessory.battery()
    #expect(battery.percent == nil && battery.level == .unknown && battery.millivolts == 58_880)
    #expect(battery.cellMillivolts == [3_942, nil])
    #expect(accessory.protocolDetails?.unreadableFields == 4)
    let values = try await accessory.values()
    #expect(values.first { $0.name == "software_version" }?.content == .some(nil))
    #expect(values.first { $0.name == "identity_production_date" }?.content == .some(nil))
    #expect(values.first { $0.name == "charge_mosfet" }?.content == .flag(true))
    #expect(accessory.protocolDetails?.unreadableFields == 7)
    await accessory.close()
    try script.check()
  }

  /// A pack of Chins: newer boards say more, and this one has no sensor of humidity and doesn't balance.
  @Test func whatANewerBoardSaysBehindItsTemperaturesIsTold() async throws {
    let data = "0532 0000 4CAE 7530 001B 312C 00000000 0000 29 41 03 04 01 0B3D 00 0000 7530 4CAE 0000"
    let basic: [AccessoryScript.Step] = [.expect([0xDD, 0xA5, 3, 0, 0xFF, 0xFD, 0x77]), .send(reply(3, data))]
    let script = AccessoryScript(
      basic + basic + [
        .expect([0xDD, 0xA5, 0xAA, 0, 0xFF, 0x56, 0x77]), .send([0xDD, 0xAA, 0x80, 0, 0xFF, 0x80, 0x77]),
      ])
    let accessory = try await DescribedAccessory.open(AccessorySession(script.transport), description("jbd"))
    let values = try await accessory.values()
    let told = { (name: String) in values.first { $0.name == name } }
    #expect(told("full_charge_capacity")?.content == .decimal(300, places: 0))
    #expect(told("balance_current")?.content == .decimal(0, places: 0))
    #expect(told("humidity")?.content == .some(nil), "0 %")
    await accessory.close()
    try script.check()
  }

  @Test func unreadablePushedFieldsAreUnknownAndCounted() async throws {
    let transport = MemoryTransport(label: "shunt")
    let accessory = try await DescribedAccessory.open(AccessorySession(transport), description("vedirect"))
    // A number with letters behind it, a text, a number without a word, which is kept; and two that say that they aren't
    // known. A round ends where the next one begins.
    var block = Array("\r\nV\t12x\r\nCE\tabc\r\nCS\t99\r\nI\t500\r\nSOC\t---\r\nTTG\t-1\r\nChecksum\t".utf8)
    block.append(0 &- block.reduce(0, &+))
    transport.receive(block + block)
    let battery = try await accessory.battery()
    #expect(battery.milliamperes == 500 && battery.millivolts == nil && battery.percent == nil)
    #expect(battery.charge == .charging, "by the current: nobody knows what the charger's state 99 is")
    #expect(accessory.protocolDetails?.unreadableFields == 4)
    await accessory.close()
  }
}
