// SPDX-License-Identifier: Apache-2.0

import AccessoryBridge
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryTesting
import TestSupport
import Testing

/// Devices on the air that a service may be about to connect.
@Suite("Accessories on the air", .timeLimit(.minutes(Patience.minutes(2)))) struct AirFinderTests {
  private struct Host: OpeningHost {}

  private static let address = BluetoothAddress("A5:C2:37:00:11:22")!
  private static let service: [String: [String]] = [
    "Service": [
      #"{"product":"x","version":"1","process":1,"started":1,"uptime_ms":1000,"accessories":0,"attached":0,"clients":1,"#
        + #""limits":{"accessories":1,"attached":1,"clients":1,"clients_of_one_user":1}}"#
    ],
    "List": [#"{"accessories":[]}"#],
    "Subscribe": [#"!{"parameters":{"event":"ready","time":1},"continues":true}"#],
  ]

  /// The device; as the system's Bluetooth knows it, if it does.
  private static func device(isKnown: Bool) -> Device {
    var device = Device(.ble(address), source: isKnown ? .bluetooth : .named)
    if isKnown { device.bluetooth = BluetoothIdentity(address, adapter: "hci0") }
    return device
  }

  /// A finder of this device, which a profile lets the service connect.
  private static func finder(_ device: Device, _ socket: String, _ clock: ManualClock) -> AccessoryFinder {
    var rule = DeviceRule()
    rule.bluetooth = BluetoothRule(address: address)
    var profile = Profile(name: "pack", rules: [rule], driver: "jbd")
    profile.allowsConnecting = true
    let kinds = KnownKinds {
      .builtIn
    } driver: { _ in
      nil
    } profile: { _ in
      nil
    }
    var finder = AccessoryFinder(services: [socket], kinds: kinds, host: Host()) { _, _ in
      [device]
    } opener: { [profile] device, _ in
      DeviceOpener(device, profile: profile, drivers: .builtIn)
    }
    finder.clock = clock
    return finder
  }

  private static var name: DeviceName { DeviceName("ble:\(address)") }

  /// A service that doesn't connect the device isn't asked again and again while it is waited for.
  @Test func aServiceIsWaitedForWithoutAsking() async throws {
    let (directory, clock) = (try TemporaryDirectory(), ManualClock())
    let service = try CannedService(at: directory.path + "/socket", Self.service)
    defer { service.close() }
    let finder = Self.finder(Self.device(isKnown: true), directory.path + "/socket", clock)
    let found = Task { try await finder.find(Self.name) }
    try await service.calls.wait { $0.contains("Subscribe") && $0.last == "List" }
    try await eventually("the limit") { clock.nextDeadline != nil }
    var left = 10
    while left > 0 {
      clock.advance(by: .milliseconds(290))
      left -= 1
    }
    clock.advance(by: .milliseconds(200))
    #expect(try await found.value.service == nil)
    // Once before it is waited for, and when the service answers and has told what it has.
    #expect(service.calls.value.filter { $0 == "List" }.count <= 3, "\(service.calls.value)")
  }

  /// A device that was searched for in vain isn't searched for again by opening it, nor for what the service has.
  @Test func anAbsentDeviceIsSearchedForOnce() async throws {
    let (directory, clock) = (try TemporaryDirectory(), ManualClock())
    let service = try CannedService(at: directory.path + "/socket", Self.service)
    defer { service.close() }
    var finder = Self.finder(Self.device(isKnown: false), directory.path + "/socket", clock)
    let searches = Watched(0)
    finder.devices = { name, _ in
      guard name.wish() != nil else { return [] }
      searches.update { $0 += 1 }
      throw AccessoryError.notOnTheAir(Self.address)
    }
    let error = await #expect(throws: AccessoryError.self) { try await finder.find(Self.name) }
    #expect(error?.kind == .notFound && error?.message.contains("isn't there: is it on, near enough") == true)
    #expect(searches.value == 1)
    // Where there is nothing to search with, opening the device says so.
    finder.devices = { _, _ in [] }
    #expect(try await finder.find(Self.name).service == nil)
  }
}
