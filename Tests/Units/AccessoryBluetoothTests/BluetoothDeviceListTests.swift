// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import MessageBus
import Testing

@testable import AccessoryBluetooth

/// Which of BlueZ's devices are reported, by what BlueZ tells.
@Suite struct BluetoothDeviceListTests {
  private var objects = BluetoothObjects()
  private var list = BluetoothDeviceList()
  private static let adapter = "/org/bluez/hci0"
  private static let serial = "0000ffe0-0000-1000-8000-00805f9b34fb"

  init() { _ = add(Self.adapter, "org.bluez.Adapter1", [("Powered", .boolean(true))]) }

  private static func path(_ number: Int, on adapter: String = adapter) -> String {
    "\(adapter)/dev_" + address(number).description.split(separator: ":").joined(separator: "_")
  }

  private static func address(_ number: Int) -> BluetoothAddress {
    BluetoothAddress(rawValue: 0xC4BE_8400_0000 + UInt64(number))!
  }

  private func dictionary(_ properties: [(String, BusValue)]) -> BusValue {
    .dictionary(properties.map { .init(.text($0.0), $0.1) })
  }

  private mutating func add(_ path: String, _ interface: String, _ properties: [(String, BusValue)]) -> [DeviceEvent] {
    let interfaces = BusValue.dictionary([.init(.text(interface), dictionary(properties))])
    objects.added(BusMessage(sender: ":1.5", values: [.path(path), interfaces]))
    return list.change(path, objects)
  }

  private mutating func device(_ number: Int, _ properties: [(String, BusValue)] = []) -> [DeviceEvent] {
    add(
      Self.path(number), "org.bluez.Device1",
      [("Address", .text(Self.address(number).description)), ("Adapter", .path(Self.adapter))] + properties)
  }

  private mutating func change(
    _ path: String, _ interface: String, _ properties: [(String, BusValue)], without: [String] = []
  ) -> [DeviceEvent] {
    objects.changed(
      BusMessage(
        sender: ":1.5", path: path,
        values: [.text(interface), dictionary(properties), .list(without.map { .text($0) })]))
    return list.change(path, objects)
  }

  private mutating func change(
    _ number: Int, _ properties: [(String, BusValue)], without: [String] = []
  ) -> [DeviceEvent] { change(Self.path(number), "org.bluez.Device1", properties, without: without) }

  private mutating func remove(_ path: String, _ interface: String) -> [DeviceEvent] {
    objects.removed(BusMessage(sender: ":1.5", values: [.path(path), .list([.text(interface)])]))
    return list.change(path, objects)
  }

  private func names(_ events: [DeviceEvent]) -> [String] {
    events.map {
      switch $0 {
      case .added(let device): "+\(device.address)"
      case .removed(let device): "-\(device.address)"
      case .changed(let device, _): "=\(device.address)"
      }
    }
  }

  private let first = "ble:C4:BE:84:00:00:01"

  // MARK: - Who is there

  @Test(arguments: ["Connected", "Paired", "Trusted"]) mutating func aDeviceThatSomebodyHasMadeKnown(by: String) {
    #expect(device(1, [("Name", .text("HMSoft"))]).isEmpty, "BlueZ only remembers it")
    #expect(names(change(1, [(by, .boolean(true))])) == ["+" + first])
    #expect(list.devices.map(\.name) == ["HMSoft"])
    #expect(names(change(1, [(by, .boolean(false))])) == ["-" + first])
    #expect(list.devices.isEmpty)
  }

  @Test mutating func aDeviceThatAdvertises() {
    #expect(names(device(1, [("RSSI", .integer(-60)), ("UUIDs", .list([.text(Self.serial)]))])) == ["+" + first])
    // A stronger signal is no news, but the end of the search is.
    #expect(change(1, [("RSSI", .integer(-40))]).isEmpty)
    #expect(names(change(1, [], without: ["RSSI"])) == ["-" + first])
  }

  @Test mutating func whatTheDeviceTells() throws {
    _ = device(
      1,
      [
        ("Name", .text("HMSoft")), ("Alias", .text("Kitchen")), ("RSSI", .integer(-60)),
        ("UUIDs", .list([.text(Self.serial)])), ("ManufacturerData", .dictionary([.init(.integer(0x4C), .bytes([1]))])),
      ])
    let device = try #require(list.devices.first)
    let told = try #require(device.bluetooth)
    #expect(device.name == "Kitchen" && told.toldName == "HMSoft" && told.adapter == "hci0")
    #expect(device.id == first && device.transports == [.ble] && device.source == .bluetooth)
    #expect(told.services.map(\.description) == ["ffe0"] && told.manufacturers == [0x4C] && told.hasSerialPort)
    #expect(device.mayBeAccessory)
    // Without a name of the user's, BlueZ makes one of the address.
    _ = change(1, [("Alias", .text("C4-BE-84-00-00-01"))])
    #expect(list.devices.first?.name == "HMSoft")
  }

