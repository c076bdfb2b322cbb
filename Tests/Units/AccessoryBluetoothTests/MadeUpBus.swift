// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import CLibsystemd
import Glibc

@testable import AccessoryBluetooth
@testable import MessageBus

// A fuzz target has a link to this file: it must not need anything of the tests.

/// A bus that tells whatever the input says: adapters, devices and tables of GATT that come, change and go in any order, with names
/// of any bytes and properties of any type. What follows such a bus is checked after each message.
struct MadeUpBus {
  private var input: ArraySlice<UInt8>
  private let maker: MessageMaker
  private var objects = BluetoothObjects()
  private var list = BluetoothDeviceList()
  /// What somebody knows who is told the list's events.
  private var told: [BluetoothAddress: Device] = [:]
  /// The same for somebody who reads late.
  private let queue = BluetoothEventQueue()
  private var toldLate: [BluetoothAddress: Device] = [:]

  private static let interfaces = [
    "org.bluez.Device1", "org.bluez.Adapter1", "org.bluez.GattService1", "org.bluez.GattCharacteristic1",
    "org.bluez.GattDescriptor1", "org.bluez.Battery1", "",
  ]
  private static let properties = [
    "Address", "AddressType", "Name", "Alias", "UUIDs", "Adapter", "RSSI", "Connected", "ServicesResolved", "Paired",
    "Trusted",
    "Class", "ManufacturerData", "Powered", "Discovering", "UUID", "Device", "Service", "Flags", "MTU", "WriteAcquired",
    "NotifyAcquired", "Characteristic", "Percentage", "Value", "ServiceData", "TxPower", "Primary", "Includes",
    "Handle",
    "Appearance", "AdvertisingFlags", "Blocked", "Bonded", "LegacyPairing", "Modalias", "Icon", "Notifying",
  ]
  private static let texts = [
    "AA:BB:CC:DD:EE:FF", "00:00:00:00:00:00", "0000ffe0-0000-1000-8000-00805f9b34fb",
    "0000ffe1-0000-1000-8000-00805f9b34fb",
    "0000180f-0000-1000-8000-00805f9b34fb", "00002902-0000-1000-8000-00805f9b34fb", "notify", "write",
    "write-without-response",
    "read", "random", "", "RSSI", "Name", "\u{1B}[31m", "ffe0",
  ]

  /// Nil where libsystemd isn't installed.
  init?(_ input: [UInt8]) {
    guard let maker = MessageMaker() else { return nil }
    (self.input, self.maker) = (input[...], maker)
  }

  /// Sends messages until the input is at its end. Returns how many were understood.
  mutating func run() -> Int {
    let wish = DeviceWish(service: BluetoothUUID("ffe0")) { $0.bluetooth?.hasSerialPort == true }
    take(list.use([wish]))
    var understood = 0
    while !input.isEmpty {
      let step = number(below: 16)
      guard let message = message(step) else { continue }
      understood += 1
      let path = follow(message, step)
      take(path.map { list.change($0, objects) } ?? list.replace(objects))
      check()
      if understood.isMultiple(of: 4) { readLate() }
    }
    readLate()
    checkTables()
    return understood
  }

  // MARK: - What is told

  private mutating func message(_ step: Int) -> BusMessage? {
    maker.begin(path: path())
    switch step {
    case 0: maker.dictionary("oa{sa{sv}}", count: number(below: 12)) { object(named: true) }
    case 1, 2, 3, 4, 5, 6: object(named: false)
    case 7, 8:
      maker.append("o", path())
      maker.array("s", count: number(below: 4)) { maker.append("s", interface()) }
    case 15: for _ in 0..<number(below: 4) { anything(depth: 0) }
    default:
      maker.append("s", interface())
      maker.dictionary("sv", count: number(below: 8)) { property() }
      maker.array("s", count: number(below: 3)) { maker.append("s", text()) }
    }
    return maker.end()
  }

  /// Takes a message in. Returns the path of the object that it is about; nil when it is about all.
  private mutating func follow(_ message: BusMessage, _ step: Int) -> String? {
    switch step {
    case 0:
      objects.replace(message)
      return nil
    case 1...6: objects.added(message)
    case 7, 8: objects.removed(message)
    case 15:
      // A signal of any form, whatever it says that it is.
      objects.added(message)
      objects.removed(message)
      objects.changed(message)
      return nil
    default:
      objects.changed(message)
      return message.path
    }
    return message.values.first?.path ?? ""
  }

