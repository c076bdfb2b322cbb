// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryFamilies
import AccessoryLink
import AccessoryProtocols
import AccessoryTesting
import Testing

@testable import AccessoryDescriptions
@testable import AccessoryDrivers

/// What an accessory tells whose protocol a file describes, in the terms that all accessories share.
@Suite struct DescribedAccessoryTests {
  private static func description(_ name: String) throws -> ProtocolDescription {
    try #require(DescriptionLibrary.builtIn.described(name)).description
  }

  @Test func pollsOfJBDHaveTheirIntervals() throws {
    let driver = Driver(try Self.description("jbd"))
    #expect(driver.polls.map(\.name) == ["basic", "cells", "counters"])
    #expect(driver.polls.map(\.interval) == [.seconds(10), .seconds(60), .seconds(300)])
    #expect(driver.polls.map(\.parts) == [[.battery, .values], [.battery], [.values]])
    #expect(driver.commands.map(\.name).contains("basic"))
  }

  @Test func aPushingAccessoryHasNoPolls() throws {
    #expect(Driver(try Self.description("vedirect")).polls.isEmpty)
  }

  /// A UPS that doesn't know the usual request is one of its kind by the other, and isn't asked the first again.
  @Test func aRefusedRequestIsReplacedAndNotMadeAgain() async throws {
    let description = try Self.description("megatec")
    let answer = Array("(234.9 50.0 229.8 50.0 000.0 000 369.1 ---.- 026.5 ---.- 018.8 100000000001\r".utf8)
    let script = AccessoryScript([
      .expect(Array("Q1\r".utf8)), .send(Array("NAK\r".utf8)), .expect(Array("QGS\r".utf8)), .send(answer),
      .expect(Array("QGS\r".utf8)), .send(answer), .expect(Array("QGS\r".utf8)), .send(answer),
      .expect(Array("F\r".utf8)), .send(Array("F\r".utf8)), .expect(Array("QGS\r".utf8)), .send(answer),
    ])
    let accessory = try await DescribedAccessory.open(AccessorySession(script.transport), description)
    #expect(try await accessory.battery().millivolts == 26_500)
    // What it was made for it doesn't know, either: all else is told, and it is asked once.
    for _ in 0..<2 {
      let values = try await accessory.values()
      #expect(values.contains { $0.name == "input_voltage" } && !values.contains { $0.name == "rated_voltage" })
    }
    try await script.finish()
    try script.check()
    await accessory.close()
  }

  /// The other request would tell the same, so it isn't made.
  @Test func whatIsAnsweredReplacesItsLike() async throws {
    let description = try Self.description("megatec")
    let script = AccessoryScript([
      .expect(Array("Q1\r".utf8)), .send(Array("(226.0 195.0 226.0 014 49.0 27.5 30.0 00001000\r".utf8)),
    ])
    let accessory = try await DescribedAccessory.open(AccessorySession(script.transport), description)
    let now = accessory.clock.now
    let rests = { (name: String) in
      accessory.memory.withLock { $0.rests(description.request(named: name) ?? 0, now: now) }
    }
    #expect(rests("extended") && !rests("status") && !rests("ratings"))
    await accessory.close()
  }
}
