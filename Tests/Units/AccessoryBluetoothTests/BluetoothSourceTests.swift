// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryIO
import TestSupport
import Testing

@testable import AccessoryBluetooth

/// The source of Bluetooth devices, against a bus that answers what a test says.
@Suite struct BluetoothSourceTests {
  private static let adapter = "/org/bluez/hci0"
  private static let path = adapter + "/dev_AA_BB_CC_DD_EE_FF"
  private static let id = "ble:AA:BB:CC:DD:EE:FF"
  private static let serial = "0000ffe0-0000-1000-8000-00805f9b34fb"

  private static func interfaces(_ interface: String, _ properties: [(String, WireValue)]) -> WireValue {
    .array("{sa{sv}}", [.entry(.text(interface), .properties(properties))])
  }

  private static func objects(_ properties: [(String, WireValue)]) -> WireValue {
    .array(
      "{oa{sa{sv}}}",
      [
        .entry(.path(adapter), interfaces("org.bluez.Adapter1", [("Powered", .boolean(true))])),
        .entry(
          .path(path),
          interfaces(
            "org.bluez.Device1",
            [("Address", .text("AA:BB:CC:DD:EE:FF")), ("Name", .text("HMSoft")), ("Adapter", .path(adapter))]
              + properties)),
      ])
  }

  private static func bus(
    _ properties: [(String, WireValue)] = [("Paired", .boolean(true))],
    _ answer: @escaping @Sendable (FakeBus.Call) -> FakeBus.Answer? = { _ in nil }
  ) throws -> FakeBus {
    try FakeBus { call in
      answer(call) ?? (call.member == "GetManagedObjects" ? .values([objects(properties)]) : nil)
    }
  }

  /// Pauses that no test waits for, and a search that ends only when it is ended.
  private static func source(_ bus: FakeBus) -> BluetoothSource {
    BluetoothSource(
      BluetoothPlace(bus: bus.address),
      BluetoothSearch.Times(search: .seconds(3_600), pause: .milliseconds(1), longestPause: .milliseconds(1)))
  }

  private static func ids(_ event: DeviceEvent?) -> String? {
    switch event {
    case .added(let device): "+" + device.id
    case .removed(let device): "-" + device.id
    case .changed(let device, _): "=" + device.id
    case nil: nil
    }
  }

  @Test func lookingOnce() async throws {
    let bus = try Self.bus()
    let devices = try await Self.source(bus).devices()
    #expect(devices.map(\.id) == [Self.id] && devices.first?.name == "HMSoft")
    #expect(bus.calls.map(\.member) == ["GetManagedObjects"], "nothing is searched, and nothing is connected")
  }

  @Test func nothingWithoutBluetoothd() async throws {
    let nobody: @Sendable (FakeBus.Call) -> FakeBus.Answer? = { call in
      call.member == "GetNameOwner" ? .error("org.freedesktop.DBus.Error.NameHasNoOwner", "no") : nil
    }
    #expect(try await Self.source(Self.bus([], nobody)).devices() == [])
    #expect(try await BluetoothSource(BluetoothPlace(bus: "unix:path=/nowhere/bus")).devices() == [])
  }

  @Test func devicesComeAndGo() async throws {
    let bus = try Self.bus()
    let source = Self.source(bus)
    var events = try await source.events().makeAsyncIterator()
    #expect(Self.ids(await events.next()) == "+" + Self.id)
    bus.changed(Self.path, "org.bluez.Device1", [("Connected", .boolean(true))])
    #expect(Self.ids(await events.next()) == "=" + Self.id)
    #expect(try await source.devices().first?.bluetooth?.isConnected == true)
    bus.signal(
      "/", "org.freedesktop.DBus.ObjectManager", "InterfacesRemoved",
      [.path(Self.path), .texts(["org.bluez.Device1"])])
    #expect(Self.ids(await events.next()) == "-" + Self.id)
    bus.signal(
      "/", "org.freedesktop.DBus.ObjectManager", "InterfacesAdded",
      [
        .path(Self.adapter + "/dev_00_11_22_33_44_55"),
        Self.interfaces(
          "org.bluez.Device1",
          [("Address", .text("00:11:22:33:44:55")), ("Adapter", .path(Self.adapter)), ("RSSI", .int16(-70))]),
      ])
    #expect(Self.ids(await events.next()) == "+ble:00:11:22:33:44:55")
    bus.changed(Self.adapter, "org.bluez.Adapter1", [("Powered", .boolean(false))])
    #expect(Self.ids(await events.next()) == "-ble:00:11:22:33:44:55")
  }

