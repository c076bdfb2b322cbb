// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// A Bluetooth adapter of this computer, as BlueZ reports it.
package struct BluetoothAdapter: Sendable, Equatable {
  /// The path of its object, such as `/org/bluez/hci0`.
  package let path: String
  /// Its address.
  package var address: BluetoothAddress?
  /// Whether its radio is on.
  package var isPowered = false
  /// Whether it looks for devices now, for this program or another.
  package var isDiscovering = false

  /// The kernel's name of the adapter, such as `hci0`.
  package var name: String { String(path.split(separator: "/").last ?? "") }
}

/// A device that BlueZ knows: found by a search, connected, or paired.
package struct BluetoothDevice: Sendable, Equatable {
  /// The path of its object, such as `/org/bluez/hci0/dev_AA_BB_CC_DD_EE_FF`.
  package let path: String
  /// Its address.
  package var address: BluetoothAddress?
  /// Whether the address is a random one, which may change.
  package var hasRandomAddress = false
  /// The name that it tells; nil when it tells none. Escape it before it is shown.
  package var name: String?
  /// The name that the user gave it; nil when the user gave none. Escape it, too.
  package var alias: String?
  /// The services that it tells.
  package var services: Set<BluetoothUUID> = []
  /// The data of manufacturers that it sends, by the number of the company.
  package var manufacturerData: [UInt16: [UInt8]] = [:]
  /// The strength of the last signal in dBm; nil outside of searches.
  package var signalStrength: Int?
  /// Whether it is connected, by this program or another.
  package var isConnected = false
  /// Whether the services of GATT are known, which is so soon after connecting.
  package var hasServicesResolved = false
  /// Whether it is paired with this computer.
  package var isPaired = false
  /// Whether the user trusts it.
  package var isTrusted = false
  /// The class of a Bluetooth Classic device; nil for others.
  package var deviceClass: UInt32?
  /// How full its battery is, in percent, as bluetoothd has read it from the Battery Service; nil when it hasn't.
  package var batteryPercent: Int?
  /// The path of its adapter.
  package var adapter: String

  /// Whether it is connected, paired or trusted: no stranger.
  package var isKnown: Bool { isConnected || isPaired || isTrusted }
}

/// A service of GATT.
package struct GATTService: Sendable, Equatable {
  /// The path of its object.
  package let path: String
  /// What kind of service it is.
  package var uuid: BluetoothUUID?
  /// The path of its device.
  package var device: String
}

/// A characteristic of GATT: a value that is read, written, or sent by the device.
package struct GATTCharacteristic: Sendable, Equatable {
  /// The path of its object.
  package let path: String
  /// What kind of value it is.
  package var uuid: BluetoothUUID?
  /// The path of its service.
  package var service: String
  /// What can be done with it, in the words of BlueZ: `read`, `write`, `write-without-response`, `notify`, `indicate`.
  package var flags: Set<String> = []
  /// How many bytes a packet may have, with a head of three; nil when BlueZ doesn't say.
  package var packetSize: Int?
  /// Whether a program holds the descriptor for writes; nil when BlueZ offers none.
  package var isWriteAcquired: Bool?
  /// Whether a program holds the descriptor for notifications; nil when BlueZ offers none.
  package var isNotifyAcquired: Bool?

  /// Whether the device sends its value.
  package var notifies: Bool { flags.contains("notify") || flags.contains("indicate") }
  /// Whether it takes writes that it confirms.
  package var takesRequests: Bool { flags.contains("write") }
  /// Whether it takes writes that it doesn't confirm.
  package var takesCommands: Bool { flags.contains("write-without-response") }
}

/// A descriptor of GATT: what is told about a characteristic, such as whether it sends notifications.
package struct GATTDescriptor: Sendable, Equatable {
  /// The path of its object.
  package let path: String
  /// What it tells.
  package var uuid: BluetoothUUID?
  /// The path of its characteristic.
  package var characteristic: String
}

