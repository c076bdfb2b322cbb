// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryTesting
import Dispatch
import TestSupport
import Testing

@testable import AccessoryBluetooth

/// Services of ours at BlueZ, against a bus on which bluetoothd asks what a test says.
@Suite(.timeLimit(.minutes(Patience.minutes(1)))) struct ServingTests {
  private static let phone = "/org/bluez/hci0/dev_AA_BB_CC_DD_EE_FF"
  private static let other = "/org/bluez/hci0/dev_AA_BB_CC_DD_EE_01"
  private static let peer = RadioPeer(
    adapter: BluetoothAddress("00:AA:01:00:00:42"), address: BluetoothAddress("AA:BB:CC:DD:EE:FF")!)
  private static let central = ServedCentral(peer, packetSize: 185, name: "Phone")
  private static let root = "/org/accessorybridge/served/service1"
  private static let port = root + "/service/char7"
  private static let level = root + "/service/char8"
  private static let characteristic = "org.bluez.GattCharacteristic1"

  private static let service = ServedService(
    BluetoothUUID(short: 0xFFE0), number: 1,
    [
      ServedCharacteristic(
        BluetoothUUID(short: 0xFFE1), handle: 7, properties: 0x1E,
        [ServedDescriptor(BluetoothUUID(short: 0x2901), Array("Port".utf8))]),
      ServedCharacteristic(
        BluetoothUUID(short: 0xFFE2), handle: 8, properties: 0x22, encryption: [.read, .notify], value: [1, 2, 3]),
    ])

  private static func object(_ path: String, _ interface: String, _ properties: [(String, WireValue)]) -> WireValue {
    .entry(.path(path), .array("{sa{sv}}", [.entry(.text("org.bluez." + interface), .properties(properties))]))
  }

  private static func device(_ path: String, _ address: String) -> WireValue {
    object(
      path, "Device1",
      [
        ("Address", .text(address)), ("Name", .text("Phone")), ("Connected", .boolean(true)),
        ("Adapter", .path(String(path.prefix("/org/bluez/hci0".count)))),
      ])
  }

  /// An adapter, two devices that are connected, and what our side tells.
  private final class Station: Sendable {
    let events = Watched<[ServingEvent]>([])
    let bus: FakeBus
    let session: any ServingSession

    init(
      isOn: Bool = true, hasAdapter: Bool = true,
      _ answer: @escaping @Sendable (FakeBus.Call) -> FakeBus.Answer? = { _ in nil }
    ) throws {
      let events = events
      bus = try FakeBus { call in
        if let answer = answer(call) { return answer }
        guard call.member == "GetManagedObjects" else { return nil }
        let adapter = object(
          "/org/bluez/hci0", "Adapter1", [("Address", .text("00:AA:01:00:00:42")), ("Powered", .boolean(isOn))])
        let devices = [device(phone, "AA:BB:CC:DD:EE:FF"), device(other, "AA:BB:CC:DD:EE:01")]
        return .values([.array("{oa{sa{sv}}}", hasAdapter ? [adapter] + devices : [])])
      }
      session = BlueZRadio(bus.address).beginServing { event in events.update { $0.append(event) } }
    }

    /// One with the service.
    static func serving(_ answer: @escaping @Sendable (FakeBus.Call) -> FakeBus.Answer? = { _ in nil }) async throws
      -> Station
    {
      let station = try Station(answer)
      station.session.send(.publish(service))
      try await station.wait(.published(1, nil))
      return station
    }

    func wait(_ event: ServingEvent) async throws { try await events.wait { $0.contains(event) } }

    /// The requests that were told.
    var requests: [ServingRequest] {
      events.value.compactMap { if case .request(let request) = $0 { request } else { nil } }
    }

    func calls(_ member: String) -> Int { bus.calls.count { $0.member == member } }

    /// Calls a method of a characteristic of ours for a device.
    func ask(
      _ path: String, _ member: String, _ bytes: [UInt8]? = nil, device: String = ServingTests.phone,
      offset: UInt16? = nil, sender: String = FakeBus.owner
    ) {
      var options: [(String, WireValue)] = [("device", .path(device)), ("mtu", .uint16(185)), ("link", .text("LE"))]
      if let offset { options.append(("offset", .uint16(offset))) }
      let value = bytes.map { [WireValue.array("y", $0.map { .byte($0) })] } ?? []
      bus.call(path, ServingTests.characteristic, member, value + [.properties(options)], sender: sender)
    }

    /// The next answer of ours, after `count` others.
    func answer(_ count: Int = 0) async throws -> (error: String?, body: [UInt8]) {
      try await eventually("an answer") { bus.answers.count > count }
      return bus.answers[count]
    }
  }

  private static func bytes(_ bytes: [UInt8]) -> [UInt8] { [UInt8(bytes.count), 0, 0, 0] + bytes }

  // MARK: - Offering

  @Test func aServiceIsAnApplicationOfItsOwn() async throws {
    let station = try await Station.serving()
    #expect(station.events.value == [.state(.on), .published(1, nil)])
    let call = try #require(station.bus.calls.first { $0.member == "RegisterApplication" })
    #expect(call.path == "/org/bluez/hci0")
    #expect(call.body.starts(with: [36, 0, 0, 0] + Array(Self.root.utf8)))
    station.bus.call(Self.root, "org.freedesktop.DBus.ObjectManager", "GetManagedObjects", [])
    let body = String(decoding: try await station.answer().body, as: UTF8.self)
    for text in [
      "GattService1", "GattCharacteristic1", "GattDescriptor1", "0000ffe0-0000-1000-8000-00805f9b34fb",
      "write-without-response", "notify", "encrypt-read", "encrypt-indicate", Self.port + "/desc0", "NotifyAcquired",
    ] { #expect(body.contains(text), "\(text)") }
    station.session.close()
    try await eventually("the conversation has ended") { station.bus.calls.count > 0 }
  }

  @Test func whatIsOfferedIsToldToAll() async throws {
    let station = try await Station.serving()
    station.session.send(.offer(ServedOffer("Robot", [BluetoothUUID(short: 0xFFE0)])))
    try await station.wait(.offered(nil))
    let call = try #require(station.bus.calls.first { $0.member == "RegisterAdvertisement" })
    let path = ServedObjects.tree + "/advertisement1"
    #expect(call.path == "/org/bluez/hci0" && call.body.starts(with: Self.bytes(Array(path.utf8))))
    station.bus.call(path, "org.freedesktop.DBus.Properties", "GetAll", [.text("org.bluez.LEAdvertisement1")])
    let body = String(decoding: try await station.answer().body, as: UTF8.self)
    for text in ["peripheral", "Robot", "0000ffe0-0000-1000-8000-00805f9b34fb"] { #expect(body.contains(text)) }

    // Another offer takes the place of the first.
    station.session.send(.offer(ServedOffer("Tank", [])))
    try await eventually("the new one") { station.calls("RegisterAdvertisement") == 2 }
    #expect(station.calls("UnregisterAdvertisement") == 1)
    station.session.send(.offer(nil))
    try await eventually("none") { station.calls("UnregisterAdvertisement") == 2 }
    station.session.send(.withdraw(1))
    try await eventually("no service") { station.calls("UnregisterApplication") == 1 }
    station.session.close()
  }

  @Test(arguments: [
    ("org.bluez.Error.InvalidLength", AccessoryError.Kind.misconfigured),
    ("org.bluez.Error.NotPermitted", .busy), ("org.freedesktop.DBus.Error.UnknownMethod", .unsupported),
  ]) func aRefusalIsToldInWords(error: String, kind: AccessoryError.Kind) async throws {
    let station = try await Station.serving { $0.member == "RegisterAdvertisement" ? .error(error, "no") : nil }
    station.session.send(.offer(ServedOffer("Robot", [])))
    let events = try await station.events.wait { $0.count == 3 }
    let failures = events.compactMap { if case .offered(let failure) = $0 { failure } else { nil } }
    #expect(failures.map(\.kind) == [kind] && failures.allSatisfy { !$0.message.isEmpty })
    station.session.close()
  }

  @Test func whatCannotBeOfferedIsRefusedHere() async throws {
    let station = try Station()
    try await station.wait(.state(.on))
    let long = ServedCharacteristic(
      BluetoothUUID(short: 1), handle: 1, properties: 2, value: [UInt8](repeating: 0, count: 513))
    let useless = ServedCharacteristic(BluetoothUUID(short: 1), handle: 1, properties: 0)
    let many = (0..<65).map { ServedCharacteristic(BluetoothUUID(short: 1), handle: $0, properties: 2) }
    for (number, characteristics) in [[long], [useless], many].enumerated() {
      station.session.send(.publish(ServedService(BluetoothUUID(short: 2), number: number, characteristics)))
    }
    let events = try await station.events.wait { $0.count == 4 }
    for case .published(_, let failure) in events { #expect(failure?.kind == .misconfigured) }
    #expect(station.calls("RegisterApplication") == 0)
    station.session.close()
  }

  @Test func whenTheAdapterIsOffNothingIsRegisteredUntilItIsOn() async throws {
    let station = try Station(isOn: false)
    try await station.wait(.state(.off))
    station.session.send(.publish(Self.service))
    station.bus.changed("/org/bluez/hci0", "org.bluez.Adapter1", [("Powered", .boolean(true))])
    try await station.wait(.published(1, nil))
    #expect(station.events.value == [.state(.off), .state(.on), .published(1, nil)])
    station.session.close()
  }

  @Test func withoutAnAdapterItIsUnsupported() async throws {
    let station = try Station(hasAdapter: false)
    try await station.wait(.state(.unsupported))
    station.session.close()
  }

  @Test func afterBluetoothdWasStartedAnewEverythingIsRegisteredAgain() async throws {
    let station = try await Station.serving()
    station.session.send(.offer(ServedOffer("Robot", [])))
    try await station.wait(.offered(nil))
    station.ask(Self.port, "AcquireNotify")
    try await station.wait(.subscribed(Self.central, handle: 7))
    func owner(_ old: String, _ new: String) {
      station.bus.signal(
        "/org/freedesktop/DBus", "org.freedesktop.DBus", "NameOwnerChanged",
        [.text("org.bluez"), .text(old), .text(new)], sender: "org.freedesktop.DBus")
    }
    owner(FakeBus.owner, "")
    try await station.wait(.state(.resetting))
    owner("", FakeBus.owner)
    try await eventually("both again") {
      station.calls("RegisterApplication") == 2 && station.calls("RegisterAdvertisement") == 2
    }
    #expect(
      station.events.value == [
        .state(.on), .published(1, nil), .offered(nil), .subscribed(Self.central, handle: 7),
        .unsubscribed(Self.central, handle: 7), .left(Self.peer), .state(.resetting), .state(.on),
      ])
    station.session.close()
  }

  @Test func anAdvertisementThatBluetoothdHasEndedIsBegunAgain() async throws {
    let station = try await Station.serving()
    station.session.send(.offer(ServedOffer("Robot", [])))
    try await station.wait(.offered(nil))
    station.bus.call(ServedObjects.tree + "/advertisement1", "org.bluez.LEAdvertisement1", "Release", [])
    try await eventually("again") { station.calls("RegisterAdvertisement") == 2 }
    station.session.close()
  }

  // MARK: - Requests

  @Test func readsAreAnsweredByTheClient() async throws {
    let station = try await Station.serving()
    station.ask(Self.port, "ReadValue", offset: 2)
    try await eventually("a request") { station.requests.count == 1 }
    let request = station.requests[0]
    #expect(request == ServingRequest(request.id, Self.central, 7, offset: 2))
    station.session.send(.answer(request.id, .success([5, 6])))
    #expect(try await station.answer().body == Self.bytes([5, 6]))
    // Only once.
    station.session.send(.answer(request.id, .success([7])))
    station.ask(Self.level, "ReadValue", offset: 1)
    #expect(try await station.answer(1).body == Self.bytes([2, 3]))
    station.ask(Self.level, "ReadValue", offset: 4)
    #expect(try await station.answer(2).error == "org.bluez.Error.InvalidOffset")
    #expect(station.requests.count == 1)
    station.session.close()
  }

  @Test func writesAreAnsweredByTheClient() async throws {
    let station = try await Station.serving()
    station.ask(Self.port, "WriteValue", [1, 2, 3])
    station.ask(Self.port, "WriteValue", [4], device: Self.other)
    try await eventually("requests") { station.requests.count == 2 }
    let requests = station.requests
    #expect(requests[0] == ServingRequest(requests[0].id, Self.central, 7, bytes: [1, 2, 3]))
    #expect(requests[1].central.peer != Self.peer)
    station.session.send(.answer(requests[1].id, .failure(.refused(0x81))))
    station.session.send(.answer(requests[0].id, .success([])))
    #expect(try await station.answer().error == "org.bluez.Error.Failed")
    let second = try await station.answer(1)
    #expect(second.error == nil && second.body.isEmpty)
    // What can't be written, what is too long, and what isn't there.
    station.ask(Self.level, "WriteValue", [1])
    station.ask(Self.port, "WriteValue", [UInt8](repeating: 0, count: 513))
    station.ask(Self.root + "/service/char99", "WriteValue", [1])
    for count in 2...4 { #expect(try await station.answer(count).error != nil) }
    #expect(station.requests.count == 2)
    station.session.close()
  }

  @Test(
    arguments: [
      (2, "NotPermitted"), (3, "NotPermitted"), (6, "NotSupported"), (7, "InvalidOffset"), (8, "NotAuthorized"),
      (13, "InvalidValueLength"), (0x80, "Failed"), (0x9F, "Failed"),
    ] as [(UInt8, String)]) func refusalsAreWhatBluetoothdMakesThisNumberOf(number: UInt8, name: String)
  {
    #expect(BlueZServer.failure(.refused(number)).name == "org.bluez.Error.\(name)")
  }

  @Test func strangersOnTheBusAreRefused() async throws {
    let station = try await Station.serving()
    station.ask(Self.port, "WriteValue", [1], sender: ":1.99")
    #expect(try await station.answer().error == "org.freedesktop.DBus.Error.AccessDenied")
    #expect(station.requests.isEmpty)
    station.session.close()
  }

  @Test func requestsThatNobodyAnswersAreLimited() async throws {
    let station = try await Station.serving()
    for _ in 0..<70 { station.ask(Self.port, "WriteValue", [1]) }
    try await eventually("refusals") { station.bus.answers.count == 6 }
    #expect(station.requests.count == 64)
    station.session.close()
  }

  // MARK: - Values

  @Test func eachDeviceThatWantsValuesIsKnown() async throws {
    let station = try await Station.serving()
    station.ask(Self.port, "AcquireNotify")
    // bluetoothd asks in the older way then, which doesn't say who.
    #expect(try await station.answer().error == "org.bluez.Error.NotSupported")
    station.bus.call(Self.port, Self.characteristic, "StartNotify", [])
    station.ask(Self.port, "AcquireNotify", device: Self.other)
    try await station.events.wait { $0.count == 4 }
    #expect(station.events.value[2] == .subscribed(Self.central, handle: 7))
    // One leaves; then the other wants no more.
    station.bus.changed(Self.phone, "org.bluez.Device1", [("Connected", .boolean(false))])
    try await station.wait(.left(Self.peer))
    #expect(station.events.value[4...] == [.unsubscribed(Self.central, handle: 7), .left(Self.peer)])
    station.bus.call(Self.port, Self.characteristic, "StopNotify", [])
    try await station.events.wait { $0.count == 7 }
    station.session.close()
  }

  /// An older bluetoothd doesn't say who: with one device at the adapter it is clear, whatever another adapter has.
  @Test func whoWantsValuesIsTheOnlyDeviceOfTheAdapter() async throws {
    let station = try await Station.serving { call in
      guard call.member == "GetManagedObjects" else { return nil }
      let adapter = Self.object(
        "/org/bluez/hci0", "Adapter1", [("Address", .text("00:AA:01:00:00:42")), ("Powered", .boolean(true))])
      let elsewhere = Self.device("/org/bluez/hci1/dev_00_AA_01_00_00_42", "00:AA:01:00:00:42")
      return .values([.array("{oa{sa{sv}}}", [adapter, Self.device(Self.phone, "AA:BB:CC:DD:EE:FF"), elsewhere])])
    }
    station.bus.call(Self.port, Self.characteristic, "StartNotify", [])
    try await station.events.wait { events in
      events.contains { if case .subscribed(let central, 7) = $0 { central.peer == Self.peer } else { false } }
    }
    station.session.close()
  }

  @Test func valuesAreSignalsAndNoMoreWaitThanThereIsRoomFor() async throws {
    let goOn = DispatchSemaphore(value: 0)
    let isStopped = Locked(true)
    let station = try await Station.serving { call in
      if call.member == "Ping", isStopped.withLock({ $0 }) { goOn.wait() }
      return nil
    }
    let accepted = (0..<200).prefix { station.session.notify(7, [UInt8($0)]) }.count
    #expect(accepted == ServingRoom.limits.most && !station.events.value.contains(.ready))
    isStopped.withLock { $0 = false }
    goOn.signal()
    try await station.wait(.ready)
    try await eventually("signals") { station.bus.signals.count == accepted }
    #expect(station.bus.signals.allSatisfy { $0.path == Self.port && $0.member == "PropertiesChanged" })
    // Each has its value behind the type and the count of an array.
    let values = (0..<UInt8(accepted)).map { value in
      station.bus.signals[Int(value)].body.suffix(12).contains(value)
    }
    #expect(!values.contains(false))
    #expect(station.session.notify(7, [1]))
    station.session.close()
  }
}
