// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import AccessoryBluetooth

/// The conversation with bluetoothd and the transport, against a bus that answers what a test says.
@Suite struct BlueZTests {
  private static let device = "/org/bluez/hci0/dev_AA_BB_CC_DD_EE_FF"
  private static let service = device + "/service0001"
  private static let port = service + "/char0002"
  private static let address = BluetoothAddress("AA:BB:CC:DD:EE:FF")!
  private static let uuid = "0000ffe0-0000-1000-8000-00805f9b34fb"

  /// One adapter, and one device with a serial port, connected by another program.
  private static func objects(_ flags: [String], isPowered: Bool = true, isBluno: Bool = false) -> WireValue {
    func number(_ short: String) -> WireValue { .text("0000\(short)-0000-1000-8000-00805f9b34fb") }
    func object(_ path: String, _ interface: String, _ properties: [(String, WireValue)]) -> WireValue {
      .entry(.path(path), .array("{sa{sv}}", [.entry(.text(interface), .properties(properties))]))
    }
    let commands = object(
      service + "/char0004", "org.bluez.GattCharacteristic1",
      [("UUID", number("dfb2")), ("Service", .path(service)), ("Flags", .texts(["write"]))])
    return .array(
      "{oa{sa{sv}}}",
      (isBluno ? [commands] : []) + [
        object(
          "/org/bluez/hci0", "org.bluez.Adapter1",
          [("Address", .text("00:AA:01:00:00:42")), ("Powered", .boolean(isPowered))]),
        object(
          device, "org.bluez.Device1",
          [
            ("Address", .text("AA:BB:CC:DD:EE:FF")), ("Name", .text("HMSoft")), ("Connected", .boolean(true)),
            ("ServicesResolved", .boolean(true)), ("RSSI", .int16(-40)), ("UUIDs", .texts([uuid])),
            ("ManufacturerData", .array("{qv}", [.entry(.uint16(76), .variant(.array("y", [.byte(1)])))])),
          ]),
        object(
          service, "org.bluez.GattService1",
          [("UUID", number(isBluno ? "dfb0" : "ffe0")), ("Device", .path(device))]),
        object(
          port, "org.bluez.GattCharacteristic1",
          [
            ("UUID", number(isBluno ? "dfb1" : "ffe1")), ("Service", .path(service)),
            ("Flags", .texts(flags)),
          ]),
      ])
  }

  private static func bus(
    _ flags: [String] = ["notify", "write-without-response"], isPowered: Bool = true,
    _ answer: @escaping @Sendable (FakeBus.Call) -> FakeBus.Answer? = { _ in nil }
  ) throws -> FakeBus {
    try FakeBus { call in
      if let answer = answer(call) { return answer }
      return call.member == "GetManagedObjects" ? .values([objects(flags, isPowered: isPowered)]) : nil
    }
  }

  // MARK: - Objects

  @Test func theObjectsAreRead() async throws {
    let bus = try Self.bus()
    let bluez = try await BlueZ.open(bus.address)
    let objects = await bluez.objects
    #expect(objects.adaptersByName.map(\.isPowered) == [true])
    let device = try #require(objects.device(at: Self.address))
    #expect(device.name == "HMSoft" && device.isConnected && device.signalStrength == -40)
    #expect(device.manufacturerData == [76: [1]])
    #expect(objects.table(of: device.path).first?.characteristics.first?.notifies == true)
    await bluez.close()
  }

  @Test func onlyBluetoothdIsBelieved() async throws {
    let bus = try Self.bus()
    let bluez = try await BlueZ.open(bus.address)
    bus.changed(Self.device, "org.bluez.Device1", [("Name", .text("stranger"))], sender: ":1.66")
    bus.changed(Self.device, "org.bluez.Device1", [("RSSI", .int16(-77))])
    let late = AccessoryError(.timedOut, "no signal came")
    let name = try await bluez.first(within: .seconds(20), otherwise: late) { objects in
      objects.devices[Self.device]?.signalStrength == -77 ? .success(objects.devices[Self.device]?.name) : nil
    }
    #expect(name == "HMSoft")
    await bluez.close()
  }

  @Test func withoutBluetoothd() async throws {
    let bus = try Self.bus { call in
      call.member == "GetNameOwner" ? .error("org.freedesktop.DBus.Error.NameHasNoOwner", "no") : nil
    }
    let error = await #expect(throws: AccessoryError.self) { try await BlueZ.open(bus.address) }
    #expect(error?.kind == .disconnected && error?.message.contains("systemctl start bluetooth") == true)
  }

  @Test func withoutABus() async throws {
    let error = await #expect(throws: AccessoryError.self) { try await BlueZ.open("unix:path=/nowhere/bus") }
    #expect(error?.kind == .disconnected && error?.message.contains("system bus") == true)
  }

  @Test func withoutPermission() async throws {
    let bus = try Self.bus { call in
      call.member == "GetManagedObjects" ? .error("org.freedesktop.DBus.Error.AccessDenied", "not\u{1B}[31m you") : nil
    }
    let error = await #expect(throws: AccessoryError.self) { try await BlueZ.open(bus.address) }
    #expect(error?.kind == .permissionDenied && error?.message.contains("\u{1B}") == false)
  }