/// What BlueZ has at the moment: adapters, devices, and the services of those that are connected. It follows the signals
/// of the bus; it has no bus itself.
///
/// Whatever is in the messages, it holds a limited number of objects with texts of limited length. Further objects are
/// counted and left out; strangers make room for a device that is connected, paired or trusted.
package struct BluetoothObjects: Sendable, Equatable {
  /// The adapters, by path.
  package private(set) var adapters: [String: BluetoothAdapter] = [:]
  /// The devices, by path.
  package private(set) var devices: [String: BluetoothDevice] = [:]
  /// The services, by path.
  package private(set) var services: [String: GATTService] = [:]
  /// The characteristics, by path.
  package private(set) var characteristics: [String: GATTCharacteristic] = [:]
  /// The descriptors, by path.
  package private(set) var descriptors: [String: GATTDescriptor] = [:]
  /// How many objects were left out.
  package private(set) var leftOut = 0

  /// The most objects of a kind.
  package static let limits = (
    adapters: 16, devices: 10_240, services: 4_096, characteristics: 8_192, descriptors: 8_192
  )
  /// The longest path and the longest name, in bytes.
  static let textLimit = (path: 256, name: 248)

  /// Nothing.
  package init() {}

  // MARK: - Following the bus

  /// Takes in the reply to `GetManagedObjects`, in place of everything known before.
  package mutating func replace(_ message: BusMessage) {
    self = BluetoothObjects()
    for object in message.values.first?.entries ?? [] {
      guard let path = object.key.path else { continue }
      add(path, object.value)
    }
  }

  /// Takes in the signal `InterfacesAdded`. Returns the path of the device that has made room for the new one; nil when there
  /// was room.
  @discardableResult
  package mutating func added(_ message: BusMessage) -> String? {
    guard message.values.count == 2, let path = message.values[0].path else { return nil }
    return add(path, message.values[1])
  }

  /// Takes in the signal `InterfacesRemoved`.
  package mutating func removed(_ message: BusMessage) {
    guard message.values.count == 2, let path = message.values[0].path else { return }
    for interface in message.values[1].texts ?? [] {
      switch Interface(rawValue: interface) {
      case .adapter: adapters[path] = nil
      case .device: devices[path] = nil
      case .service: services[path] = nil
      case .characteristic: characteristics[path] = nil
      case .descriptor: descriptors[path] = nil
      case .battery: devices[path]?.batteryPercent = nil
      case nil: break
      }
    }
  }

  /// Takes in the signal `PropertiesChanged`.
  package mutating func changed(_ message: BusMessage) {
    guard message.values.count >= 2, let interface = message.values[0].text.flatMap(Interface.init),
      let properties = message.values[1].properties
    else { return }
    let invalid = message.values.count > 2 ? message.values[2].texts ?? [] : []
    let path = message.path
    switch interface {
    case .adapter: adapters[path]?.take(properties)
    case .device: devices[path]?.take(properties, without: invalid)
    case .service: services[path]?.take(properties)
    case .characteristic: characteristics[path]?.take(properties)
    case .descriptor: descriptors[path]?.take(properties)
    case .battery: devices[path]?.take(battery: properties)
    }
  }

  @discardableResult
  private mutating func add(_ path: String, _ interfaces: BusValue) -> String? {
    guard path.utf8.count <= Self.textLimit.path else {
      leftOut += 1
      return nil
    }
    var displaced: String?
    var battery: [String: BusValue]?
    for (name, value) in interfaces.properties ?? [:] {
      guard let interface = Interface(rawValue: name), let properties = value.properties else { continue }
      switch interface {
      case .adapter: put(\.adapters, path, Self.limits.adapters, BluetoothAdapter(path: path)) { $0.take(properties) }
      case .device:
        let adapter = String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
        var device = devices[path] ?? BluetoothDevice(path: path, adapter: adapter)
        device.take(properties, without: [])
        if device.isKnown, devices[path] == nil, devices.count >= Self.limits.devices { displaced = displaceStranger() }
        put(\.devices, path, Self.limits.devices, device) { $0 = device }
      case .service:
        put(\.services, path, Self.limits.services, GATTService(path: path, device: "")) { $0.take(properties) }
      case .characteristic:
        put(\.characteristics, path, Self.limits.characteristics, GATTCharacteristic(path: path, service: "")) {
          $0.take(properties)
        }
      case .descriptor:
        put(\.descriptors, path, Self.limits.descriptors, GATTDescriptor(path: path, characteristic: "")) {
          $0.take(properties)
        }
      case .battery: battery = properties
      }
    }
    // The device may come behind it in the same message.
    if let battery { devices[path]?.take(battery: battery) }
    return displaced
  }

  /// Leaves out the stranger with the weakest signal. Returns its path; nil when there are no strangers.
  private mutating func displaceStranger() -> String? {
    let strangers = devices.values.lazy.filter { !$0.isKnown }
    let weakest = strangers.min { ($0.signalStrength ?? .min, $0.path) < ($1.signalStrength ?? .min, $1.path) }
    guard let weakest else { return nil }
    devices[weakest.path] = nil
    leftOut += 1
    return weakest.path
  }

  private mutating func put<Object>(
    _ table: WritableKeyPath<BluetoothObjects, [String: Object]>, _ path: String, _ limit: Int, _ new: Object,
    _ fill: (inout Object) -> Void
  ) {
    guard self[keyPath: table][path] != nil || self[keyPath: table].count < limit else { return leftOut += 1 }
    var object = self[keyPath: table][path] ?? new
    fill(&object)
    self[keyPath: table][path] = object
  }

  private enum Interface: String {
    case adapter = "org.bluez.Adapter1"
    case device = "org.bluez.Device1"
    case service = "org.bluez.GattService1"
    case characteristic = "org.bluez.GattCharacteristic1"
    case descriptor = "org.bluez.GattDescriptor1"
    case battery = "org.bluez.Battery1"
  }

  // MARK: - Looking

  /// The adapters in the order of their names.
  package var adaptersByName: [BluetoothAdapter] {
    adapters.values.sorted { ($0.path.utf8.count, $0.path) < ($1.path.utf8.count, $1.path) }
  }

  /// The device with this address: the connected one, if several adapters know it.
  package func device(at address: BluetoothAddress) -> BluetoothDevice? {
    let found = devices.values.filter { $0.address == address }.sorted { $0.path < $1.path }
    return found.first(where: \.isConnected) ?? found.first
  }

  /// The path of the descriptor that says whether a characteristic sends its value, and that every device lets be read;
  /// nil when it has none.
  package func clientConfiguration(of characteristic: String) -> String? {
    descriptors.values.first { $0.characteristic == characteristic && $0.uuid == .clientConfiguration }?.path
  }

  /// The services of a device with their characteristics, in the order of their paths, which is that of the device.
  package func table(of device: String) -> [(service: GATTService, characteristics: [GATTCharacteristic])] {
    let found = services.values.filter { $0.device == device }.sorted { $0.path < $1.path }
    // Each characteristic is looked at once, however many services there are.
    var parts = Dictionary(found.map { ($0.path, [GATTCharacteristic]()) }) { first, _ in first }
    for characteristic in characteristics.values { parts[characteristic.service]?.append(characteristic) }
    return found.map { ($0, (parts[$0.path] ?? []).sorted { $0.path < $1.path }) }
  }
}