  @Test func bluetoothdEndsAndReturns() async throws {
    let bus = try Self.bus()
    let source = Self.source(bus)
    var events = try await source.events().makeAsyncIterator()
    #expect(Self.ids(await events.next()) == "+" + Self.id)
    func owner(_ old: String, _ new: String) {
      bus.signal(
        "/org/freedesktop/DBus", "org.freedesktop.DBus", "NameOwnerChanged",
        [.text("org.bluez"), .text(old), .text(new)], sender: "org.freedesktop.DBus")
    }
    owner(FakeBus.owner, "")
    #expect(Self.ids(await events.next()) == "-" + Self.id)
    owner("", FakeBus.owner)
    #expect(Self.ids(await events.next()) == "+" + Self.id)
    bus.hangUp()
    #expect(Self.ids(await events.next()) == "-" + Self.id)
  }

  /// Somebody follows before bluetoothd runs.
  @Test func bluetoothdComesLater() async throws {
    let bus = try Self.bus { call in
      call.member == "GetNameOwner" ? .error("org.freedesktop.DBus.Error.NameHasNoOwner", "no") : nil
    }
    let source = Self.source(bus)
    var events = try await source.events().makeAsyncIterator()
    #expect(bus.calls.isEmpty, "asking would start it")
    bus.signal(
      "/org/freedesktop/DBus", "org.freedesktop.DBus", "NameOwnerChanged",
      [.text("org.bluez"), .text(""), .text(FakeBus.owner)], sender: "org.freedesktop.DBus")
    #expect(Self.ids(await events.next()) == "+" + Self.id)
  }