  private mutating func object(named isEntry: Bool) {
    maker.append("o", path())
    maker.dictionary("sa{sv}", count: 1 + number(below: 2)) {
      maker.append("s", interface())
      maker.dictionary("sv", count: number(below: 12)) { property() }
    }
  }

  private mutating func property() {
    let name = Self.properties[number(below: Self.properties.count)]
    maker.append("s", number(below: 16) == 0 ? text() : name)
    switch number(below: 10) {
    case 0: maker.variant("b") { maker.append(number(below: 2) == 1) }
    case 1: maker.variant("n") { maker.append("n", Int16(truncatingIfNeeded: number(below: 256) - 128)) }
    case 2: maker.variant("q") { maker.append("q", UInt16(truncatingIfNeeded: number(below: 256) &* 257)) }
    case 3: maker.variant("as") { maker.array("s", count: number(below: 6)) { maker.append("s", text()) } }
    case 4: maker.variant("o") { maker.append("o", path()) }
    case 5:
      maker.variant("a{qv}") {
        maker.dictionary("qv", count: number(below: 4)) {
          maker.append("q", UInt16(truncatingIfNeeded: number(below: 256)))
          maker.variant("ay") { maker.append(bytes()) }
        }
      }
    case 6: maker.variant("s") { maker.append("s", text()) }
    case 7:
      maker.variant("a{sv}") {
        maker.dictionary("sv", count: number(below: 4)) {
          maker.append("s", text())
          maker.variant("ay") { maker.append(bytes()) }
        }
      }
    case 8: maker.variant("ao") { maker.array("o", count: number(below: 4)) { maker.append("o", path()) } }
    default: anything(depth: 0)
    }
  }

  /// A variant with a value of any type in it.
  private mutating func anything(depth: Int) {
    switch depth < 24 ? number(below: 12) : 0 {
    case 0: maker.variant("y") { maker.append("y", UInt8(truncatingIfNeeded: number(below: 256))) }
    case 1: maker.variant("x") { maker.append("x", Int64(truncatingIfNeeded: number(below: 256) - 128) &* .max) }
    case 2: maker.variant("t") { maker.append("t", UInt64.max - UInt64(number(below: 256))) }
    case 3: maker.variant("d") { maker.append("d", Double(bitPattern: UInt64(number(below: 256)) << 55)) }
    case 4: maker.variant("g") { maker.append("g", "a{sv}") }
    case 5: maker.variant("ay") { maker.append(bytes()) }
    case 6: maker.variant("h") { maker.append("h", CInt(0)) }
    case 7: maker.variant("av") { maker.array("v", count: number(below: 4)) { anything(depth: depth + 1) } }
    case 8:
      maker.variant("(vs)") {
        maker.structure("vs") {
          anything(depth: depth + 1); maker.append("s", text())
        }
      }
    case 9: maker.variant("a{sv}") { maker.dictionary("sv", count: number(below: 3)) { property() } }
    default: maker.variant("v") { anything(depth: depth + 1) }
    }
  }

  private mutating func path() -> String {
    let adapter = "/org/bluez/hci\(number(below: 3))"
    let device = adapter + "/dev_AA_BB_CC_DD_EE_0\(number(below: 10))"
    let service = device + "/service000\(number(below: 4))"
    return switch number(below: 12) {
    case 0, 1: adapter
    case 2...5: device
    case 6, 7: service
    case 8, 9: service + "/char000\(number(below: 8))"
    case 10: service + "/char000\(number(below: 8))/desc0001"
    default: number(below: 2) == 0 ? "/" : "/" + String(repeating: "x", count: number(below: 256) * 4 + 1)
    }
  }

  private mutating func interface() -> String { Self.interfaces[number(below: Self.interfaces.count)] }

  private mutating func text() -> String {
    switch number(below: 8) {
    case 0: String(decoding: bytes().map { max(1, $0) }, as: UTF8.self)
    case 1: String(repeating: "\u{1F4A3}", count: number(below: 256) * 8)
    case 2: "AA:BB:CC:DD:EE:0\(number(below: 10))"
    default: Self.texts[number(below: Self.texts.count)]
    }
  }

  private mutating func bytes() -> [UInt8] {
    let count = number(below: 256)
    guard count < 200 else { return [UInt8](repeating: 0xA5, count: count * 64) }
    let bytes = Array(input.prefix(count % 32))
    input = input.dropFirst(bytes.count)
    return bytes
  }

