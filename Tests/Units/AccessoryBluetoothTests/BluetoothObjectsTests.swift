// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import MessageBus
import Testing

@testable import AccessoryBluetooth

/// What messages of BlueZ make of the objects.
@Suite struct BluetoothObjectsTests {
  private let adapter = "/org/bluez/hci0"
  private let device = "/org/bluez/hci0/dev_AA_BB_CC_DD_EE_FF"

  private func properties(_ properties: [(String, BusValue)]) -> BusValue {
    .dictionary(properties.map { .init(.text($0.0), $0.1) })
  }

  private func object(_ path: String, _ interface: String, _ values: [(String, BusValue)]) -> BusValue.Entry {
    .init(.path(path), .dictionary([.init(.text(interface), properties(values))]))
  }

  private func added(_ path: String, _ interface: String, _ values: [(String, BusValue)]) -> BusMessage {
    let entry = object(path, interface, values)
    return BusMessage(sender: ":1.5", values: [entry.key, entry.value])
  }

  private func changed(
    _ path: String, _ interface: String, _ values: [(String, BusValue)], without: [String] = []
  ) -> BusMessage {
    BusMessage(
      sender: ":1.5", path: path,
      values: [.text(interface), properties(values), .list(without.map { .text($0) })])
  }

  private var everything: BusMessage {
    let service = device + "/service0001"
    return BusMessage(
      sender: ":1.5",
      values: [
        .dictionary([
          object(
            adapter, "org.bluez.Adapter1", [("Address", .text("00:AA:01:00:00:42")), ("Powered", .boolean(true))]),
          object(
            device, "org.bluez.Device1",
            [
              ("Address", .text("AA:BB:CC:DD:EE:FF")), ("AddressType", .text("random")), ("Name", .text("HMSoft")),
              ("RSSI", .integer(-50)), ("UUIDs", .list([.text("0000ffe0-0000-1000-8000-00805f9b34fb")])),
              ("ManufacturerData", .dictionary([.init(.integer(0x4C), .bytes([1, 2]))])),
            ]),
          object(
            service, "org.bluez.GattService1",
            [("UUID", .text("0000ffe0-0000-1000-8000-00805f9b34fb")), ("Device", .path(device))]),
          object(
            service + "/char0002", "org.bluez.GattCharacteristic1",
            [
              ("UUID", .text("0000ffe1-0000-1000-8000-00805f9b34fb")), ("Service", .path(service)),
              ("Flags", .list([.text("notify"), .text("write-without-response")])), ("MTU", .integer(247)),
              ("NotifyAcquired", .boolean(false)),
            ]),
        ])
      ])
  }

  @Test func theReplyWithAllObjects() throws {
    var objects = BluetoothObjects()
    objects.replace(everything)
    #expect(objects.adaptersByName.map(\.name) == ["hci0"])
    #expect(objects.adapters[adapter]?.isPowered == true)
    let address = try #require(BluetoothAddress("AA:BB:CC:DD:EE:FF"))
    let found = try #require(objects.device(at: address))
    #expect(found.name == "HMSoft" && found.signalStrength == -50 && found.hasRandomAddress && !found.isConnected)
    #expect(found.services.map(\.description) == ["ffe0"] && found.manufacturerData == [0x4C: [1, 2]])
    #expect(found.adapter == adapter)
    let table = objects.table(of: device)
    #expect(table.count == 1 && table[0].characteristics.count == 1)
    let characteristic = table[0].characteristics[0]
    #expect(characteristic.notifies && characteristic.takesCommands && !characteristic.takesRequests)
    #expect(characteristic.packetSize == 247)
    #expect(characteristic.isNotifyAcquired == false && characteristic.isWriteAcquired == nil)
  }

  @Test func signalsAreFollowed() {
    var objects = BluetoothObjects()
    objects.replace(everything)
    objects.changed(changed(device, "org.bluez.Device1", [("Connected", .boolean(true)), ("RSSI", .integer(-60))]))
    #expect(objects.devices[device]?.isConnected == true && objects.devices[device]?.signalStrength == -60)
    objects.changed(changed(device, "org.bluez.Device1", [], without: ["RSSI"]))
    #expect(objects.devices[device]?.signalStrength == nil && objects.devices[device]?.name == "HMSoft")
    objects.changed(changed(adapter, "org.bluez.Adapter1", [("Powered", .boolean(false))]))
    #expect(objects.adapters[adapter]?.isPowered == false)
    objects.removed(
      BusMessage(sender: ":1.5", values: [.path(device), .list([.text("org.bluez.Device1"), .text("other")])]))
    #expect(objects.devices.isEmpty && objects.services.count == 1)
  }

