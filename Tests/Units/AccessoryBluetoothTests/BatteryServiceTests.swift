// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryIO
import FamilyBatteryService
import TestSupport
import Testing

@testable import AccessoryBluetooth

/// What any device tells of its battery and of itself, over a bus that answers what a test says.
@Suite(.timeLimit(.minutes(Patience.minutes(1)))) struct BatteryServiceTests {
  private static let device = "/org/bluez/hci0/dev_AA_BB_CC_DD_EE_FF"
  private static let address = BluetoothAddress("AA:BB:CC:DD:EE:FF")!
  private static let information = device + "/service0010"
  private static let battery = device + "/service0020"

  private static func uuid(_ short: String) -> WireValue { .text("0000\(short)-0000-1000-8000-00805f9b34fb") }

  private static func object(_ path: String, _ interfaces: [(String, [(String, WireValue)])]) -> WireValue {
    .entry(.path(path), .array("{sa{sv}}", interfaces.map { .entry(.text($0.0), .properties($0.1)) }))
  }

  private static func characteristic(_ service: String, _ short: String, _ flags: [String] = ["read"]) -> WireValue {
    object(
      "\(service)/char\(short)",
      [
        (
          "org.bluez.GattCharacteristic1",
          [("UUID", uuid(short)), ("Service", .path(service)), ("Flags", .texts(flags))]
        )
      ])
  }

  private enum Level { case none, told(UInt8), characteristic, service }

  /// A connected device with Device Information, and a battery that BlueZ tells, or that has a characteristic, or none.
  private static func objects(_ level: Level, hasInformation: Bool = true) -> WireValue {
    var services: [WireValue] = []
    if case .none = level {} else { services.append(uuid("180f")) }
    var interfaces = [
      (
        "org.bluez.Device1",
        [
          ("Address", WireValue.text("AA:BB:CC:DD:EE:FF")), ("Connected", .boolean(true)),
          ("ServicesResolved", .boolean(true)),
          ("UUIDs", .array("s", services)),
        ]
      )
    ]
    // BlueZ's order is its own.
    if case .told(let percent) = level {
      interfaces.insert(("org.bluez.Battery1", [("Percentage", .byte(percent))]), at: 0)
    }
    var all = [
      object("/org/bluez/hci0", [("org.bluez.Adapter1", [("Powered", .boolean(true))])]), object(device, interfaces),
    ]
    if hasInformation {
      all.append(
        object(information, [("org.bluez.GattService1", [("UUID", uuid("180a")), ("Device", .path(device))])]))
      all += ["2a29", "2a24", "2a25", "2a26"].map { characteristic(information, $0) }
    }
    if case .characteristic = level {
      all.append(object(battery, [("org.bluez.GattService1", [("UUID", uuid("180f")), ("Device", .path(device))])]))
      all.append(characteristic(battery, "2a19", ["read", "notify"]))
    }
    return .array("{oa{sa{sv}}}", all)
  }

  private static func bytes(_ bytes: some Sequence<UInt8>) -> FakeBus.Answer {
    .values([.array("y", bytes.map { .byte($0) })])
  }

  private static func bus(
    _ level: Level, hasInformation: Bool = true, batteryLevel: [UInt8] = [55],
    _ answer: @escaping @Sendable (FakeBus.Call) -> FakeBus.Answer? = { _ in nil }
  ) throws -> FakeBus {
    let objects = objects(level, hasInformation: hasInformation)
    return try FakeBus { call in
      if let answer = answer(call) { return answer }
      guard call.member == "ReadValue" else { return call.member == "GetManagedObjects" ? .values([objects]) : nil }
      switch call.path.suffix(4) {
      case "2a29": return bytes("Maker\u{1B}[31m".utf8)
      case "2a24": return bytes("Model 7\0\0\0".utf8)
      case "2a25": return .error("org.bluez.Error.NotAuthorized", "pair first")
      case "2a26": return bytes([0x31, 0xFF] + [UInt8](repeating: 0x32, count: 600))
      case "2a19": return bytes(batteryLevel)
      default: return nil
      }
    }
  }

  private static func open(_ bus: FakeBus) async throws -> any Accessory {
    let bluez = try await BlueZ.open(bus.address)
    let values = try await GATTValues.open(address, label: "ble:x", over: bluez)
    return try await BatteryServiceDevice.open(values)
  }

  @Test func theBatteryThatBlueZTells() async throws {
    let bus = try Self.bus(.told(81))
    let accessory = try await Self.open(bus)
    #expect(try await accessory.battery() == BatteryReading(percent: 81, level: .high))
    await accessory.close()
    // Nothing was sent to the device, and the connection of the other program stays.
    #expect(bus.calls.map(\.member) == ["GetManagedObjects"])
  }

  @Test func theBatteryThatTheDeviceAnswers() async throws {
    let bus = try Self.bus(.characteristic)
    let accessory = try await Self.open(bus)
    #expect(try await accessory.battery().percent == 55)
    await accessory.close()
    #expect(bus.calls.map(\.member) == ["GetManagedObjects", "ReadValue"])
  }

  /// Two Battery Services: by a description in words, and by a place of the SIG's list.
  @Test func eachOfSeveralBatteriesIsTold() async throws {
    let other = Self.device + "/service0030"
    func more(_ path: String, _ interface: String, _ properties: [(String, WireValue)]) -> WireValue {
      Self.object(path, [(interface, properties)])
    }
    func named(_ service: String, _ short: String) -> WireValue {
      more(
        "\(service)/char2a19/desc\(short)", "org.bluez.GattDescriptor1",
        [("UUID", Self.uuid(short)), ("Characteristic", .path("\(service)/char2a19"))])
    }
    guard case .array(let type, let objects) = Self.objects(.characteristic) else { return }
    let all = WireValue.array(
      type,
      objects + [
        more(other, "org.bluez.GattService1", [("UUID", Self.uuid("180f")), ("Device", .path(Self.device))]),
        Self.characteristic(other, "2a19"), named(Self.battery, "2901"), named(other, "2904"),
      ])
    let bus = try FakeBus { call in
      switch (call.member, call.path.hasPrefix(other), call.path.suffix(4)) {
      case ("GetManagedObjects", _, _): .values([all])
      case ("ReadValue", _, "2901"): Self.bytes("Left ear\0".utf8)
      case ("ReadValue", _, "2904"): Self.bytes([4, 0, 0xAD, 0x27, 1, 0x0E, 0x01])
      case ("ReadValue", let isOther, "2a19"): Self.bytes([isOther ? 57 : 81])
      default: nil
      }
    }
    let accessory = try await Self.open(bus)
    let reading = try await accessory.readBattery()
    #expect(reading.percent == 57)
    #expect(reading.missing == "it has 2 batteries, of which this is the lowest: Left ear 81 %, right 57 %")
    let values = try await accessory.values()
    #expect(values.map(\.name) == ["battery_left_ear", "battery_right"])
    #expect(values.map(\.content) == [.number(81), .number(57)])
    await accessory.close()
  }

  @Test(arguments: [[], [101], [1, 2], [255]] as [[UInt8]]) func whatIsNoPercentage(_ level: [UInt8]) async throws {
    let accessory = try await Self.open(try Self.bus(.characteristic, batteryLevel: level))
    let error = await #expect(throws: AccessoryError.self) { try await accessory.battery() }
    #expect(error?.kind == .badData)
    await accessory.close()
  }

  /// bluetoothd reads the battery only after the device was connected.
  @Test func aBatteryThatIsToldLater() async throws {
    let bus = try Self.bus(.service)
    let accessory = try await Self.open(bus)
    async let reading = accessory.battery()
    bus.signal(
      "/", "org.freedesktop.DBus.ObjectManager", "InterfacesAdded",
      [
        .path(Self.device),
        .array("{sa{sv}}", [.entry(.text("org.bluez.Battery1"), .properties([("Percentage", .byte(9))]))]),
      ])
    #expect(try await reading == BatteryReading(percent: 9, level: .low))
    await accessory.close()
  }

  @Test func aDeviceWithoutABattery() async throws {
    let accessory = try await Self.open(try Self.bus(.none))
    let error = await #expect(throws: AccessoryError.self) { try await accessory.battery() }
    #expect(error?.kind == .unsupported && error?.message.contains("180f") == true)
    await accessory.close()
  }

  @Test func aDeviceThatTellsNothing() async throws {
    let bus = try Self.bus(.none, hasInformation: false)
    let error = await #expect(throws: AccessoryError.self) { try await Self.open(bus) }
    #expect(error?.kind == .unsupported && error?.message.contains("180a") == true)
  }

  @Test func whatItIs() async throws {
    let bus = try Self.bus(.told(50))
    let accessory = try await Self.open(bus)
    let identity = try await accessory.identify()
    #expect(identity.manufacturer == "Maker\u{1B}[31m" && identity.model == "Model 7")
    // One text may only be read by paired computers, one is no UTF-8 and too long, and one isn't there.
    #expect(identity.serialNumber.isEmpty && identity.hardwareRevision.isEmpty)
    #expect(identity.firmwareRevision.hasPrefix("1\u{FFFD}2") && identity.firmwareRevision.utf8.count < 260)
    await accessory.close()
    #expect(Set(bus.calls.map(\.member)) == ["GetManagedObjects", "ReadValue"])
  }

  @Test func changesAreNewsUntilTheDeviceGoes() async throws {
    let bus = try Self.bus(.told(50))
    let accessory = try await Self.open(bus)
    var news = accessory.news().makeAsyncIterator()
    bus.changed(Self.device, "org.bluez.Battery1", [("Percentage", .byte(50))])
    bus.changed(Self.device, "org.bluez.Battery1", [("Percentage", .byte(200))])
    bus.changed(Self.device, "org.bluez.Battery1", [("Percentage", .byte(49))])
    #expect(try await news.next() == .battery(BatteryReading(percent: 49, level: .normal)))
    bus.changed(Self.device, "org.bluez.Device1", [("Connected", .boolean(false))])
    let error = await #expect(throws: AccessoryError.self) { try await news.next() }
    #expect(error?.kind == .disconnected)
    let refused = await #expect(throws: AccessoryError.self) { try await accessory.battery() }
    #expect(refused?.kind == .disconnected)
    await accessory.close()
  }

  @Test func aClosedConnectionIsNotAsked() async throws {
    let bus = try Self.bus(.told(50))
    let bluez = try await BlueZ.open(bus.address)
    let values = try await GATTValues.open(Self.address, label: "ble:x", over: bluez)
    await values.close()
    await #expect(throws: AccessoryError.self) { try await values.batteryPercent() }
  }

  // MARK: - The choice of the driver

  private func opener(_ place: DeviceAddress, _ profile: Profile? = nil) -> DeviceOpener {
    DeviceOpener(Device(place, source: .bluetooth), profile: profile, drivers: DriverLibrary([.batteryService]))
  }

  @Test func onlyDevicesOfUnknownProtocolsAreAskedForTheirBattery() throws {
    #expect(opener(.ble(Self.address)).driver == nil)
    #expect(opener(.ble(Self.address)).general?.driver?.name == "ble-battery")
    #expect(opener(.rfcomm(Self.address, channel: nil)).general == nil)
    #expect(opener(.terminal("/dev/ttyUSB0")).general == nil)
    var named = opener(.ble(Self.address))
    named.settings.gatt = GATTSettings(service: BluetoothUUID("ffe0"))
    #expect(named.general == nil)
    #expect(opener(.ble(Self.address), .batteryService).driver?.name == "ble-battery")
    #expect(opener(.ble(Self.address), .batteryService).general == nil)
  }
}