// MARK: - Properties

extension BluetoothAdapter {
  fileprivate mutating func take(_ properties: [String: BusValue]) {
    if let address = properties["Address"]?.text { self.address = BluetoothAddress(address) }
    if let isPowered = properties["Powered"]?.boolean { self.isPowered = isPowered }
    if let isDiscovering = properties["Discovering"]?.boolean { self.isDiscovering = isDiscovering }
  }
}

extension BluetoothDevice {
  /// The most services and the most manufacturers that are kept, and the most bytes of a manufacturer.
  private static let limits = (services: 64, manufacturers: 8, data: 255)

  fileprivate mutating func take(_ properties: [String: BusValue], without invalid: [String]) {
    if let address = properties["Address"]?.text { self.address = BluetoothAddress(address) }
    if let kind = properties["AddressType"]?.text { hasRandomAddress = kind == "random" }
    if let name = properties["Name"]?.text { self.name = Self.cut(name) }
    // Without a name of the user's, BlueZ gives the device's, or its address.
    if let alias = properties["Alias"]?.text { self.alias = Self.cut(alias) }
    if let uuids = properties["UUIDs"]?.texts {
      services = Set(uuids.prefix(Self.limits.services).compactMap { BluetoothUUID($0) })
    }
    if let adapter = properties["Adapter"]?.path, adapter.utf8.count <= BluetoothObjects.textLimit.path {
      self.adapter = adapter
    }
    if let strength = properties["RSSI"]?.integer.flatMap(Int16.init(exactly:)) { signalStrength = Int(strength) }
    if let isConnected = properties["Connected"]?.boolean { self.isConnected = isConnected }
    if let isResolved = properties["ServicesResolved"]?.boolean { hasServicesResolved = isResolved }
    if let isPaired = properties["Paired"]?.boolean { self.isPaired = isPaired }
    if let isTrusted = properties["Trusted"]?.boolean { self.isTrusted = isTrusted }
    if let number = properties["Class"]?.integer { deviceClass = UInt32(exactly: number) }
    if let entries = properties["ManufacturerData"]?.entries {
      manufacturerData = [:]
      for entry in entries.prefix(Self.limits.manufacturers) {
        guard let company = entry.key.integer.flatMap(UInt16.init(exactly:)), let data = entry.value.bytes else {
          continue
        }
        manufacturerData[company] = Array(data.prefix(Self.limits.data))
      }
    }
    if invalid.contains("RSSI") { signalStrength = nil }
    if invalid.contains("Name") { name = nil }
  }