  private mutating func number(below bound: Int) -> Int { Int(input.popFirst() ?? 0) % bound }

  // MARK: - What must be true

  private mutating func take(_ events: [DeviceEvent]) {
    for event in events {
      queue.add(event)
      switch event {
      case .added(let device):
        precondition(told.updateValue(device, forKey: address(of: device)) == nil, "a device comes once")
      case .changed(let device, let before):
        precondition(
          told.updateValue(device, forKey: address(of: device)) == before, "what was told before is what changes")
      case .removed(let device):
        precondition(told.removeValue(forKey: address(of: device)) == device, "what was told is what goes")
      }
    }
  }

  /// Takes all events that wait: then who reads late knows what the others know.
  private mutating func readLate() {
    precondition(queue.count <= told.count + toldLate.count, "a device has one event at most")
    while let event = queue.take() {
      switch event {
      case .added(let device):
        precondition(toldLate.updateValue(device, forKey: address(of: device)) == nil, "a device comes once")
      case .changed(let device, let before):
        precondition(toldLate.updateValue(device, forKey: address(of: device)) == before, "what was told changes")
      case .removed(let device):
        precondition(toldLate.removeValue(forKey: address(of: device)) == device, "what was told goes")
      }
    }
    precondition(toldLate == told)
  }

  private func address(of device: Device) -> BluetoothAddress { device.bluetooth!.address }

  private func check() {
    let limits = BluetoothObjects.limits
    precondition(objects.adapters.count <= limits.adapters && objects.devices.count <= limits.devices)
    precondition(objects.services.count <= limits.services && objects.descriptors.count <= limits.descriptors)
    precondition(objects.characteristics.count <= limits.characteristics && objects.leftOut >= 0)
    for device in objects.devices.values {
      precondition(max(device.path.utf8.count, device.adapter.utf8.count) <= BluetoothObjects.textLimit.path)
      for name in [device.name, device.alias].compactMap({ $0 }) {
        precondition(!name.isEmpty && name.utf8.count <= BluetoothObjects.textLimit.name)
      }
      precondition(device.services.count <= 64 && device.manufacturerData.count <= 8)
      precondition(device.manufacturerData.values.allSatisfy { $0.count <= 255 })
      precondition(device.serviceData.count <= 64 && device.serviceData.values.allSatisfy { $0.count <= 255 })
    }
    for one in objects.services.values {
      precondition(one.included.count <= 64)
      precondition(one.included.allSatisfy { $0.utf8.count <= BluetoothObjects.textLimit.path })
    }
    for one in objects.characteristics.values {
      precondition(one.flags.count <= 32 && one.flags.allSatisfy { $0.utf8.count <= 64 })
      precondition(one.packetSize.map { 23...517 ~= $0 } ?? true)
    }
    let devices = list.devices
    precondition(devices == told.values.sorted { $0.address < $1.address }, "the events tell of all devices")
    precondition(devices.isEmpty || list.hasAdapter, "without an adapter there is no device")
  }

  /// Looks for a serial port in each device, as opening does.
  private func checkTables() {
    for adapter in ["hci0", "hci1", "00:00:00:00:00:00"] {
      guard let adapter = objects.adapter(BluetoothAdapterName(adapter)!) else { continue }
      for device in objects.devices.values {
        guard let found = device.address.flatMap({ objects.device(at: $0, on: adapter.path) }) else { continue }
        precondition(found.adapter == adapter.path && found.address == device.address)
      }
    }
    for device in objects.devices.keys {
      let table = objects.table(of: device)
      precondition(GATTNotes.services(table).utf8.count < 8_000)
      let note = GATTNotes.connected(objects.devices[device]!, objects, isOurs: true)
      precondition(note.allSatisfy { SafeText.escape($0, limit: 1_000) == $0 })
      for settings in [GATTSettings(), GATTSettings(service: BluetoothUUID("ffe0"))] {
        do throws(AccessoryError) {
          let port = try GATTSerialPort(in: table, settings, label: "ble:AA:BB:CC:DD:EE:FF")
          precondition(port.notify.notifies && (port.write.takesCommands || port.write.takesRequests))
          _ = objects.clientConfiguration(of: port.notify.path)
        } catch {
          precondition(
            error.message.utf8.count < 6_000 && SafeText.escape(error.message, limit: 6_000) == error.message)
        }
      }
    }
  }
}

