// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryLink
import AccessoryProtocols
import AccessoryTesting
import Testing

/// What an accessory tells whose protocol a file describes, in the terms that all accessories share.
@Suite struct DescribedAccessoryTests {
  private static func description(_ name: String) throws -> ProtocolDescription {
    try #require(DescriptionLibrary.builtIn.described(name)).description
  }

  @Test func pollsOfJBD() throws {
    let driver = Driver(try Self.description("jbd"))
    #expect(driver.polls.map(\.name) == ["basic", "cells"])
    #expect(driver.polls.map(\.interval) == [.seconds(10), .seconds(60)])
    #expect(driver.polls.map(\.gives) == [[.battery, .values], [.battery]])
    #expect(driver.commands.map(\.name).contains("basic"))
  }

  @Test func pollsOfWhatIsPushed() throws {
    #expect(Driver(try Self.description("vedirect")).polls.isEmpty)
  }
}