  fileprivate mutating func take(battery properties: [String: BusValue]) {
    guard let percent = properties["Percentage"]?.integer, 0...100 ~= percent else { return }
    batteryPercent = Int(percent)
  }

  /// At most as many bytes as a Bluetooth name can have, cut between characters.
  private static func cut(_ text: String) -> String? {
    guard !text.isEmpty else { return nil }
    guard text.utf8.count > BluetoothObjects.textLimit.name else { return text }
    var count = 0
    return String(
      text.unicodeScalars.prefix { scalar in
        count += UTF8.width(scalar)
        return count <= BluetoothObjects.textLimit.name
      })
  }
}

extension GATTService {
  fileprivate mutating func take(_ properties: [String: BusValue]) {
    if let uuid = properties["UUID"]?.text { self.uuid = BluetoothUUID(uuid) }
    if let device = properties["Device"]?.path, device.utf8.count <= BluetoothObjects.textLimit.path {
      self.device = device
    }
  }
}

extension GATTCharacteristic {
  /// The most flags that are kept, and the sizes of packets that GATT has.
  private static let limits = (flags: 32, packet: 23...517)

  fileprivate mutating func take(_ properties: [String: BusValue]) {
    if let uuid = properties["UUID"]?.text { self.uuid = BluetoothUUID(uuid) }
    if let service = properties["Service"]?.path, service.utf8.count <= BluetoothObjects.textLimit.path {
      self.service = service
    }
    if let flags = properties["Flags"]?.texts {
      self.flags = Set(flags.prefix(Self.limits.flags).filter { $0.utf8.count <= 64 })
    }
    if let size = properties["MTU"]?.integer, Self.limits.packet.contains(Int(clamping: size)) {
      packetSize = Int(size)
    }
    if let isAcquired = properties["WriteAcquired"]?.boolean { isWriteAcquired = isAcquired }
    if let isAcquired = properties["NotifyAcquired"]?.boolean { isNotifyAcquired = isAcquired }
  }
}

extension GATTDescriptor {
  fileprivate mutating func take(_ properties: [String: BusValue]) {
    if let uuid = properties["UUID"]?.text { self.uuid = BluetoothUUID(uuid) }
    if let path = properties["Characteristic"]?.path, path.utf8.count <= BluetoothObjects.textLimit.path {
      characteristic = path
    }
  }
}

extension UTF8 {
  fileprivate static func width(_ scalar: Unicode.Scalar) -> Int { Unicode.UTF8.encode(scalar)?.count ?? 4 }
}
