// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryIO
import MessageBus
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

  private static func other(_ name: String) -> [WireValue] {
    let path = adapter + "/dev_AA_BB_CC_DD_EE_01"
    let properties: [(String, WireValue)] = [
      ("Address", .text("AA:BB:CC:DD:EE:01")), ("Name", .text(name)), ("Adapter", .path(adapter)),
      ("RSSI", .int16(-40)),
    ]
    return [.path(path), interfaces("org.bluez.Device1", properties)]
  }

  /// By a name all are found that tell it until the search ends, not the first one alone.
  @Test func aNameIsSearchedForToTheEnd() async throws {
    let bus = try Self.bus([("Name", .text("Pack"))]) { _ in nil }
    let source = Self.source(bus)
    let searching = Task { try await source.search(for: DeviceWish { $0.name == "Pack" }, within: .seconds(600)) }
    try await eventually("the search begins") { bus.bodies(of: "StartDiscovery").count == 1 }
    bus.changed(Self.path, "org.bluez.Device1", [("RSSI", .int16(-50))])
    bus.signal("/", "org.freedesktop.DBus.ObjectManager", "InterfacesAdded", Self.other("Pack"))
    bus.hangUp()
    #expect(try await searching.value.map(\.id) == ["ble:AA:BB:CC:DD:EE:01", Self.id])
  }

  /// By its address a device is what BlueZ remembers of it, without a search; what tells nothing is searched for.
  @Test func anAddressIsWhatWasHeardThere() async throws {
    let address = try #require(BluetoothAddress("AA:BB:CC:DD:EE:FF"))
    let wish = DeviceWish(.ble, address: address)
    let bus = try Self.bus([("UUIDs", .texts([Self.serial]))]) { _ in nil }
    let found = try await Self.source(bus).search(for: wish, within: .seconds(600))
    #expect(found.map(\.id) == [Self.id] && found.first?.name == "HMSoft")
    #expect(bus.bodies(of: "StartDiscovery").isEmpty)
    // Without time there is no search.
    let absent = DeviceWish(.rfcomm, address: try #require(BluetoothAddress("AA:BB:CC:DD:EE:02")))
    #expect(try await Self.source(Self.bus([])).search(for: absent, within: .zero) == [])
    let silent = try FakeBus { call in
      call.member == "GetManagedObjects"
        ? .values([
          .array(
            "{oa{sa{sv}}}",
            [.entry(.path(Self.adapter), Self.interfaces("org.bluez.Adapter1", [("Powered", .boolean(true))]))])
        ]) : nil
    }
    let source = Self.source(silent)
    let searching = Task { try await source.search(for: wish, within: .seconds(600)) }
    try await eventually("the search begins") { silent.bodies(of: "StartDiscovery").count == 1 }
    let maker = WireValue.array("{qv}", [.entry(.uint16(0x0B65), .variant(.array("y", [.byte(1)])))])
    silent.signal(
      "/", "org.freedesktop.DBus.ObjectManager", "InterfacesAdded",
      [
        .path(Self.path),
        Self.interfaces(
          "org.bluez.Device1",
          [("Address", .text("AA:BB:CC:DD:EE:FF")), ("Adapter", .path(Self.adapter)), ("RSSI", .int16(-50))]),
      ])
    // What it tells may come later, and all of it counts.
    silent.changed(
      Self.path, "org.bluez.Device1",
      [("Name", .text("JK-B2A8")), ("UUIDs", .texts([Self.serial])), ("ManufacturerData", maker)])
    let heard = try await searching.value
    #expect(heard.first?.bluetooth?.toldName == "JK-B2A8" && heard.first?.bluetooth?.manufacturers == [0x0B65])
  }

  /// Why BlueZ couldn't connect is said in words, with its code.
  @Test(arguments: [
    ("br-connection-sdp-search", "it couldn't be asked for its services (br-connection-sdp-search)"),
    ("le-connection-abort-by-local", "this computer broke off the attempt (le-connection-abort-by-local)"),
    ("br-connection-something-new", "br-connection-something-new"), ("Software caused", "Software caused"),
  ]) func codesOfConnectingAreSaidInWords(code: String, words: String) {
    let error = AccessoryError(refusal: BusFailure("org.bluez.Error.Failed", code), "connecting to ble:x")
    #expect(error.message == "connecting to ble:x: \(words)")
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
