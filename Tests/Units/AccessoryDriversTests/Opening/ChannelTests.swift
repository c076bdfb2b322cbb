// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryFamilies
import AccessoryIO
import AccessoryLink
import TestSupport
import Testing

@testable import AccessoryDrivers

/// An accessory that is no stream of bytes.
private struct Shelf: Accessory {
  let channel: TestChannel
  var label: String { channel.label }

  static let driver = Driver(name: "shelf", rawBytes: .harmless, channel: TestChannel.self) {
    channel, profile, _ throws(AccessoryError) in
    guard profile?.name != "wrong" else {
      await channel.close()
      throw AccessoryError(.badData, "what is that")
    }
    return Shelf(channel: channel)
  }

  func identify() async throws(AccessoryError) -> AccessoryIdentity {
    AccessoryIdentity(
      manufacturer: "", model: try channel.read(), serialNumber: "", firmwareRevision: "", hardwareRevision: "")
  }
  func news() -> EventStream<AccessoryNews> { channel.events().converted { nil } }
  func close() async { await channel.close() }
}

/// A device opens as the channel that its driver wants.
@Suite struct ChannelTests {
  private static let library = DriverLibrary([.af1, Shelf.driver])

  private static func opener(_ address: DeviceAddress, _ driver: String?, _ profile: Profile? = nil) -> DeviceOpener {
    var opener = DeviceOpener(Device(address, source: .named, driver: driver), profile: profile, drivers: library)
    if let driver { opener.driver = library.driver(named: driver) }
    return opener
  }

  private static func failure<Result>(_ body: () async throws(AccessoryError) -> Result) async -> AccessoryError? {
    do throws(AccessoryError) {
      _ = try await body()
      return nil
    } catch {
      return error
    }
  }

  /// A new driver that isn't named here wants bytes.
  @Test func everyShippedDriverSaysWhatItWants() {
    let others = DriverLibrary.builtIn.all.filter { $0.channel != .bytes }
    #expect(
      Dictionary(uniqueKeysWithValues: others.map { ($0.name, $0.channel) }) == [
        "hid-power": .reports, "power-supply": .attributes, "ble-battery": .attributes,
        "victron-ble": .advertisements,
      ])
  }

  @Test func aDriverGetsTheChannelThatItWants() async throws {
    let accessory = try await Self.opener(.terminal("/dev/one"), "shelf").accessory()
    #expect(try await accessory.identify().model == "full")
    let channel = try #require(TestChannel.opened("/dev/one"))
    channel.deviceWasRemoved()
    let error = await Self.failure { () throws(AccessoryError) in try await accessory.identify() }
    #expect(error?.kind == .disconnected)
    await accessory.close()
    #expect(channel.closings == 1)
  }

  /// Its address could carry bytes, but the driver wants none: nothing is opened for a console, a bridge or a session.
  @Test func whatHasNoBytesIsNotOpenedForThem() async throws {
    let opener = Self.opener(.terminal("/dev/two"), "shelf")
    for open in [
      { _ = try await opener.transport() }, { _ = try await opener.session() },
      { _ = try await opener.greetedSession() },
    ] as [() async throws -> Void] {
      let error = await #expect(throws: AccessoryError.self) { try await open() }
      #expect(error?.kind == .unsupported && error?.message == "/dev/two is looked at: no bytes are written to it")
    }
    #expect(TestChannel.opened("/dev/two") == nil)
    // Another driver's is opened as bytes.
    #expect(await Self.failure(Self.opener(.terminal("/dev/two"), "framed").transport)?.kind == .notFound)
  }

  @Test func whatADriverCannotUseIsClosed() async throws {
    let profile = Profile(name: "wrong", rules: [])
    let wrong = await Self.failure(Self.opener(.terminal("/dev/three"), "shelf", profile).accessory)
    #expect(wrong?.kind == .badData && (TestChannel.opened("/dev/three")?.closings ?? 0) > 0)
    // It has no units.
    let opener = Self.opener(.terminal("/dev/four"), "shelf")
    let unit = await Self.failure { () throws(AccessoryError) in
      try await Shelf.driver.open(try await opener.open(), profile: nil, unit: 3, clock: IOThread.shared)
    }
    #expect(unit?.kind == .misconfigured)
    let missing = await Self.failure(Self.opener(.terminal("/nowhere"), "shelf").accessory)
    #expect(missing?.kind == .notFound && missing?.message == "/nowhere: there is no shelf")
  }

  /// By a session of bytes, which a caller has opened, or at an address where no such device can be.
  @Test func anotherDeviceIsRefused() async throws {
    for driver in [Shelf.driver, .hidPower, .batteryService, .powerSupply] {
      let error = await Self.failure { () throws(AccessoryError) in
        try await driver.open(AccessorySession(LoopbackTransport(label: "it")), profile: nil)
      }
      let device = [
        "shelf": "shelf", "hid-power": "human interface device", "ble-battery": "Bluetooth Low Energy device",
        "power-supply": "battery that the kernel knows",
      ][driver.name]
      #expect(error?.kind == .unsupported)
      #expect(error?.message == "it is no \(device ?? "?"), as the driver \(driver.name) needs")
    }
    let battery = await Self.failure(Self.opener(.powerSupply("BAT0"), "shelf").accessory)
    #expect(battery?.message == "power_supply:BAT0 is no shelf, as the driver shelf needs")
    // A driver of bytes gets none where none pass, and nothing is opened.
    let bytes = await Self.failure(Self.opener(.hidraw("/dev/five"), "framed").accessory)
    #expect(bytes?.kind == .unsupported && bytes?.message == "/dev/five is looked at: no bytes are written to it")
    #expect(TestChannel.opened("/dev/five") == nil)
  }

  /// It is held, as a service holds what it doesn't know, and asked nothing.
  @Test func withoutADriverItIsOpenedAsADriverForSuchDevicesWould() async throws {
    let opener = Self.opener(.hidraw("/dev/six"), nil)
    #expect(await Self.failure(opener.accessory)?.kind == .misconfigured)
    #expect(TestChannel.opened("/dev/six") == nil)
    let opened = try await opener.open()
    #expect(opened.session == nil)
    let channel = try #require(TestChannel.opened("/dev/six"))
    #expect(opened.channel === channel)
    channel.deviceWasRemoved()
    #expect(await Self.failure(opened.ended)?.kind == .disconnected)
    let again = try await opener.open()
    await again.close()
    #expect(await Self.failure(again.ended) == nil)
    let nobody = await Self.failure(DeviceOpener(opener.device, drivers: DriverLibrary([.af1])).open)
    #expect(nobody?.kind == .unsupported && nobody?.message.contains("no driver here opens it") == true)
  }
}