  /// The connected one of two adapters' devices with the same address is meant.
  @Test func theConnectedDeviceCounts() throws {
    let other = "/org/bluez/hci1/dev_AA_BB_CC_DD_EE_FF"
    var objects = BluetoothObjects()
    objects.replace(everything)
    objects.added(
      added(other, "org.bluez.Device1", [("Address", .text("AA:BB:CC:DD:EE:FF")), ("Connected", .boolean(true))]))
    let address = try #require(BluetoothAddress("AA:BB:CC:DD:EE:FF"))
    #expect(objects.device(at: address)?.path == other)
    #expect(objects.devices[other]?.adapter == "/org/bluez/hci1")
  }

  @Test(arguments: [
    BusMessage(sender: ":1.5"),
    BusMessage(sender: ":1.5", values: [.text("x")]),
    BusMessage(sender: ":1.5", values: [.dictionary([.init(.text("no path"), .integer(1))])]),
    BusMessage(sender: ":1.5", values: [.path("/x"), .path("/y")]),
    BusMessage(sender: ":1.5", values: [.path("/x"), .dictionary([.init(.integer(1), .integer(2))])]),
    BusMessage(sender: ":1.5", values: [.text("org.bluez.Device1"), .list([])]),
    BusMessage(sender: ":1.5", path: "/x", values: [.text("org.bluez.Device1"), .dictionary([]), .integer(1)]),
    BusMessage(
      sender: ":1.5",
      values: [.path("/x"), .dictionary([.init(.text("org.bluez.Device1"), .list([.boolean(true)]))])]),
  ])
  func messagesOfAnotherFormChangeNothing(message: BusMessage) {
    var objects = BluetoothObjects()
    objects.added(message)
    objects.changed(message)
    objects.removed(message)
    #expect(objects == BluetoothObjects())
    objects.replace(message)
    #expect(objects == BluetoothObjects())
  }

  @Test func propertiesOfAnotherTypeAreIgnored() {
    var objects = BluetoothObjects()
    objects.replace(everything)
    let before = objects
    objects.changed(
      changed(
        device, "org.bluez.Device1",
        [
          ("Name", .integer(1)), ("RSSI", .text("loud")), ("UUIDs", .integer(7)), ("Connected", .text("yes")),
          ("ManufacturerData", .text("x")), ("Adapter", .text("hci7")),
        ]))
    objects.changed(
      changed(device + "/service0001/char0002", "org.bluez.GattCharacteristic1", [("MTU", .integer(1 << 40))]))
    #expect(objects == before)
  }

  @Test func theNumberOfObjectsIsLimited() {
    var objects = BluetoothObjects()
    for number in 0..<12_000 {
      objects.added(added("/org/bluez/hci0/dev_\(number)", "org.bluez.Device1", [("Name", .text("n\(number)"))]))
    }
    #expect(objects.devices.count == BluetoothObjects.limits.devices)
    #expect(objects.leftOut == 12_000 - BluetoothObjects.limits.devices)
    // One that is known is still followed.
    objects.added(added("/org/bluez/hci0/dev_0", "org.bluez.Device1", [("Name", .text("new"))]))
    #expect(objects.devices["/org/bluez/hci0/dev_0"]?.name == "new")
  }

  @Test func theLengthsAreLimited() {
    var objects = BluetoothObjects()
    objects.replace(everything)
    let uuids = (0..<1_000).map { BusValue.text("0000\(1_000 + $0)-0000-1000-8000-00805f9b34fb") }
    objects.changed(
      changed(
        device, "org.bluez.Device1",
        [
          ("Name", .text(String(repeating: "ü", count: 1_000))), ("UUIDs", .list(uuids)),
          (
            "ManufacturerData",
            .dictionary((0..<100).map { .init(.integer($0), .bytes([UInt8](repeating: 1, count: 9_000))) })
          ),
        ]))
    let found = objects.devices[device]
    #expect(found?.name == String(repeating: "ü", count: 124))
    #expect(found?.services.count == 64)
    #expect(found?.manufacturerData.count == 8 && found?.manufacturerData[0]?.count == 255)
    objects.added(added("/" + String(repeating: "x", count: 300), "org.bluez.Device1", []))
    #expect(objects.devices.count == 1 && objects.leftOut == 1)
  }
}