  @Test func anAdapterThatIsOff() async throws {
    let bus = try Self.bus(isPowered: false)
    let bluez = try await BlueZ.open(bus.address)
    let error = await #expect(throws: AccessoryError.self) {
      try await bluez.search(.lowEnergy, for: .seconds(1)) { _ in }
    }
    #expect(error?.kind == .misconfigured && error?.message.contains("hci0 is off") == true)
    await bluez.close()
  }

  /// A reply of another form than BlueZ's, and then bytes that are no message at all.
  @Test func nonsense() async throws {
    let bus = try Self.bus { call in
      call.member == "GetManagedObjects" ? .values([.array("{sv}", [.entry(.text("x"), .variant(.byte(1)))])]) : nil
    }
    let bluez = try await BlueZ.open(bus.address)
    #expect(await bluez.objects == BluetoothObjects())
    let gone = OneShot<AccessoryError>()
    _ = await bluez.observe { event, _ in if case .gone(let error) = event { gone.finish(error) } }
    bus.send([UInt8](repeating: 0x6C, count: 4_096))
    #expect(await gone.value().kind == .disconnected)
    await bluez.close()
  }

  /// A call that is cancelled, and one that waits for a signal: the errors of both were made without end.
  @Test func cancelled() async throws {
    #expect(AccessoryError(refusal: .cancelled, "connecting to ble:x").kind == .cancelled)
    let bus = try Self.bus()
    let bluez = try await BlueZ.open(bus.address)
    let waiting = Task {
      try await bluez.first(within: .seconds(20), otherwise: AccessoryError(.timedOut, "late")) {
        _ -> Result<Void, AccessoryError>? in nil
      }
    }
    waiting.cancel()
    let error = await #expect(throws: AccessoryError.self) { try await waiting.value }
    #expect(error?.kind == .cancelled)
    await bluez.close()
  }

  // MARK: - Connecting

  private static func connection(_ isThere: Bool) -> [(String, WireValue)] {
    [("Connected", .boolean(isThere)), ("ServicesResolved", .boolean(isThere))]
  }

  /// Connects with a bluetoothd whose device isn't connected at first. `answer` gets each `Connect` with its number.
  private func connect(
    _ answer: @escaping @Sendable (FakeBus, Int) -> FakeBus.Answer?
  ) async throws -> (isOurs: Bool, members: [String]) {
    let fake = Locked<FakeBus?>(nil)
    let count = Locked(0)
    let bus = try Self.bus { call in
      guard let bus = fake.withLock({ $0 }) else { return nil }
      switch call.member {
      case "Connect":
        let number = count.withLock { count in
          count += 1
          return count
        }
        return answer(bus, number)
      case "StartDiscovery":
        bus.signal(
          "/", "org.freedesktop.DBus.ObjectManager", "InterfacesAdded",
          [
            .path(Self.device),
            .array(
              "{sa{sv}}",
              [
                .entry(
                  .text("org.bluez.Device1"),
                  .properties([
                    ("Address", .text("AA:BB:CC:DD:EE:FF")), ("Adapter", .path("/org/bluez/hci0")),
                  ]))
              ]),
          ])
        return nil
      default: return nil
      }
    }
    fake.withLock { $0 = bus }
    defer { fake.withLock { $0 = nil } }
    let bluez = try await BlueZ.open(bus.address)
    bus.changed(Self.device, "org.bluez.Device1", Self.connection(false))
    let late = AccessoryError(.timedOut, "it stays")
    try await bluez.first(within: .seconds(20), otherwise: late) { objects in
      objects.devices[Self.device]?.isConnected == false ? .success(()) : nil
    }
    let isOurs = try await bluez.connect(
      Self.address, by: nil, label: "ble:x", searching: .seconds(20), within: .seconds(20)
    ).isOurs
    await bluez.close()
    return (isOurs, bus.calls.map(\.member))
  }

  /// A device that hasn't heard the request is connected for bluetoothd, and lost a moment later.
  @Test func aConnectionThatIsLostAtOnceIsMadeAgain() async throws {
    let result = try await connect { bus, number in
      bus.changed(Self.device, "org.bluez.Device1", [("Connected", .boolean(true))])
      bus.changed(Self.device, "org.bluez.Device1", Self.connection(number > 1))
      return nil
    }
    #expect(result.isOurs && result.members == ["GetManagedObjects", "Connect", "Connect"])
  }

  @Test func aConnectionThatIsLostAgainAndAgainIsGivenUp() async throws {
    let error = await #expect(throws: AccessoryError.self) {
      try await connect { bus, _ in
        bus.changed(Self.device, "org.bluez.Device1", [("Connected", .boolean(true))])
        bus.changed(Self.device, "org.bluez.Device1", Self.connection(false))
        return nil
      }
    }
    #expect(error?.kind == .disconnected)
  }

  /// bluetoothd forgets a device that it hasn't heard for half a minute.
  @Test func aDeviceThatIsForgottenMeanwhileIsLookedForAgain() async throws {
    let result = try await connect { bus, number in
      guard number == 1 else {
        bus.changed(Self.device, "org.bluez.Device1", Self.connection(true))
        return nil
      }
      bus.signal(
        "/", "org.freedesktop.DBus.ObjectManager", "InterfacesRemoved",
        [.path(Self.device), .texts(["org.bluez.Device1"])])
      return .error("org.freedesktop.DBus.Error.UnknownMethod", "no such method")
    }
    #expect(
      result.members == [
        "GetManagedObjects", "Connect", "SetDiscoveryFilter", "StartDiscovery", "StopDiscovery", "Connect",
      ])
  }

  // MARK: - Pairing

  /// What asks for it: a refusal of the call, or no answer to it. Nothing is said to a device that is paired.
  @Test(arguments: [
    ("org.bluez.Error.NotPermitted", "Insufficient Encryption", AccessoryError.Kind.permissionDenied),
    ("org.bluez.Error.NotAuthorized", "Not Authorized", .permissionDenied),
    ("org.bluez.Error.Failed", "Operation failed with ATT error: 0x05", .permissionDenied),
    ("org.freedesktop.DBus.Error.NoReply", "time out", .timedOut),
  ]) func aDeviceThatWantsToBePairedIsToldSo(name: String, text: String, kind: AccessoryError.Kind) async throws {
    for isPaired in [false, true] {
      let bus = try Self.bus { call in call.member == "AcquireNotify" ? .error(name, text) : nil }
      let bluez = try await BlueZ.open(bus.address)
      bus.changed(Self.device, "org.bluez.Device1", [("Paired", .boolean(isPaired))])
      bus.changed(Self.device, "org.bluez.Device1", [("RSSI", .int16(-41))])
      let late = AccessoryError(.timedOut, "it stays")
      try await bluez.first(within: .seconds(20), otherwise: late) { objects in
        objects.devices[Self.device]?.signalStrength == -41 ? .success(()) : nil
      }
      let error = await #expect(throws: AccessoryError.self) {
        try await GATTTransport.open(Self.address, GATTSettings(), label: "ble:x", over: bluez)
      }
      #expect(error?.kind == kind)
      #expect(
        error?.message.contains("bridge-cli bluetooth pair ble:AA:BB:CC:DD:EE:FF") == !isPaired,
        "\(error?.message ?? "")")
      await bluez.close()
    }
  }

  /// A device that has been connected before doesn't even tell its services, as bluetoothd waits for one that it wants to read.
  @Test func aConnectedDeviceThatDoesNotTellItsServices() async throws {
    let bus = try Self.bus()
    let bluez = try await BlueZ.open(bus.address)
    bus.changed(Self.device, "org.bluez.Device1", [("ServicesResolved", .boolean(false))])
    let late = AccessoryError(.timedOut, "it stays")
    try await bluez.first(within: .seconds(20), otherwise: late) { objects in
      objects.devices[Self.device]?.hasServicesResolved == false ? .success(()) : nil
    }
    let error = await #expect(throws: AccessoryError.self) {
      try await bluez.connect(Self.address, by: nil, label: "ble:x", searching: .zero, within: .zero)
    }
    #expect(error?.kind == .timedOut)
    #expect(
      error?.message == "ble:x is connected, but doesn't tell its services; if it must be paired first: "
        + "bridge-cli bluetooth pair ble:AA:BB:CC:DD:EE:FF")
    await bluez.close()
  }

  // MARK: - The transport

  /// bluetoothd offers no sockets: notifications are signals, writes are calls.
  @Test func bySignalsAndCalls() async throws {
    let bus = try Self.bus(["notify", "write"]) { call in
      call.member == "AcquireNotify" ? .error("org.bluez.Error.NotSupported", "no") : nil
    }
    let bluez = try await BlueZ.open(bus.address)
    let transport = try await GATTTransport.open(Self.address, GATTSettings(), label: "ble:x", over: bluez)
    let reader = InputReader(transport.input)
    bus.changed(Self.port, "org.bluez.GattCharacteristic1", [("Value", .array("y", [.byte(7), .byte(8)]))])
    #expect(try await reader.read(2) == [7, 8])
    #expect(transport.output.offer([UInt8](repeating: 9, count: 45)) == .accepted)
    try await eventually("three writes") { bus.bodies(of: "WriteValue").count == 3 }
    // The arguments begin with the length of the bytes.
    #expect(bus.bodies(of: "WriteValue").map(\.first) == [20, 20, 5])
    await transport.close()
    #expect(bus.calls.contains { $0.member == "StopNotify" })
    #expect(!bus.calls.contains { $0.member == "Disconnect" }, "another program has connected it")
  }

  /// Signals can't be held back, so a device that sends what nobody reads is given up, with what has arrived.
  @Test func signalsThatNobodyReadsEndTheConnection() async throws {
    let bus = try Self.bus(["notify", "write"]) { call in
      call.member == "AcquireNotify" ? .error("org.bluez.Error.NotSupported", "no") : nil
    }
    let bluez = try await BlueZ.open(bus.address)
    let transport = try await GATTTransport.open(Self.address, GATTSettings(), label: "ble:x", over: bluez)
    let packet = WireValue.array("y", [WireValue](repeating: .byte(7), count: 4_096))
    try await blocking {
      for _ in 0..<(2 * GATTTransport.unreadLimit / 4_096) {
        bus.changed(Self.port, "org.bluez.GattCharacteristic1", [("Value", packet)])
      }
    }
    try await eventually("it has ended") { transport.output.offer([1]) != .accepted }
    let end = try await InputReader(transport.input).readToEnd()
    #expect(end.error?.kind == .ioFailure)
    #expect(end.bytes.count > GATTTransport.unreadLimit && end.bytes.count < 2 * GATTTransport.unreadLimit)
    await transport.close()
  }

  @Test func bySockets() async throws {
    let (ourNotify, theirNotify) = try Self.pair()
    let (ourWrite, theirWrite) = try Self.pair()
    let bus = try Self.bus { call in
      switch call.member {
      case "AcquireNotify": .values([.descriptor(0), .uint16(23)], descriptors: [theirNotify])
      case "AcquireWrite": .values([.descriptor(0), .uint16(33)], descriptors: [theirWrite])
      default: nil
      }
    }
    let bluez = try await BlueZ.open(bus.address)
    let transport = try await GATTTransport.open(Self.address, GATTSettings(), label: "ble:x", over: bluez)
    #expect(bus.calls.map(\.member) == ["GetManagedObjects", "AcquireNotify", "AcquireWrite"])
    let reader = InputReader(transport.input)
    _ = try Socket.send([1, 2, 3], to: ourNotify)
    #expect(try await reader.read(3) == [1, 2, 3])
    #expect(transport.output.offer([UInt8](repeating: 5, count: 70)) == .accepted)
    let packets = try await blocking {
      try (0..<3).map { _ in
        var packet = [UInt8](repeating: 0, count: 600)
        let count = read(ourWrite.rawValue, &packet, packet.count)
        guard count > 0 else { throw Errno(rawValue: errno) }
        return count
      }
    }
    #expect(packets == [30, 30, 10])
    // What has arrived comes before the end.
    _ = try Socket.send([4], to: ourNotify)
    // An empty notification isn't the end.
    #expect(send(ourNotify.rawValue, nil, 0, 0) == 0)
    _ = try Socket.send([5], to: ourNotify)
    Socket.close(ourNotify)
    let end = try await reader.readToEnd()
    #expect(end.bytes == [4, 5] && end.error?.kind == .disconnected)
    Socket.close(ourWrite)
    await transport.close()
  }

  /// Notifications one by one and many at a time, from a device that is answered and one that only sends.
  @Test func burstsOfNotificationsArriveWhole() async throws {
    let (ourNotify, theirNotify) = try Self.pair()
    let bus = try Self.bus(["notify", "write"]) { call in
      call.member == "AcquireNotify" ? .values([.descriptor(0), .uint16(23)], descriptors: [theirNotify]) : nil
    }
    let bluez = try await BlueZ.open(bus.address)
    let transport = try await GATTTransport.open(Self.address, GATTSettings(), label: "ble:x", over: bluez)
    let reader = InputReader(transport.input)
    var number: UInt8 = 0
    for size in [1, 1, 100, 1, 64, 2, 1] {
      let sent = (0..<size).map { _ in
        number &+= 1
        return number
      }
      for byte in sent { _ = try Socket.send([byte], to: ourNotify) }
      #expect(try await reader.read(size) == sent)
    }
    await transport.close()
    Socket.close(ourNotify)
  }

  /// Three system calls a turn, as in C: an event, a read, a write.
  @Test func aDeviceThatAnswersOnceCostsOneReadEachTime() {
    var expected = ExpectedPackets()
    for _ in 0..<10 {
      expected.wrote()
      #expect(expected.next() == 1)
      expected.found(1, andNoMore: false)
    }
    // One that sends by itself is read in larger and larger pieces, up to a limit, and in smaller ones when less comes.
    var counts: [Int] = []
    for _ in 0..<10 {
      counts.append(expected.next())
      expected.found(counts.last!, andNoMore: false)
    }
    #expect(counts == [2, 4, 8, 16, 32, 64, 128, 256, 512, 512])
    expected.found(3, andNoMore: true)
    #expect(expected.next() == 3)
    expected.found(0, andNoMore: true)
    #expect(expected.next() == 1)
    // After several writes as many answers are expected, whatever came before.
    for _ in 0..<16 { expected.wrote() }
    #expect(expected.next() == 16)
  }

  /// bluetoothd tells everybody that it forgets a device, for example: 30 seconds after a search. A connection that is quiet isn't
  /// woken by what concerns others.
  @Test func anOpenPortHearsOfItsOwnDeviceOnly() async throws {
    let bus = try Self.bus(["notify", "write"]) { call in
      call.member == "AcquireNotify" ? .error("org.bluez.Error.NotSupported", "no") : nil
    }
    let bluez = try await BlueZ.open(bus.address)
    let transport = try await GATTTransport.open(Self.address, GATTSettings(), label: "ble:x", over: bluez)
    try await eventually("what was asked for at first is taken back") { bus.rules.count == 4 }
    let rules = bus.rules
    #expect(rules.filter { $0.contains("arg0path='\(Self.device)'") }.count == 1)
    #expect(rules.filter { $0.contains("arg0path='\(Self.device)/'") }.count == 1)
    #expect(rules.filter { $0.contains("path_namespace='\(Self.device)'") }.count == 1)
    #expect(rules.filter { $0.contains("NameOwnerChanged") }.count == 1)
    // Its own end is still heard.
    let reader = InputReader(transport.input)
    bus.signal(
      "/", "org.freedesktop.DBus.ObjectManager", "InterfacesRemoved",
      [.path(Self.device), .texts(["org.bluez.Device1"])])
    #expect(try await reader.readToEnd().error?.kind == .disconnected)
    await transport.close()
  }

  /// A Bluno is told its password and the speed of its line before anything else, and refuses what it doesn't like.
  @Test(arguments: [false, true]) func aBlunoIsGreeted(isRefused: Bool) async throws {
    let bus = try FakeBus { call in
      switch call.member {
      case "GetManagedObjects": .values([Self.objects(["notify", "write"], isBluno: true)])
      case "AcquireNotify": .error("org.bluez.Error.NotSupported", "no")
      case "WriteValue" where isRefused: .error("org.bluez.Error.NotPermitted", "no")
      default: nil
      }
    }
    let bluez = try await BlueZ.open(bus.address)
    let notes = Locked<[String]>([])
    if isRefused {
      await #expect(throws: AccessoryError.self) {
        try await GATTTransport.open(Self.address, GATTSettings(), label: "ble:x", over: bluez)
      }
      #expect(!bus.calls.contains { $0.member == "StartNotify" })
      return await bluez.close()
    }
    let transport = try await GATTTransport.open(Self.address, GATTSettings(), label: "ble:x", over: bluez) { note in
      notes.withLock { $0.append(note) }
    }
    #expect(
      bus.calls.map(\.member) == ["GetManagedObjects", "WriteValue", "WriteValue", "AcquireNotify", "StartNotify"])
    let writes = bus.calls.filter { $0.member == "WriteValue" }
    #expect(writes.allSatisfy { $0.path == Self.service + "/char0004" })
    // The arguments begin with the length of the bytes.
    let texts = writes.map { String(decoding: $0.body.dropFirst(4).prefix(20), as: UTF8.self) }
    #expect(texts == ["AT+PASSWOR=DFRobot\r\n", "AT+CURRUART=115200\r\n"])
    #expect(notes.withLock { $0 }.contains { $0.hasPrefix("dfb2 was told the factory's password") })
    await transport.close()
  }

  /// After so many packets a value is read, and its reply waited for.
  @Test func writesWaitForTheDevice() async throws {
    let (ourNotify, theirNotify) = try Self.pair()
    let (ourWrite, theirWrite) = try Self.pair()
    let descriptor = Self.port + "/desc0003"
    let bus = try Self.bus { call in
      switch call.member {
      case "AcquireNotify": .values([.descriptor(0), .uint16(23)], descriptors: [theirNotify])
      case "AcquireWrite": .values([.descriptor(0), .uint16(23)], descriptors: [theirWrite])
      case "ReadValue": .nothing
      default: nil
      }
    }
    let bluez = try await BlueZ.open(bus.address)
    bus.signal(
      "/", "org.freedesktop.DBus.ObjectManager", "InterfacesAdded",
      [
        .path(descriptor),
        .array(
          "{sa{sv}}",
          [
            .entry(
              .text("org.bluez.GattDescriptor1"),
              .properties([
                ("UUID", .text("00002902-0000-1000-8000-00805f9b34fb")), ("Characteristic", .path(Self.port)),
              ]))
          ]),
      ])
    let late = AccessoryError(.timedOut, "no descriptor came")
    try await bluez.first(within: .seconds(20), otherwise: late) { objects in
      objects.clientConfiguration(of: Self.port) == descriptor ? .success(()) : nil
    }
    let transport = try await GATTTransport.open(Self.address, GATTSettings(), label: "ble:x", over: bluez)
    #expect(transport.output.offer([UInt8](repeating: 5, count: 20 * (GATTTransport.window + 10))) == .accepted)
    try await eventually("the value is read") { bus.calls.contains { $0.member == "ReadValue" } }
    var count = 0
    var packet = [UInt8](repeating: 0, count: 600)
    while recv(ourWrite.rawValue, &packet, packet.count, CInt(MSG_DONTWAIT)) > 0 { count += 1 }
    #expect(count == GATTTransport.window && transport.output.queuedCount == 200)
    await transport.close()
    for descriptor in [ourNotify, ourWrite] { Socket.close(descriptor) }
  }

  @Test(arguments: [true, false]) func theEndOfTheConnection(byBus: Bool) async throws {
    let (ourNotify, theirNotify) = try Self.pair()
    let (ourWrite, theirWrite) = try Self.pair()
    let bus = try Self.bus { call in
      switch call.member {
      case "AcquireNotify": .values([.descriptor(0), .uint16(23)], descriptors: [theirNotify])
      case "AcquireWrite": .values([.descriptor(0), .uint16(23)], descriptors: [theirWrite])
      default: nil
      }
    }
    let bluez = try await BlueZ.open(bus.address)
    let transport = try await GATTTransport.open(Self.address, GATTSettings(), label: "ble:x", over: bluez)
    let reader = InputReader(transport.input)
    if byBus {
      bus.hangUp()
    } else {
      bus.changed(Self.device, "org.bluez.Device1", [("Connected", .boolean(false))])
    }
    let end = try await reader.readToEnd()
    #expect(end.error?.kind == .disconnected)
    await transport.close()
    for descriptor in [ourNotify, ourWrite] { Socket.close(descriptor) }
  }

  /// sd-bus passes no signal to a rule that the bus hasn't confirmed; the device leaves just then.
  @Test func aLossIsHeardWhileTheRulesAreExchanged() async throws {
    let (ourNotify, theirNotify) = try Self.pair()
    let place = Locked<FakeBus?>(nil)
    let bus = try Self.bus(["notify", "write"]) { call in
      if call.member == "AddMatch", String(decoding: call.body, as: UTF8.self).contains("namespace='" + Self.device) {
        place.withLock { $0 }?.changed(Self.device, "org.bluez.Device1", [("Connected", .boolean(false))])
      }
      return call.member == "AcquireNotify"
        ? .values([.descriptor(0), .uint16(23)], descriptors: [theirNotify]) : nil
    }
    place.withLock { $0 = bus }
    let bluez = try await BlueZ.open(bus.address)
    let error = await #expect(throws: AccessoryError.self) {
      try await GATTTransport.open(Self.address, GATTSettings(), label: "ble:x", over: bluez)
    }
    #expect(error?.kind == .disconnected)
    Socket.close(ourNotify)
    place.withLock { $0 = nil }
  }

  /// With the socket, or with signals as bleak.
  @Test(arguments: [("NotPermitted", "Notify acquired"), ("InProgress", "In Progress")])
  func anotherProgramHasIt(name: String, text: String) async throws {
    let bus = try Self.bus { call in
      call.member == "AcquireNotify" ? .error("org.bluez.Error." + name, text) : nil
    }
    let bluez = try await BlueZ.open(bus.address)
    let error = await #expect(throws: AccessoryError.self) {
      try await GATTTransport.open(Self.address, GATTSettings(), label: "ble:x", over: bluez)
    }
    #expect(error?.kind == .busy && error?.message.contains("another program uses it") == true)
    await bluez.close()
  }

  /// A trace learns what happens on the air: in few words, whatever the device calls itself.
  @Test func whatHappensIsNoted() async throws {
    let (ourNotify, theirNotify) = try Self.pair()
    let (ourWrite, theirWrite) = try Self.pair()
    let bus = try Self.bus { call in
      switch call.member {
      case "AcquireNotify": .values([.descriptor(0), .uint16(185)], descriptors: [theirNotify])
      case "AcquireWrite": .values([.descriptor(0), .uint16(185)], descriptors: [theirWrite])
      default: nil
      }
    }
    let bluez = try await BlueZ.open(bus.address)
    bus.changed(
      Self.device, "org.bluez.Device1", [("Name", .text("\u{1B}[31m\u{202E}" + String(repeating: "x", count: 9_000)))])
    let late = AccessoryError(.timedOut, "no name came")
    try await bluez.first(within: .seconds(20), otherwise: late) { objects in
      objects.devices[Self.device]?.name == "HMSoft" ? nil : .success(())
    }
    let notes = Locked<[String]>([])
    let transport = try await GATTTransport.open(Self.address, GATTSettings(), label: "ble:x", over: bluez) { note in
      notes.withLock { $0.append(note) }
    }
    let reader = InputReader(transport.input)
    Socket.close(ourNotify)
    _ = try await reader.readToEnd()
    await transport.close()
    Socket.close(ourWrite)
    let told = notes.withLock { $0 }
    #expect(told.count == 4, "\(told)")
    #expect(told[0].hasPrefix("another program was connected to AA:BB:CC:DD:EE:FF (\\u{1b}[31m\\u{202e}xxx"))
    #expect(told[0].hasSuffix(" by hci0, -40 dBm") && told[0].utf8.count < 300)
    #expect(told[1] == "services: ffe0 (ffe1 write-without-response notify)")
    #expect(told[2].hasPrefix("MTU 185: 182 bytes in a packet; notifications of ffe1 are on (by a socket)"))
    #expect(told[3].hasPrefix("disconnected: "))
  }

  // MARK: - Adapters

  /// Two adapters, and a device that both know; the first one is off.
  private static func twoAdapters(isKnownAtTheSecond: Bool = true) throws -> FakeBus {
    func object(_ path: String, _ interface: String, _ properties: [(String, WireValue)]) -> WireValue {
      .entry(.path(path), .array("{sa{sv}}", [.entry(.text(interface), .properties(properties))]))
    }
    func device(_ adapter: String, isPaired: Bool) -> WireValue {
      object(
        adapter + "/dev_AA_BB_CC_DD_EE_FF", "org.bluez.Device1",
        [("Address", .text("AA:BB:CC:DD:EE:FF")), ("Paired", .boolean(isPaired)), ("Adapter", .path(adapter))])
    }
    let objects = [
      object("/org/bluez/hci0", "org.bluez.Adapter1", [("Powered", .boolean(false))]),
      object(
        "/org/bluez/hci1", "org.bluez.Adapter1",
        [("Powered", .boolean(true)), ("Address", .text("00:1A:7D:DA:71:13"))]),
      device("/org/bluez/hci0", isPaired: true),
    ]
    let second = isKnownAtTheSecond ? [device("/org/bluez/hci1", isPaired: false)] : []
    return try FakeBus { call in
      call.member == "GetManagedObjects" ? .values([.array("{oa{sa{sv}}}", objects + second)]) : nil
    }
  }

  /// An adapter that is on goes before one that is off; and who names one gets that one, or an error that names it.
  @Test func theAdapterThatIsMeant() async throws {
    let bus = try Self.twoAdapters()
    let bluez = try await BlueZ.open(bus.address)
    func adapter(_ name: String?) async throws -> String {
      let name = try name.map { try #require(BluetoothAdapterName($0)) }
      return try await bluez.device(at: Self.address, .lowEnergy, by: name, within: .seconds(20)).adapter
    }
    for name in [nil, "hci1", "00:1A:7D:DA:71:13"] { #expect(try await adapter(name) == "/org/bluez/hci1") }
    let off = await #expect(throws: AccessoryError.self) { try await adapter("hci0") }
    #expect(off?.kind == .misconfigured && off?.message.contains("hci0 is off") == true)
    for name in ["hci2", "00:00:00:00:00:01"] {
      let none = await #expect(throws: AccessoryError.self) { try await adapter(name) }
      #expect(
        none?.kind == .notFound && none?.message.contains("no Bluetooth adapter \(name), only hci0, hci1") == true)
    }
    #expect(bus.calls.map(\.member) == ["GetManagedObjects"])
    await bluez.close()
  }

  @Test func aDeviceThatTheAdapterDoesNotKnow() async throws {
    let bus = try Self.twoAdapters(isKnownAtTheSecond: false)
    let bluez = try await BlueZ.open(bus.address)
    let error = await #expect(throws: AccessoryError.self) {
      try await bluez.device(
        at: Self.address, .lowEnergy, by: BluetoothAdapterName("hci1"), within: .milliseconds(50))
    }
    #expect(
      error?.kind == .notFound && error?.message.contains("for the adapter hci1") == true, "\(error?.message ?? "")")
    #expect(bus.calls.filter { $0.member == "StartDiscovery" }.map(\.path) == ["/org/bluez/hci1"])
    await bluez.close()
  }

  /// A search shows a device once.
  @Test func aSearchWithTwoAdapters() async throws {
    let bus = try Self.twoAdapters()
    let bluez = try await BlueZ.open(bus.address)
    for (adapter, strength) in [("hci0", Int16(-50)), ("hci1", -60)] {
      bus.changed("/org/bluez/\(adapter)/dev_AA_BB_CC_DD_EE_FF", "org.bluez.Device1", [("RSSI", .int16(strength))])
    }
    #expect(try await bluez.search(.lowEnergy, for: .milliseconds(200)) { _ in }.map(\.signalStrength) == [-50])
    let second = try await bluez.search(.lowEnergy, by: BluetoothAdapterName("hci1"), for: .milliseconds(50)) { _ in }
    #expect(second.map(\.signalStrength) == [-60])
    await bluez.close()
  }

  // MARK: - A bluetoothd that lies

  /// Sizes that no packet of GATT has. The sockets that came with them are closed.
  @Test(arguments: [UInt16(0), 22, 518, 65_535]) func aSizeOfNoPacket(size: UInt16) async throws {
    let (ours, theirs) = try Self.pair()
    let bus = try Self.bus { call in
      call.member == "AcquireNotify" ? .values([.descriptor(0), .uint16(size)], descriptors: [theirs]) : nil
    }
    let bluez = try await BlueZ.open(bus.address)
    await #expect(throws: AccessoryError.self) {
      try await GATTTransport.open(Self.address, GATTSettings(), label: "ble:x", over: bluez)
    }
    try await Self.expectEnd(of: ours)
    await bluez.close()
  }

  /// One socket that is named twice, and one more than is named: what nobody takes is closed.
  @Test func descriptorsTwiceAndTooMany() async throws {
    let (ours, theirs) = try Self.pair()
    let (other, spare) = try Self.pair()
    let bus = try Self.bus { call in
      call.member == "AcquireNotify"
        ? .values([.descriptor(0), .descriptor(0)], descriptors: [theirs, spare]) : nil
    }
    let bluez = try await BlueZ.open(bus.address)
    await #expect(throws: AccessoryError.self) {
      try await GATTTransport.open(Self.address, GATTSettings(), label: "ble:x", over: bluez)
    }
    for descriptor in [ours, other] { try await Self.expectEnd(of: descriptor) }
    await bluez.close()
  }

  private static func expectEnd(of descriptor: FileDescriptor) async throws {
    let count = try await blocking {
      var wait = pollfd(fd: descriptor.rawValue, events: Int16(POLLIN), revents: 0)
      guard poll(&wait, 1, 20_000) == 1 else { return -1 }
      var byte: UInt8 = 0
      return read(descriptor.rawValue, &byte, 1)
    }
    #expect(count == 0, "the other end is closed")
    Socket.close(descriptor)
  }

  /// The objects go while bluetoothd still answers as if they were there.
  @Test(arguments: ["AcquireNotify", "AcquireWrite"]) func aDeviceIsRemovedAmidACall(member: String) async throws {
    let bus = Locked<FakeBus?>(nil)
    let pairs = Locked<[FileDescriptor]>([])
    let fake = try Self.bus { call in
      if call.member == member {
        for (path, interface) in [
          (Self.port, "org.bluez.GattCharacteristic1"), (Self.service, "org.bluez.GattService1"),
          (Self.device, "org.bluez.Device1"),
        ] {
          bus.withLock { $0 }?.signal(
            "/", "org.freedesktop.DBus.ObjectManager", "InterfacesRemoved", [.path(path), .texts([interface])])
        }
      }
      guard ["AcquireNotify", "AcquireWrite"].contains(call.member), let (ours, theirs) = try? Self.pair() else {
        return nil
      }
      pairs.withLock { $0.append(ours) }
      return .values([.descriptor(0), .uint16(23)], descriptors: [theirs])
    }
    bus.withLock { $0 = fake }
    let bluez = try await BlueZ.open(fake.address)
    let error = await #expect(throws: AccessoryError.self) {
      try await GATTTransport.open(Self.address, GATTSettings(), label: "ble:x", over: bluez)
    }
    #expect(error?.kind == .disconnected, "\(error?.message ?? "")")
    for descriptor in pairs.withLock({ $0 }) { try await Self.expectEnd(of: descriptor) }
    bus.withLock { $0 = nil }
    await bluez.close()
  }

  /// Connected, with its services known, and without any; then connected without its services, which never come.
  @Test func propertiesThatContradictEachOther() async throws {
    let bus = try Self.bus { call in call.member == "Disconnect" ? .nothing : nil }
    let bluez = try await BlueZ.open(bus.address)
    bus.signal(
      "/", "org.freedesktop.DBus.ObjectManager", "InterfacesRemoved",
      [.path(Self.service), .texts(["org.bluez.GattService1"])])
    let late = AccessoryError(.timedOut, "it stays")
    try await bluez.first(within: .seconds(20), otherwise: late) { $0.services.isEmpty ? .success(()) : nil }
    let error = await #expect(throws: AccessoryError.self) {
      try await GATTTransport.open(Self.address, GATTSettings(), label: "ble:x", over: bluez)
    }
    #expect(error?.kind == .unsupported && error?.message.contains("it has no services") == true)
    bus.changed(Self.device, "org.bluez.Device1", [("ServicesResolved", .boolean(false))])
    try await bluez.first(within: .seconds(20), otherwise: late) { objects in
      objects.devices[Self.device]?.hasServicesResolved == false ? .success(()) : nil
    }
    let slow = await #expect(throws: AccessoryError.self) {
      try await bluez.connect(
        Self.address, by: nil, label: "ble:x", searching: .seconds(20), within: .milliseconds(10))
    }
    #expect(slow?.kind == .timedOut)
    await bluez.close()
  }

  /// Another thing in place of a descriptor, and a descriptor that didn't come.
  @Test(arguments: [
    [WireValue.text("x"), .uint16(23)], [.descriptor(0)], [.descriptor(0), .uint16(23)], [.descriptor(7), .uint16(23)],
    [.uint16(23), .uint16(23)], [],
  ]) func aReplyThatMakesNoSense(values: [WireValue]) async throws {
    let bus = try Self.bus { call in call.member == "AcquireNotify" ? .values(values) : nil }
    let bluez = try await BlueZ.open(bus.address)
    await #expect(throws: AccessoryError.self) {
      try await GATTTransport.open(Self.address, GATTSettings(), label: "ble:x", over: bluez)
    }
    await bluez.close()
  }

  /// A pair of sockets like bluetoothd's.
  private static func pair() throws -> (ours: FileDescriptor, theirs: FileDescriptor) {
    var numbers: [CInt] = [0, 0]
    guard socketpair(AF_UNIX, CInt(SOCK_SEQPACKET.rawValue), 0, &numbers) == 0 else { throw Errno(rawValue: errno) }
    return (FileDescriptor(rawValue: numbers[0]), FileDescriptor(rawValue: numbers[1]))
  }
}
