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

/// Modbus accessories that lack a register of a group: the rest of the group is read.
@Suite(.timeLimit(.minutes(Patience.minutes(2)))) struct RegisterPartTests {
  private static let epever = DescriptionLibrary.builtIn.described("epever")?.description

  /// A frame of unit 1 with its check.
  private func frame(_ bytes: UInt8...) -> [UInt8] {
    let frame = [1] + bytes
    var check: UInt16 = 0xFFFF
    for byte in frame {
      check ^= UInt16(byte)
      for _ in 0..<8 { check = check & 1 == 1 ? check >> 1 ^ 0xA001 : check >> 1 }
    }
    return frame + [UInt8(check & 0xFF), UInt8(check >> 8)]
  }

  private let battery: [AccessoryScript.Step] = [
    .expect([0x01, 0x04, 0x33, 0x1A, 0x00, 0x03, 0x9E, 0x88]),
    .send([0x01, 0x04, 0x06, 0x04, 0xFC, 0xFF, 0xFD, 0xFF, 0xFF, 0x91, 0x57]),
  ]

  /// It has no power of the panels (3102), and says everything else of its group. Which parts it has is found out once.
  @Test func aGroupIsReadAroundAMissingRegister() async throws {
    let description = try #require(Self.epever)
    let solar = try #require(description.request(named: "solar"))
    let parts: [AccessoryScript.Step] = [
      // Voltage and current.
      .expect(frame(4, 0x31, 0x00, 0, 2)), .send(frame(4, 4, 0x07, 0x08, 0x01, 0x11)),
    ]
    let rest: [AccessoryScript.Step] = [
      // What goes to the battery.
      .expect(frame(4, 0x31, 0x04, 0, 2)), .send(frame(4, 4, 0x05, 0x19, 0x01, 0x72)),
    ]
    let script = AccessoryScript(
      battery + [.expect(frame(4, 0x31, 0x00, 0, 6)), .send(frame(0x84, 2))] + parts + [
        .expect(frame(4, 0x31, 0x02, 0, 4)), .send(frame(0x84, 2)),
        .expect(frame(4, 0x31, 0x02, 0, 2)), .send(frame(0x84, 2)),
      ] + rest + parts + rest)
    let accessory = try await DescribedAccessory.open(AccessorySession(script.transport), description)
    for _ in 0..<2 {
      let reply = try #require(try await accessory.ask(solar))
      #expect(reply["solar_voltage"]?.value == .number(18) && reply["solar_current"]?.value == .number(2.73))
      #expect(reply["charging_voltage"]?.value == .number(13.05))
      #expect(reply["charging_current"]?.value == .number(3.7))
      #expect(reply["solar_power"] == nil)
    }
    try await script.finish()
    try script.check()
    await accessory.close()
  }

  /// A group of which nothing is there is refused, and looked for in parts only once. Another reason isn't about registers.
  @Test func aGroupOfMissingRegistersIsRefused() async throws {
    let description = try #require(Self.epever)
    let temperatures = try #require(description.request(named: "temperatures"))
    let whole: [AccessoryScript.Step] = [.expect(frame(4, 0x31, 0x10, 0, 2)), .send(frame(0x84, 2))]
    let script = AccessoryScript(
      battery + [.expect(frame(4, 0x31, 0x10, 0, 2)), .send(frame(0x84, 6))] + whole + [
        .expect(frame(4, 0x31, 0x10, 0, 1)), .send(frame(0x84, 2)),
        .expect(frame(4, 0x31, 0x11, 0, 1)), .send(frame(0x84, 2)),
      ] + whole)
    let accessory = try await DescribedAccessory.open(AccessorySession(script.transport), description)
    for reason in [6, 2, 2] as [UInt8] {
      let error = await #expect(throws: AccessoryError.self) { try await accessory.ask(temperatures) }
      #expect(error?.kind == .refused && error?.code == .refusal(reason))
    }
    try await script.finish()
    try script.check()
    await accessory.close()
  }

  /// Values in one register stay together, also where a value takes two registers or a half.
  @Test func halvesOfABlockKeepARegistersValuesTogether() throws {
    let description = try #require(Self.epever)
    func block(_ name: String) throws -> ProtocolDescription.RegisterBlock {
      let request = try #require(description.request(named: name))
      guard case .registers(let block) = description.messages[description.requests[request].reply ?? 0].body else {
        throw AccessoryError(.badData, name)
      }
      return block
    }
    let (first, second) = try #require(try block("state").halves)
    #expect((first.start, first.count, second.start, second.count) == (0x3200, 1, 0x3201, 2))
    #expect(first.values.count + second.values.count == (try block("state").values.count))
    #expect(first.halves == nil && second.values.allSatisfy { $0.offset == 0 || $0.offset == 2 })
    let (hours, date) = try #require(try block("clock").halves)
    #expect((hours.start, hours.count, date.start, date.count) == (0x9013, 1, 0x9014, 2))
    #expect(try block("charge").halves == nil)
  }

  /// A group that not every accessory has is asked for once, where it is refused; the others are read as ever.
  @Test func anOptionalGroupThatIsRefusedIsNotReadAgain() async throws {
    let text = """
      protocol: meter
      version: 1
      description: A meter
      line: {baud: 9600}
      registers:
        state: {function: 3, fields: [{at: 0, name: voltage, type: u16, value: raw / 10, unit: V}]}
        more: {function: 3, optional: true, fields: [{at: 9, name: humidity, type: u16, unit: "%"}]}
      plan: {identify: {request: state}, poll: [{requests: [state, more]}]}
      """
    let description = try DescriptionReader.read(Array(text.utf8), file: "meter").description
    #expect(description.requests.map(\.isOptional) == [false, true])
    let state: [AccessoryScript.Step] = [
      .expect(frame(3, 0, 0, 0, 1)), .send(frame(3, 2, 0, 0x80)),
    ]
    let script = AccessoryScript(state + state + [.expect(frame(3, 0, 9, 0, 1)), .send(frame(0x83, 2))] + state)
    let accessory = try await DescribedAccessory.open(AccessorySession(script.transport), description)
    for _ in 0..<2 { _ = try await accessory.values() }
    try await script.finish()
    try script.check()
    await accessory.close()
  }
}
