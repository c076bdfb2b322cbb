// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import AccessoryBluetooth

/// BlueZ as a radio, over a bus that answers what a test says.
@Suite(.timeLimit(.minutes(Patience.minutes(1)))) struct RadioTests {
  private static let device = "/org/bluez/hci0/dev_AA_BB_CC_DD_EE_FF"
  private static let service = device + "/service0010"
  private static let port = service + "/char0011"
  private static let switchPath = port + "/desc0013"
  private static let other = service + "/char0014"
  private static let peer = RadioPeer(
    adapter: BluetoothAddress("00:AA:01:00:00:42"), address: BluetoothAddress("AA:BB:CC:DD:EE:FF")!)
  private static let link = RadioLink(peer, 1)

  private static func uuid(_ short: String) -> WireValue { .text("0000\(short)-0000-1000-8000-00805f9b34fb") }

  private static func object(_ path: String, _ interface: String, _ properties: [(String, WireValue)]) -> WireValue {
    .entry(.path(path), .array("{sa{sv}}", [.entry(.text("org.bluez." + interface), .properties(properties))]))
  }

  private static func adapter(_ isOn: Bool = true) -> WireValue {
    object("/org/bluez/hci0", "Adapter1", [("Address", .text("00:AA:01:00:00:42")), ("Powered", .boolean(isOn))])
  }

  private static func device(isConnected: Bool, strength: Int16? = nil, hasBattery: Bool = false) -> WireValue {
    var properties: [(String, WireValue)] = [
      ("Address", .text("AA:BB:CC:DD:EE:FF")), ("Name", .text("HMSoft")), ("Connected", .boolean(isConnected)),
      ("ServicesResolved", .boolean(isConnected)), ("Adapter", .path("/org/bluez/hci0")),
      ("UUIDs", .array("s", [uuid("ffe0")] + (hasBattery ? [uuid("180f")] : []))),
      ("ServiceData", .array("{sv}", [.entry(uuid("180f"), .variant(.array("y", [.byte(50)])))])),
      ("TxPower", .int16(-4)),
    ]
    if let strength { properties.append(("RSSI", .int16(strength))) }
    return object(device, "Device1", properties)
  }

  private static let table = [
    object(
      service, "GattService1", [("UUID", uuid("ffe0")), ("Device", .path(device)), ("Primary", .boolean(true))]),
    object(
      port, "GattCharacteristic1",
      [
        ("UUID", uuid("ffe1")), ("Service", .path(service)), ("MTU", .uint16(185)),
        ("Flags", .texts(["read", "write-without-response", "notify"])),
      ]),
    object(switchPath, "GattDescriptor1", [("UUID", uuid("2902")), ("Characteristic", .path(port))]),
    object(
      other, "GattCharacteristic1",
      [("UUID", uuid("ffe2")), ("Service", .path(service)), ("Flags", .texts(["read", "write", "indicate"]))]),
  ]

  private static func objects(_ objects: [WireValue]) -> FakeBus.Answer { .values([.array("{oa{sa{sv}}}", objects)]) }

  /// The events of a radio, and the bus below.
  private final class Station: Sendable {
    let events = Watched<[RadioEvent]>([])
    let calls = Watched<[String]>([])
    let bus: FakeBus
    let session: any RadioSession
    /// What every conversation begins with.
    private static let usual = ["Hello", "AddMatch", "GetNameOwner", "GetManagedObjects"]

    init(
      _ objects: [WireValue], by adapter: BluetoothAdapterName? = nil,
      _ answer: @escaping @Sendable (FakeBus.Call) -> FakeBus.Answer? = { _ in nil }
    ) throws {
      let (events, calls) = (events, calls)
      bus = try FakeBus { call in
        defer { if !Self.usual.contains(call.member) { calls.update { $0.append(call.member) } } }
        if let answer = answer(call) { return answer }
        return call.member == "GetManagedObjects" ? RadioTests.objects(objects) : nil
      }
      session = BlueZRadio(bus.address, by: adapter).begin { event in events.update { $0.append(event) } }
    }

    deinit { session.close() }

    func connect() async throws {
      try await wait(.state(.on))
      session.send(.connect(RadioTests.link))
      try await wait(.connected(RadioTests.link, packetSize: 23))
      session.send(.discover(RadioTests.link))
      try await events.wait { $0.contains { if case .table = $0 { true } else { false } } }
    }

    func wait(_ event: RadioEvent) async throws { try await events.wait { $0.contains(event) } }

    /// The bus says that a property has changed.
    func changed(_ name: String, _ value: WireValue) {
      bus.changed(RadioTests.device, "org.bluez.Device1", [(name, value)])
    }
  }

  /// Answers `Connect` after it has told that the device is connected, as bluetoothd does.
  private static func connecting(
    _ box: OneShot<FakeBus>, _ answer: @escaping @Sendable (FakeBus.Call) -> FakeBus.Answer? = { _ in nil }
  ) -> @Sendable (FakeBus.Call) -> FakeBus.Answer? {
    { call in
      if call.member == "Connect" {
        box.current?.changed(
          device, "org.bluez.Device1", [("Connected", .boolean(true)), ("ServicesResolved", .boolean(true))])
      }
      return answer(call)
    }
  }

  private static func station(
    _ objects: [WireValue], _ answer: @escaping @Sendable (FakeBus.Call) -> FakeBus.Answer? = { _ in nil }
  ) throws -> Station {
    let box = OneShot<FakeBus>()
    let station = try Station(objects, connecting(box, answer))
    box.finish(station.bus)
    return station
  }

  private static let whole = [adapter(), device(isConnected: false)] + table

  @Test func theHashIsThatOfTheStandard() {
    #expect(Hexadecimal.string(SHA1.hash(Array("abc".utf8))) == "a9993e364706816aba3e25717850c26c9cd0d89d")
    let long = Array(repeating: UInt8(ascii: "a"), count: 1_000)
    #expect(Hexadecimal.string(SHA1.hash(long)) == "291e9a6c66994949b57ba5e650361e98fc36b1ba")
    // RFC 9562: version 5, variant 10.
    #expect(Self.peer.high >> 12 & 0xF == 5 && Self.peer.low >> 62 == 2)
    #expect(Self.peer != RadioPeer(adapter: nil, address: BluetoothAddress("AA:BB:CC:DD:EE:FF")!))
  }

  @Test func states() async throws {
    let none = try Station([]) { call in
      call.member == "GetNameOwner" ? .error("org.freedesktop.DBus.Error.NameHasNoOwner", "no") : nil
    }
    try await none.wait(.state(.unsupported))
    let denied = try Station([]) { call in
      call.member == "GetManagedObjects" ? .error("org.freedesktop.DBus.Error.AccessDenied", "no") : nil
    }
    try await denied.wait(.state(.unauthorized))
    let station = try Station([Self.adapter(false)])
    try await station.wait(.state(.off))
    station.bus.changed("/org/bluez/hci0", "org.bluez.Adapter1", [("Powered", .boolean(true))])
    try await station.wait(.state(.on))
    station.bus.signal(
      "/", "org.freedesktop.DBus.ObjectManager", "InterfacesRemoved",
      [.path("/org/bluez/hci0"), .texts(["org.bluez.Adapter1"])])
    try await station.wait(.state(.unsupported))
    // bluetoothd ends, and comes back.
    let mortal = try Station([Self.adapter()])
    try await mortal.wait(.state(.on))
    func owner(_ before: String, _ after: String) {
      mortal.bus.signal(
        "/org/freedesktop/DBus", "org.freedesktop.DBus", "NameOwnerChanged",
        [.text("org.bluez"), .text(before), .text(after)], sender: "org.freedesktop.DBus")
    }
    owner(":1.5", "")
    try await mortal.wait(.state(.resetting))
    owner("", ":1.5")
    #expect(
      try await mortal.events.wait { $0.count == 3 } == [.state(.on), .state(.resetting), .state(.on)])
  }

  @Test func aSearchIsFilteredAndEnds() async throws {
    let station = try Station([Self.adapter(), Self.device(isConnected: false, strength: -60)])
    try await station.wait(.state(.on))
    let uuid = BluetoothUUID("ffe0")!
    station.session.send(.search(RadioSearch([uuid])))
    let advertisement = RadioAdvertisement(
      Self.peer, name: "HMSoft", strength: -60, services: [uuid], serviceData: [BluetoothUUID("180f")!: [50]],
      power: -4)
    try await station.wait(.found(advertisement))
    try await station.calls.wait { $0 == ["SetDiscoveryFilter", "StartDiscovery"] }
    let filter = String(decoding: station.bus.bodies(of: "SetDiscoveryFilter")[0], as: UTF8.self)
    #expect(filter.contains("0000ffe0") && filter.contains("DuplicateData") && filter.contains("le"))
    #expect(station.session.known == [RadioKnown(Self.peer, name: "HMSoft", services: [uuid])])
    station.changed("Name", .text("Other"))
    try await station.wait(.named(Self.peer, "Other"))
    // Another search replaces it; what doesn't fit isn't told.
    station.session.send(.search(RadioSearch([BluetoothUUID("1234")!], wantsAll: true)))
    try await station.calls.wait { $0.count == 5 }
    let count = station.events.value.count
    station.changed("RSSI", .int16(-61))
    station.session.send(.search(nil))
    try await station.calls.wait { $0.last == "StopDiscovery" && $0.count == 6 }
    #expect(station.events.value.count == count)
  }

  /// Of several adapters only the chosen one counts, by its name or by its address.
  @Test(arguments: ["hci1", "00:AA:01:00:00:43"]) func oneAdapterOfSeveral(choice: String) async throws {
    let mine = Self.device.replacing("hci0", with: "hci1").replacing("FF", with: "01")
    let objects = [
      Self.adapter(), Self.device(isConnected: false, strength: -60),
      Self.object(
        "/org/bluez/hci1", "Adapter1", [("Address", .text("00:AA:01:00:00:43")), ("Powered", .boolean(false))]),
      Self.object(
        mine, "Device1",
        [
          ("Address", .text("AA:BB:CC:DD:EE:01")), ("RSSI", .int16(-70)), ("Adapter", .path("/org/bluez/hci1")),
        ]),
    ]
    let searched = Watched<[String]>([])
    let station = try Station(objects, by: BluetoothAdapterName(choice)) { call in
      if call.member == "StartDiscovery" { searched.update { $0.append(call.path) } }
      return nil
    }
    // The other one is on.
    try await station.wait(.state(.off))
    station.bus.changed("/org/bluez/hci1", "org.bluez.Adapter1", [("Powered", .boolean(true))])
    try await station.wait(.state(.on))
    station.session.send(.search(RadioSearch(nil)))
    try await searched.wait { $0 == ["/org/bluez/hci1"] }
    let peer = RadioPeer(
      adapter: BluetoothAddress("00:AA:01:00:00:43"), address: BluetoothAddress("AA:BB:CC:DD:EE:01")!)
    #expect(station.session.known == [RadioKnown(peer, name: nil)])
    let found = station.events.value.compactMap { if case .found(let device) = $0 { device.peer } else { nil } }
    #expect(found == [peer])
    // It is pulled out.
    station.bus.signal(
      "/", "org.freedesktop.DBus.ObjectManager", "InterfacesRemoved",
      [.path("/org/bluez/hci1"), .texts(["org.bluez.Adapter1"])])
    try await station.wait(.state(.unsupported))
  }

  @Test func theWholeWay() async throws {
    var ends: [CInt] = [-1, -1]
    #expect(socketpair(AF_UNIX, CInt(SOCK_SEQPACKET.rawValue), 0, &ends) == 0)
    let (ours, theirs) = (ends[0], FileDescriptor(rawValue: ends[1]))
    defer { Glibc.close(ours) }
    let station = try Self.station(Self.whole) { call in
      switch call.member {
      case "AcquireNotify": .values([.descriptor(0), .uint16(185)], descriptors: [theirs])
      case "ReadValue" where call.path == Self.port: .values([.array("y", [.byte(7)])])
      case "ReadValue" where call.path == Self.other:
        .error("org.bluez.Error.Failed", "Operation failed with ATT error: 0x81")
      case "WriteValue" where call.path == Self.other: .error("org.bluez.Error.NotPermitted", "Write not permitted")
      default: nil
      }
    }
    try await station.connect()
    let characteristics = [
      RadioCharacteristic(
        BluetoothUUID("ffe1")!, handle: 0x11, properties: 0x16, [RadioDescriptor(.clientConfiguration, handle: 0x13)]),
      RadioCharacteristic(BluetoothUUID("ffe2")!, handle: 0x14, properties: 0x2A),
    ]
    #expect(
      station.events.value.suffix(2) == [
        .packetSize(Self.link, 185),
        .table(Self.link, .success([RadioService(BluetoothUUID("ffe0")!, handle: 0x10, characteristics)])),
      ])
    for command in [
      RadioCommand.read(Self.link, handle: 0x11), .read(Self.link, handle: 0x14), .read(Self.link, handle: 0x99),
      .write(Self.link, handle: 0x14, [1]), .write(Self.link, handle: 0x13, [0, 0]), .measure(Self.link),
      .writeCommand(Self.link, handle: 0x11, [1, 2]), .notify(Self.link, handle: 0x11, true),
    ] {
      station.session.send(command)
    }
    try await station.wait(.notifying(Self.link, handle: 0x11, .success(true)))
    try await station.wait(.sent(Self.link))
    let events = station.events.value
    #expect(events.contains(.read(Self.link, handle: 0x11, .success([7]))))
    #expect(events.contains(.read(Self.link, handle: 0x14, .failure(.refused(0x81)))))
    #expect(events.contains(.read(Self.link, handle: 0x99, .failure(.noAttribute))))
    #expect(events.contains(.written(Self.link, handle: 0x14, .refused(3))))
    #expect(events.contains(.written(Self.link, handle: 0x13, nil)))
    #expect(events.contains(.strength(Self.link, .failure(.unsupported))))
    // Packets are values: equal ones, too, and those that come together with the end.
    func send(_ bytes: [UInt8]) { _ = bytes.withUnsafeBytes { Glibc.send(ours, $0.baseAddress, $0.count, 0) } }
    send([1])
    send([1])
    try await station.events.wait { $0.count { $0 == .value(Self.link, handle: 0x11, [1]) } == 2 }
    station.session.send(.hold(true))
    for count in 2...3 {
      // The first answer tells that values are held back.
      station.session.send(.read(Self.link, handle: 0x11))
      try await station.events.wait { $0.count { $0 == .read(Self.link, handle: 0x11, .success([7])) } == count }
      if count == 2 { send([2]) }
    }
    #expect(!station.events.value.contains(.value(Self.link, handle: 0x11, [2])))
    station.session.send(.hold(false))
    try await station.wait(.value(Self.link, handle: 0x11, [2]))
    send([3])
    station.changed("Connected", .boolean(false))
    try await station.wait(.ended(Self.link, .disconnected))
    #expect(
      station.events.value.suffix(2) == [.value(Self.link, handle: 0x11, [3]), .ended(Self.link, .disconnected)])
    #expect(station.calls.value.count { $0 == "Connect" } == 1 && !station.calls.value.contains("AcquireWrite"))
  }

  /// bluetoothd tells the end of a connection before that of the power; clients hear of the power alone, as on iOS.
  @Test func aLossBySwitchingOffIsNotTold() async throws {
    let station = try Self.station(Self.whole)
    try await station.connect()
    station.changed("Connected", .boolean(false))
    station.bus.changed("/org/bluez/hci0", "org.bluez.Adapter1", [("Powered", .boolean(false))])
    try await station.wait(.state(.off))
    station.bus.changed("/org/bluez/hci0", "org.bluez.Adapter1", [("Powered", .boolean(true))])
    try await station.events.wait { $0.last == .state(.on) }
    // The next connection is told after everything else.
    let second = RadioLink(Self.peer, 2)
    station.session.send(.connect(second))
    try await station.wait(.connected(second, packetSize: 23))
    station.changed("Connected", .boolean(false))
    try await station.wait(.ended(second, .disconnected))
    #expect(!station.events.value.contains(.ended(Self.link, .disconnected)))
  }

  /// A client that connects again hears of the loss first.
  @Test func aLossIsToldBeforeTheNextConnection() async throws {
    let station = try Self.station(Self.whole)
    try await station.connect()
    station.changed("Connected", .boolean(false))
    station.changed("Name", .text("Lost"))
    try await station.wait(.named(Self.peer, "Lost"))
    let second = RadioLink(Self.peer, 2)
    station.session.send(.connect(second))
    try await station.wait(.connected(second, packetSize: 23))
    let (loss, next) = (RadioEvent.ended(Self.link, .disconnected), RadioEvent.connected(second, packetSize: 23))
    let events = station.events.value
    #expect(try #require(events.firstIndex(of: loss)) < #require(events.firstIndex(of: next)))
  }

  @Test func aThousandCommandsWaitForTheDevice() async throws {
    let written = Locked<[[UInt8]]>([])
    let station = try Self.station(Self.whole) { call in
      // The bytes of an array behind its length.
      if call.member == "WriteValue" { written.withLock { $0.append(Array(call.body[4..<6])) } }
      return call.member == "ReadValue" ? .values([.array("y", [.byte(0), .byte(0)])]) : nil
    }
    try await station.connect()
    let sent = (0..<1_000).map { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
    for bytes in sent { station.session.send(.writeCommand(Self.link, handle: 0x11, bytes)) }
    try await station.events.wait { $0.count { $0 == .sent(Self.link) } == 1_000 }
    #expect(written.withLock { $0 } == sent)
    // After each 64 of them a value is read, whose answer comes when the device has them.
    #expect(station.calls.value.count { $0 == "ReadValue" } == 15)
  }

  @Test func characteristicsThatIndicateComeBySignals() async throws {
    let station = try Self.station(Self.whole) { call in
      switch call.member {
      case "AcquireNotify": .error("org.bluez.Error.NotSupported", "no")
      case "ReadValue": .values([.array("y", [.byte(9)])])
      default: nil
      }
    }
    try await station.connect()
    station.session.send(.notify(Self.link, handle: 0x14, true))
    try await station.wait(.notifying(Self.link, handle: 0x14, .success(true)))
    station.bus.changed(Self.other, "org.bluez.GattCharacteristic1", [("Value", .array("y", [.byte(8)]))])
    try await station.wait(.value(Self.link, handle: 0x14, [8]))
    station.session.send(.notify(Self.link, handle: 0x14, false))
    try await station.wait(.notifying(Self.link, handle: 0x14, .success(false)))
    #expect(station.calls.value.suffix(3) == ["AcquireNotify", "StartNotify", "StopNotify"])
  }

  @Test func theBatteryThatBlueZKeepsToItself() async throws {
    let station = try Self.station([Self.adapter(), Self.device(isConnected: false, hasBattery: true)])
    try await station.connect()
    #expect(station.events.value.last == .table(Self.link, .success([.battery])))
    let handle = RadioService.battery.characteristics[0].handle
    station.session.send(.read(Self.link, handle: handle))
    station.bus.signal(
      "/", "org.freedesktop.DBus.ObjectManager", "InterfacesAdded",
      [
        .path(Self.device),
        .array("{sa{sv}}", [.entry(.text("org.bluez.Battery1"), .properties([("Percentage", .byte(55))]))]),
      ])
    try await station.wait(.read(Self.link, handle: handle, .success([55])))
    station.session.send(.notify(Self.link, handle: handle, true))
    try await station.wait(.notifying(Self.link, handle: handle, .success(true)))
    station.bus.changed(Self.device, "org.bluez.Battery1", [("Percentage", .byte(54))])
    try await station.wait(.value(Self.link, handle: handle, [54]))
  }

  /// bluetoothd gives up again and again: the client waits until it cancels.
  @Test func connectingGoesOnUntilItIsCancelled() async throws {
    let tries = Locked(0)
    let box = OneShot<FakeBus>()
    let station = try Station(Self.whole) { call in
      guard call.member == "Connect" else { return nil }
      let count = tries.withLock { tries in
        tries += 1
        return tries
      }
      if count == 1 { return .error("org.bluez.Error.Failed", "le-connection-abort-by-local") }
      // A bluetoothd that says so, and doesn't tell that the device is connected, is asked again after a pause.
      if count == 2 { return .error("org.bluez.Error.AlreadyConnected", "connected") }
      if count == 3 {
        box.current?.changed(
          Self.device, "org.bluez.Device1", [("Connected", .boolean(true)), ("ServicesResolved", .boolean(true))])
        return nil
      }
      return .nothing
    }
    box.finish(station.bus)
    try await station.wait(.state(.on))
    station.session.send(.connect(Self.link))
    try await station.wait(.connected(Self.link, packetSize: 23))
    station.session.send(.disconnect(Self.link))
    try await station.calls.wait { $0.last == "Disconnect" }
    station.changed("Connected", .boolean(false))
    try await station.wait(.ended(Self.link, nil))
    #expect(station.calls.value == ["Connect", "Connect", "Connect", "Disconnect"])
    let second = RadioLink(Self.peer, 2)
    station.session.send(.connect(second))
    try await station.calls.wait { $0.count == 5 }
    station.session.send(.disconnect(second))
    try await station.wait(.ended(second, nil))
    #expect(station.calls.value.last == "Disconnect")
    // A device that must be paired, and one that nobody knows.
    station.session.send(.connect(RadioLink(RadioPeer(high: 1, low: 1), 3)))
    try await station.wait(.ended(RadioLink(RadioPeer(high: 1, low: 1), 3), .connectionFailed))
  }

  @Test func aDeviceThatMustBePaired() async throws {
    let station = try Station(Self.whole) { call in
      call.member == "Connect" ? .error("org.bluez.Error.AuthenticationFailed", "no") : nil
    }
    try await station.wait(.state(.on))
    station.session.send(.connect(Self.link))
    try await station.wait(.ended(Self.link, .pairingNeeded))
  }

  /// A device that another program has connected stays so.
  @Test func aConnectionOfAnotherProgram() async throws {
    let station = try Self.station([Self.adapter(), Self.device(isConnected: true)] + Self.table)
    try await station.connect()
    #expect(station.session.known.first?.isConnected == true)
    station.session.send(.disconnect(Self.link))
    try await station.wait(.ended(Self.link, nil))
    #expect(!station.calls.value.contains("Connect") && !station.calls.value.contains("Disconnect"))
  }

  @Test func aDeviceThatBlueZHasForgottenIsSearchedFor() async throws {
    let station = try Station([Self.adapter(), Self.device(isConnected: false)]) { call in
      call.member == "Connect" ? .error("org.bluez.Error.DoesNotExist", "no") : nil
    }
    try await station.wait(.state(.on))
    station.session.send(.connect(Self.link))
    try await station.calls.wait { $0.contains("Connect") }
    station.bus.signal(
      "/", "org.freedesktop.DBus.ObjectManager", "InterfacesRemoved",
      [.path(Self.device), .texts(["org.bluez.Device1"])])
    try await station.calls.wait { $0.contains("StartDiscovery") }
    station.session.send(.disconnect(Self.link))
    try await station.calls.wait { $0.contains("StopDiscovery") }
    try await station.wait(.ended(Self.link, nil))
  }

  @Test func anotherTableIsTold() async throws {
    let station = try Self.station(Self.whole)
    try await station.connect()
    station.bus.signal(
      "/", "org.freedesktop.DBus.ObjectManager", "InterfacesRemoved",
      [.path(Self.other), .texts(["org.bluez.GattCharacteristic1"])])
    let events = try await station.events.wait { $0.contains { if case .tableChanged = $0 { true } else { false } } }
    let tables = events.compactMap { if case .tableChanged(Self.link, let table) = $0 { table } else { nil } }
    #expect(tables.last?.first?.characteristics.map(\.handle) == [0x11])
  }

  @Test func closingDisconnectsWhatWasConnected() async throws {
    let station = try Self.station(Self.whole)
    try await station.connect()
    station.session.close()
    station.session.close()
    try await station.calls.wait { $0.last == "Disconnect" }
    let count = station.events.value.count
    station.session.send(.read(Self.link, handle: 0x11))
    station.changed("Connected", .boolean(false))
    #expect(station.events.value.count == count)
  }
}