  @Test func itSearchesOnlyWhileAWishIsUnmet() async throws {
    let bus = try Self.bus([])
    let source = Self.source(bus)
    var events = try await source.events().makeAsyncIterator()
    #expect(bus.calls.map(\.member) == ["GetManagedObjects"])
    let service = try #require(BluetoothUUID("ffe0"))
    await source.wait(for: [DeviceWish(service: service) { $0.name == "HMSoft" }])
    try await eventually("the search begins") { !bus.bodies(of: "StartDiscovery").isEmpty }
    #expect(
      String(decoding: try #require(bus.bodies(of: "SetDiscoveryFilter").first), as: UTF8.self).contains(Self.serial))
    bus.changed(Self.path, "org.bluez.Device1", [("RSSI", .int16(-50))])
    #expect(Self.ids(await events.next()) == "+" + Self.id)
    try await eventually("the search ends") { bus.bodies(of: "StopDiscovery").count == 1 }
    // It is gone again: somebody still waits.
    bus.signal(
      "/", "org.freedesktop.DBus.ObjectManager", "InterfacesRemoved",
      [.path(Self.path), .texts(["org.bluez.Device1"])])
    #expect(Self.ids(await events.next()) == "-" + Self.id)
    try await eventually("it searches again") { bus.bodies(of: "StartDiscovery").count == 2 }
    await source.wait(for: [])
    try await eventually("nobody waits") { bus.bodies(of: "StopDiscovery").count == 2 }
    #expect(!bus.calls.contains { ["Connect", "Pair"].contains($0.member) })
  }

  /// Without an adapter nothing is searched, and no timer runs.
  @Test func aWishWaitsForAnAdapter() async throws {
    let bus = try Self.bus([])
    let source = Self.source(bus)
    let events = try await source.events()
    bus.changed(Self.adapter, "org.bluez.Adapter1", [("Powered", .boolean(false))])
    try await eventually("the adapter is off") { await !source.hasAdapter }
    await source.wait(for: [DeviceWish { _ in false }])
    #expect(bus.bodies(of: "StartDiscovery").isEmpty)
    bus.changed(Self.adapter, "org.bluez.Adapter1", [("Powered", .boolean(true))])
    try await eventually("the search begins") { bus.bodies(of: "StartDiscovery").count == 1 }
    _ = events
  }

  @Test func theEndOfFollowingEndsTheSearch() async throws {
    let bus = try Self.bus([])
    let source = Self.source(bus)
    await source.wait(for: [DeviceWish { _ in false }])
    #expect(bus.calls.isEmpty, "nobody follows")
    let events = try await source.events()
    let reading = Task { for await _ in events {} }
    try await eventually("the search begins") { bus.bodies(of: "StartDiscovery").count == 1 }
    reading.cancel()
    try await eventually("the search ends") { bus.bodies(of: "StopDiscovery").count == 1 }
  }

  @Test func searchingByHand() async throws {
    let bus = try Self.bus([("Name", .text("HMSoft"))]) { _ in nil }
    let source = Self.source(bus)
    let searching = Task { try await source.search(for: DeviceWish { $0.name == "HMSoft" }, within: .seconds(60)) }
    try await eventually("the search begins") { bus.bodies(of: "StartDiscovery").count == 1 }
    bus.changed(Self.path, "org.bluez.Device1", [("RSSI", .int16(-50))])
    #expect(try await searching.value.map(\.id) == [Self.id])
  }

  /// While nobody reads, a device has one event: what was between is left out.
  @Test func whoReadsLateLearnsTheNewestState() async throws {
    func device(_ number: UInt64, isConnected: Bool = false) -> Device {
      let address = BluetoothAddress(rawValue: number)!
      var device = Device(.ble(address), source: .bluetooth)
      device.bluetooth = BluetoothIdentity(address, adapter: "hci0")
      device.bluetooth?.isConnected = isConnected
      return device
    }
    let queue = BluetoothEventQueue()
    let (off, on) = (device(1), device(1, isConnected: true))
    queue.add(.added(off))
    queue.add(.added(device(2)))
    for _ in 0..<10_000 {
      queue.add(.changed(on, from: off))
      queue.add(.changed(off, from: on))
      queue.add(.added(device(3)))
      queue.add(.removed(device(3)))
    }
    queue.add(.changed(on, from: off))
    #expect(queue.count == 2)
    var events = queue.stream {}.makeAsyncIterator()
    #expect(await events.next() == .added(on))
    #expect(await events.next() == .added(device(2)))
    // The reader knows both now.
    queue.add(.removed(on))
    queue.add(.added(off))
    queue.add(.changed(device(2, isConnected: true), from: device(2)))
    queue.add(.removed(device(2, isConnected: true)))
    #expect(await events.next() == .changed(off, from: on))
    #expect(await events.next() == .removed(device(2)))
    #expect(queue.count == 0)
  }

  /// A stream that is dropped without having been read ends what it began.
  @Test func aStreamThatIsDroppedEndsTheSearch() async throws {
    let bus = try Self.bus([])
    let source = Self.source(bus)
    await source.wait(for: [DeviceWish { _ in false }])
    do {
      let events = try await source.events()
      try await eventually("the search begins") { bus.bodies(of: "StartDiscovery").count == 1 }
      _ = events
    }
    try await eventually("the search ends") { bus.bodies(of: "StopDiscovery").count == 1 }
  }

  @Test func aWishIsSearchedWithItsAdapter() async throws {
    let bus = try FakeBus { call in
      call.member == "GetManagedObjects"
        ? .values([
          .array(
            "{oa{sa{sv}}}",
            ["/org/bluez/hci0", "/org/bluez/hci1"].map {
              .entry(.path($0), Self.interfaces("org.bluez.Adapter1", [("Powered", .boolean(true))]))
            })
        ]) : nil
    }
    let source = Self.source(bus)
    let events = try await source.events()
    await source.wait(for: [DeviceWish(adapter: BluetoothAdapterName("hci1")) { _ in false }])
    try await eventually("the search begins") { bus.bodies(of: "StartDiscovery").count == 1 }
    #expect(bus.calls.last?.path == "/org/bluez/hci1")
    await source.wait(for: [
      DeviceWish(adapter: BluetoothAdapterName("hci1")) { _ in false }, DeviceWish { _ in false },
    ])
    try await eventually("both search") { bus.bodies(of: "StartDiscovery").count == 3 }
    #expect(Set(bus.calls.suffix(4).map(\.path)) == ["/org/bluez/hci0", "/org/bluez/hci1"])
    _ = events
  }

  @Test func aListThatMakesNoSense() async throws {
    let bus = try FakeBus { call in
      call.member == "GetManagedObjects"
        ? .values([.array("{oa{sa{sv}}}", [.entry(.path("/"), Self.interfaces("org.bluez.Device1", []))])]) : nil
    }
    #expect(try await Self.source(bus).devices() == [])
  }
}
