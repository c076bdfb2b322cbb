// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryIO
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import AccessoryBluetooth
@testable import MessageBus

/// A bus that lies, is silent, or tells too much.
@Suite(.timeLimit(.minutes(Patience.minutes(1)))) struct HostileBusTests {
  private static let device = "/org/bluez/hci0/dev_AA_BB_CC_DD_EE_FF"
  private static let uuid = "0000ffe1-0000-1000-8000-00805f9b34fb"

  private func added(_ path: String, _ interface: String, _ values: [(String, BusValue)]) -> BusMessage {
    let properties = BusValue.dictionary(values.map { .init(.text($0.0), $0.1) })
    return BusMessage(sender: ":1.5", values: [.path(path), .dictionary([.init(.text(interface), properties)])])
  }

  // MARK: - Made-up messages

  /// A short piece of what the fuzz target does.
  @Test(arguments: UInt64(1)...6) func madeUpMessages(seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    let input = (0..<2_048).map { _ in UInt8.random(in: 0...255, using: &random) }
    // Only the I/O thread uses sd-bus.
    let understood = OneShot<Int?>()
    IOThread.shared.post {
      var bus = MadeUpBus(input)
      understood.finish(bus?.run())
    }
    #expect(try #require(await understood.value()) > 5)
  }

  /// Signals with wrong types, and then bytes that are no message: each ends in what an end of the bus is.
  @Test(arguments: UInt64(1)...8) func followingABusThatLies(seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    let bus = try FakeBus { _ in nil }
    let bluez = try await BlueZ.open(bus.address)
    let gone = OneShot<Void>()
    _ = await bluez.observe { event, _ in if case .gone = event { gone.finish(()) } }
    let interfaces = ["org.freedesktop.DBus.ObjectManager", "org.freedesktop.DBus.Properties", "org.freedesktop.DBus"]
    let members = ["InterfacesAdded", "InterfacesRemoved", "PropertiesChanged", "NameOwnerChanged"]
    for number in 0..<200 {
      var message = WireMessage(.signal)
      (message.path, message.sender) = (Self.device, FakeBus.owner)
      message.interface = interfaces.randomElement(using: &random)
      message.member = members.randomElement(using: &random)
      message.body = (0..<Int.random(in: 0...4, using: &random)).map { _ in Self.value(&random, depth: 0) }
      var bytes = message.bytes
      if number > 150 {
        bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      bus.send(bytes)
    }
    bus.hangUp()
    await gone.value()
    #expect(await bluez.objects == BluetoothObjects())
    await bluez.close()
  }

  private static func value(_ random: inout SeededGenerator, depth: Int) -> WireValue {
    switch Int.random(in: 0...(depth < 6 ? 9 : 5), using: &random) {
    case 0:
      .text(["org.bluez.Device1", "org.bluez.GattCharacteristic1", "", "\u{1B}[2J"].randomElement(using: &random)!)
    case 1: .path(device)
    case 2: .boolean(Bool.random(using: &random))
    case 3: .uint32(UInt32.random(in: 0...(.max), using: &random))
    case 4: .byte(UInt8.random(in: 0...255, using: &random))
    case 5: .texts(["org.bluez.Device1"])
    case 6: .variant(value(&random, depth: depth + 1))
    case 7: .properties([("Name", value(&random, depth: depth + 1)), ("RSSI", value(&random, depth: depth + 1))])
    case 8: .array("v", (0..<3).map { _ in .variant(value(&random, depth: depth + 1)) })
    default:
      .array(
        "{sa{sv}}", [.entry(.text("org.bluez.Device1"), .properties([("Value", value(&random, depth: depth + 1))]))])
    }
  }

  // MARK: - Limits

  @Test func aMessageThatNamesADescriptorAgainAndAgain() async throws {
    let bus = try FakeBus { call in
      guard call.member == "Ask" else { return nil }
      let end = open("/dev/null", O_RDONLY)
      let count = BusReader.descriptorLimit + 1
      return .values(
        [.array("h", Array(repeating: .descriptor(0), count: count))], descriptors: [FileDescriptor(rawValue: end)])
    }
    let bluez = try await BlueZ.open(bus.address)
    await #expect(throws: BusFailure.malformed) { try await bluez.call("/", "a.b", "Ask") }
    await bluez.close()
  }

  @Test func longBytesAreCutOff() async throws {
    let bus = try FakeBus { call in
      call.member == "Ask" ? .values([.array("y", Array(repeating: .byte(7), count: 100_000))]) : nil
    }
    let bluez = try await BlueZ.open(bus.address)
    let values = try await bluez.call("/", "a.b", "Ask")
    #expect(values.first?.bytes?.count == BusReader.textLimit)
    await bluez.close()
  }

  /// A table of 4,096 services with 8,192 characteristics is sorted out in a moment, and told in a few words.
  @Test func aLargeTable() throws {
    var objects = BluetoothObjects()
    for number in 0..<BluetoothObjects.limits.services {
      objects.added(
        added(
          "\(Self.device)/s\(number)", "org.bluez.GattService1",
          [("UUID", .text("180a")), ("Device", .path(Self.device))]))
    }
    for number in 0..<BluetoothObjects.limits.characteristics {
      objects.added(
        added(
          "\(Self.device)/s0/c\(number)", "org.bluez.GattCharacteristic1",
          [("UUID", .text("6e40000f-b5a3-f393-e0a9-e50e24dcca9e")), ("Service", .path(Self.device + "/s0"))]))
    }
    let clock = ContinuousClock()
    let start = clock.now
    let table = objects.table(of: Self.device)
    // One look at each pair of them takes a minute.
    #expect(clock.now - start < .seconds(10 * Patience.factor))
    #expect(table.count == BluetoothObjects.limits.services)
    #expect(table.map(\.characteristics.count).max() == BluetoothObjects.limits.characteristics)
    let error = #expect(throws: AccessoryError.self) { try GATTSerialPort(in: table, GATTSettings(), label: "ble:x") }
    #expect(try #require(error).message.utf8.count < 1_000)
  }

  /// They come, and go again while nobody reads: nothing is left of them.
  @Test func tenThousandAdvertisers() async throws {
    func interfaces(_ number: Int) -> WireValue {
      let address = BluetoothAddress(rawValue: 0xAABB_0000_0000 + UInt64(number))!
      return .array(
        "{sa{sv}}",
        [
          .entry(
            .text("org.bluez.Device1"),
            .properties([
              ("Address", .text(address.description)),
              ("Adapter", .path("/org/bluez/hci0")), ("RSSI", .int16(-70)),
              ("Name", .text("\u{1B}]0;\u{202E}" + String(repeating: "ä", count: 100))),
            ]))
        ])
    }
    let adapter = WireValue.array(
      "{sa{sv}}", [.entry(.text("org.bluez.Adapter1"), .properties([("Powered", .boolean(true))]))])
    let paths = (0..<10_000).map { "/org/bluez/hci0/dev_\($0)" }
    let objects = WireValue.array(
      "{oa{sa{sv}}}",
      [.entry(.path("/org/bluez/hci0"), adapter)]
        + paths.enumerated().map { .entry(.path($0.element), interfaces($0.offset)) })
    let bus = try FakeBus { call in call.member == "GetManagedObjects" ? .values([objects]) : nil }
    let source = BluetoothSource(BluetoothPlace(bus: bus.address))
    let stream = try await source.events()
    var events = stream.makeAsyncIterator()
    var seen: Set<String> = []
    for _ in 0..<10_000 {
      guard case .added(let device)? = await events.next() else { break }
      seen.insert(device.id)
    }
    #expect(seen.count == 10_000)
    bus.changed("/org/bluez/hci0", "org.bluez.Adapter1", [("Powered", .boolean(false))])
    for _ in 0..<10_000 { seen.remove(try #require((await events.next()).flatMap(Self.removed))) }
    #expect(seen.isEmpty)
    #expect(try await source.devices() == [])
  }

  private static func removed(_ event: DeviceEvent) -> String? {
    if case .removed(let device) = event { device.id } else { nil }
  }

  @Test func strangersMakeRoomForAPairedDevice() {
    var objects = BluetoothObjects()
    for number in 0..<BluetoothObjects.limits.devices {
      objects.added(
        added("/org/bluez/hci0/dev\(number)", "org.bluez.Device1", [("RSSI", .integer(number == 5 ? -99 : -50))]))
    }
    #expect(objects.added(added("/org/bluez/hci0/stranger", "org.bluez.Device1", [])) == nil)
    #expect(objects.devices["/org/bluez/hci0/stranger"] == nil)
    let displaced = objects.added(added(Self.device, "org.bluez.Device1", [("Paired", .boolean(true))]))
    #expect(displaced == "/org/bluez/hci0/dev5" && objects.devices["/org/bluez/hci0/dev5"] == nil)
    #expect(objects.devices[Self.device]?.isPaired == true)
    #expect(objects.devices.count == BluetoothObjects.limits.devices && objects.leftOut == 2)
  }

  // MARK: - Errors

  @Test func theKindsOfErrorsAndOfFailuresAreToldApart() {
    let cancelled = AccessoryError(refusal: .cancelled, "connecting to ble:x")
    #expect(cancelled.kind == .cancelled && cancelled.message == "connecting to ble:x was cancelled")
    #expect(AccessoryError.bluetoothdEnded.message == "bluetoothd has ended: systemctl status bluetooth says why")
  }

  @Test func aCallThatIsCancelled() async throws {
    let bus = try FakeBus { _ in nil }
    let bluez = try await BlueZ.open(bus.address)
    let waiting = Task {
      let late = AccessoryError(.timedOut, "late")
      return try await bluez.first(within: .seconds(60), otherwise: late) {
        (_: BluetoothObjects) -> Result<Int, AccessoryError>? in nil
      }
    }
    waiting.cancel()
    let error = await #expect(throws: AccessoryError.self) { try await waiting.value }
    #expect(error?.kind == .cancelled && error?.message == "waiting was cancelled")
    await bluez.close()
  }

  // MARK: - Silence

  /// A bus that is stopped takes connections, and says nothing.
  @Test func aBusThatSaysNothing() async throws {
    let directory = try TemporaryDirectory()
    let listener = try UnixSocket.create(blocking: true)
    defer { Socket.close(listener) }
    try UnixSocket.bind(listener, to: directory.path + "/bus")
    try Socket.listen(listener, backlog: 1)
    let clock = ContinuousClock()
    let start = clock.now
    let error = await #expect(throws: AccessoryError.self) {
      try await BlueZ.open("unix:path=\(directory.path)/bus", within: .milliseconds(100))
    }
    #expect(error?.kind == .timedOut)
    #expect(clock.now - start < .seconds(20 * Patience.factor))
  }

  @Test func aBluetoothdThatIsBusyWhenItStarts() async throws {
    let answers = Locked(0)
    let bus = try FakeBus { call in
      guard call.member == "GetManagedObjects" else { return nil }
      let number = answers.withLock { count in
        count += 1
        return count
      }
      return number == 2 ? .error("org.freedesktop.DBus.Error.NoReply", "busy") : nil
    }
    let bluez = try await BlueZ.open(bus.address)
    let returned = OneShot<Void>()
    _ = await bluez.observe { event, _ in if event == .returned { returned.finish(()) } }
    for (old, new) in [(FakeBus.owner, ""), ("", FakeBus.owner)] {
      bus.signal(
        "/org/freedesktop/DBus", "org.freedesktop.DBus", "NameOwnerChanged",
        [.text("org.bluez"), .text(old), .text(new)],
        sender: "org.freedesktop.DBus")
    }
    await returned.value()
    #expect(answers.withLock { $0 } == 3)
    await bluez.close()
  }
}