  @Test mutating func strangersAndHeadphonesAreNoAccessories() {
    _ = device(1, [("RSSI", .integer(-60))])
    _ = device(2, [("Paired", .boolean(true)), ("Class", .integer(0x24_0404))])
    _ = device(3, [("Paired", .boolean(true)), ("UUIDs", .list([.text("00001812-0000-1000-8000-00805f9b34fb")]))])
    _ = device(4, [("Paired", .boolean(true)), ("Class", .integer(0x00_0804)), ("UUIDs", .list([.text("1101")]))])
    _ = device(5, [("Paired", .boolean(true))])
    let byNumber = Dictionary(uniqueKeysWithValues: list.devices.map { ($0.bluetooth?.address, $0.mayBeAccessory) })
    #expect((1...5).map { byNumber[Self.address($0)] } == [false, false, false, true, true])
    #expect(list.devices.contains { $0.address == .rfcomm(Self.address(4), channel: nil) }, "the EV3 brick")
  }

  @Test mutating func anAdapterThatIsSwitchedOffOrLeaves() {
    _ = device(1, [("Connected", .boolean(true))])
    let interface = "org.bluez.Adapter1"
    #expect(names(change(Self.adapter, interface, [("Powered", .boolean(false))])) == ["-" + first])
    #expect(names(change(Self.adapter, interface, [("Powered", .boolean(true))])) == ["+" + first])
    #expect(names(remove(Self.adapter, interface)) == ["-" + first])
    #expect(!list.hasAdapter)
  }

  @Test mutating func twoAdaptersThatKnowOneDevice() {
    _ = add("/org/bluez/hci1", "org.bluez.Adapter1", [("Powered", .boolean(true))])
    _ = device(1, [("RSSI", .integer(-60))])
    let other = Self.path(1, on: "/org/bluez/hci1")
    let properties: [(String, BusValue)] = [
      ("Address", .text(Self.address(1).description)), ("Adapter", .path("/org/bluez/hci1")),
      ("Connected", .boolean(true)),
    ]
    #expect(names(add(other, "org.bluez.Device1", properties)) == ["=" + first])
    #expect(list.devices.map { $0.bluetooth?.adapter } == ["hci1"], "the one that is connected")
    #expect(names(remove(other, "org.bluez.Device1")) == ["=" + first])
    #expect(names(remove(Self.path(1), "org.bluez.Device1")) == ["-" + first])
  }

  // MARK: - Wishes

  @Test mutating func aWishKeepsWhatWasHeard() {
    _ = list.use([DeviceWish { $0.name == "HMSoft" }])
    #expect(list.unmet.count == 1)
    #expect(device(1, [("Name", .text("HMSoft"))]).isEmpty, "BlueZ remembers it, but nobody has heard it")
    #expect(list.unmet.count == 1)
    #expect(names(change(1, [("RSSI", .integer(-60))])) == ["+" + first])
    #expect(list.unmet.isEmpty)
    // The search ends, and connecting takes its time.
    #expect(names(change(1, [], without: ["RSSI"])) == ["=" + first])
    #expect(list.devices.count == 1 && list.unmet.count == 1)
    _ = change(1, [("Connected", .boolean(true))])
    #expect(list.unmet.isEmpty)
    #expect(names(list.use([])).isEmpty)
    #expect(names(change(1, [("Connected", .boolean(false))])) == ["-" + first])
  }

  @Test mutating func anotherNameNoLongerFits() {
    _ = list.use([DeviceWish { $0.name == "HMSoft" }])
    _ = device(1, [("Name", .text("HMSoft")), ("RSSI", .integer(-60))])
    _ = change(1, [("Name", .text("other"))])
    #expect(list.unmet.count == 1)
  }

  // MARK: - A bus that lies

  @Test mutating func tenThousandStrangers() {
    for number in 0..<10_000 {
      _ = device(number, [("RSSI", .integer(-60)), ("Name", .text("\u{1B}]0;x\u{7}\(number)"))])
    }
    #expect(list.devices.count == 10_000)
    #expect(list.devices.allSatisfy { !$0.mayBeAccessory })
    for number in 0..<10_000 { _ = remove(Self.path(number), "org.bluez.Device1") }
    #expect(list.devices.isEmpty)
  }

  @Test mutating func wrongTypesAndStrangePlaces() {
    #expect(device(1, [("RSSI", .text("strong")), ("Connected", .integer(1)), ("Paired", .bytes([1]))]).isEmpty)
    // Of an adapter that isn't there, without an address, and with an address that isn't one.
    let connected: [(String, BusValue)] = [("Connected", .boolean(true))]
    #expect(
      add("/org/bluez/hci9/dev", "org.bluez.Device1", [("Address", .text("C4:BE:84:00:00:07"))] + connected).isEmpty)
    #expect(add(Self.adapter + "/dev_1", "org.bluez.Device1", connected).isEmpty)
    #expect(add(Self.adapter + "/dev_2", "org.bluez.Device1", [("Address", .text("me"))] + connected).isEmpty)
    #expect(add("", "org.bluez.Device1", connected).isEmpty)
    #expect(list.change("/nowhere", objects).isEmpty)
  }

  @Test mutating func anAddressThatBecomesAnother() {
    _ = device(1, [("Connected", .boolean(true))])
    let events = change(1, [("Address", .text(Self.address(2).description))])
    #expect(names(events) == ["-" + first, "+ble:C4:BE:84:00:00:02"])
    #expect(names(remove(Self.path(1), "org.bluez.Device1")) == ["-ble:C4:BE:84:00:00:02"])
  }
}
