// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryLink
import AccessoryProtocols
import TestSupport
import Testing

@testable import AccessoryDrivers

/// The least that a driver of one's own can be.
private struct Bare: LinkedAccessory {
  let link: Link<LineExchange>
}

/// What an accessory does that says nothing of itself.
@Suite(.timeLimit(.minutes(Patience.minutes(5)))) struct LinkedAccessoryTests {
  private let transport = MemoryTransport(label: "gadget")

  private func open() async throws -> any Accessory {
    Bare(link: try await Link.open(AccessorySession(transport), rules: LineExchange(label: "gadget")))
  }

  @Test func unreportedReadingsAreEmptyOrUnsupported() async throws {
    let accessory = try await open()
    #expect(accessory.label == "gadget" && accessory.files == nil)
    #expect(try await accessory.identify() == AccessoryIdentity())
    #expect(try await accessory.status() == AccessoryStatus())
    let error = await #expect(throws: AccessoryError.self) { try await accessory.battery() }
    #expect(error == AccessoryError(.unsupported, "gadget doesn't report its battery"))
    let none = await #expect(throws: AccessoryError.self) { try await accessory.values() }
    #expect(none?.kind == .unsupported && none?.message.hasPrefix("gadget reports no values") == true)
    await accessory.close()
    #expect(transport.closeCount > 0)
  }

  @Test func newsEndWithTheUnplug() async throws {
    let accessory = try await open()
    var news = accessory.news().makeAsyncIterator()
    transport.receive(Array("hello\n".utf8))
    #expect(try await news.next() == .other)
    transport.unplug()
    await #expect(throws: AccessoryError.disconnected("gadget")) { try await news.next() }
  }

  @Test func aLinksLinesBecomeNews() async throws {
    let link = try await Link.open(AccessorySession(transport), rules: LineExchange(label: "gadget"))
    var news = link.news { line in
      line == Array("low\n".utf8) ? .battery(BatteryReading(level: .low)) : .other
    }.makeAsyncIterator()
    transport.receive(Array("low\nhello\n".utf8))
    #expect(try await news.next() == .battery(BatteryReading(level: .low)))
    #expect(try await news.next() == .other)
    await link.close()
    #expect(try await news.next() == nil)
  }
}