/// Makes messages with sd-bus and reads them, as if they had come. For one thread.
private final class MessageMaker {
  private let bus: OpaquePointer
  private var otherEnd: CInt = -1
  private var message: OpaquePointer?
  /// What sd-bus has refused: a message with it isn't sent.
  private var isBad = false

  // CLibsystemd has only what the package uses.
  private static let setDescriptor: @convention(c) (OpaquePointer?, CInt, CInt) -> CInt = function("sd_bus_set_fd")
  private static let seal: @convention(c) (OpaquePointer?, UInt64, UInt64) -> CInt = function("sd_bus_message_seal")
  private static let rewind: @convention(c) (OpaquePointer?, CInt) -> CInt = function("sd_bus_message_rewind")

  private static func function<Function>(_ name: String) -> Function {
    unsafeBitCast(dlsym(dlopen("libsystemd.so.0", RTLD_NOW | RTLD_LOCAL), name), to: Function.self)
  }

  init?() {
    var bus: OpaquePointer?
    var ends: [CInt] = [-1, -1]
    guard sd_bus_new(&bus) >= 0, let bus else { return nil }
    self.bus = bus
    // A bus must be connected to something; nothing is read there.
    guard socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0, &ends) == 0 else { return nil }
    otherEnd = ends[1]
    guard Self.setDescriptor(bus, ends[0], ends[0]) >= 0, sd_bus_start(bus) >= 0 else { return nil }
  }

  deinit {
    sd_bus_close(bus)
    sd_bus_unref(bus)
    close(otherEnd)
  }

  func begin(path: String) {
    isBad = false
    // Only calls may have descriptors before the other end has agreed; the reader doesn't ask what a message is.
    note(sd_bus_message_new_method_call(bus, &message, "a.b", path, "a.b", "C"))
  }

  /// The message as it is read; nil when it couldn't be made or read.
  func end() -> BusMessage? {
    guard let message else { return nil }
    defer {
      sd_bus_message_unref(message)
      self.message = nil
    }
    guard !isBad, Self.seal(message, 1, 0) >= 0, Self.rewind(message, 1) >= 0 else { return nil }
    guard case .success(let read) = BusReader.read(message) else { return nil }
    for value in read.values { Self.check(value, depth: 1) }
    return read
  }

  private static func check(_ value: BusValue, depth: Int) {
    precondition(depth <= 16, "nesting is limited")
    switch value {
    case .text(let text), .path(let text):
      // Bytes that aren't UTF-8 become longer.
      precondition(text.utf8.count <= 3 * BusReader.textLimit)
    case .bytes(let bytes): precondition(bytes.count <= BusReader.textLimit)
    case .list(let values): for value in values { check(value, depth: depth + 1) }
    case .dictionary(let entries):
      for entry in entries { for value in [entry.key, entry.value] { check(value, depth: depth + 1) } }
    case .boolean, .integer, .real, .descriptor: break
    }
  }

  // MARK: - Values

  func append(_ type: Unicode.Scalar, _ text: String) {
    note(sd_bus_message_append_basic(message, SystemBus.type(type), text))
  }

  func append<Number: BitwiseCopyable>(_ type: Unicode.Scalar, _ number: Number) {
    note(withUnsafePointer(to: number) { sd_bus_message_append_basic(message, SystemBus.type(type), $0) })
  }

  func append(_ value: Bool) { append("b", CInt(value ? 1 : 0)) }

  func append(_ bytes: [UInt8]) { note(sd_bus_message_append_array(message, SystemBus.type("y"), bytes, bytes.count)) }

  func variant(_ type: String, _ body: () -> Void) { inside("v", type, body) }

  func array(_ type: String, count: Int, _ body: () -> Void) {
    inside("a", type) { for _ in 0..<count { body() } }
  }

  func structure(_ types: String, _ body: () -> Void) { inside("r", types, body) }

  func dictionary(_ types: String, count: Int, _ body: () -> Void) {
    array("{\(types)}", count: count) { inside("e", types, body) }
  }

  private func inside(_ type: Unicode.Scalar, _ contents: String, _ body: () -> Void) {
    note(sd_bus_message_open_container(message, SystemBus.type(type), contents))
    body()
    note(sd_bus_message_close_container(message))
  }

  private func note(_ result: CInt) { if result < 0 { isBad = true } }
}
