// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import MessageBus

/// BlueZ's current objects: adapters, devices, and the services of connected devices. It is updated from messages of the bus, and
/// doesn't use the bus itself.
///
/// Whatever is in the messages, it holds a limited number of objects with texts of limited length. Further objects are
/// counted and dropped. A device that is connected, paired or trusted replaces another one.
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
  /// The number of dropped objects.
  package private(set) var leftOut = 0

  /// The most objects of a kind.
  package static let limits = (
    adapters: 16, devices: 10_240, services: 4_096, characteristics: 8_192, descriptors: 8_192
  )
  /// The longest path and the longest name, in bytes.
  static let textLimit = (path: 256, name: 248)

  /// No objects.
  package init() {}

  // MARK: - Following the bus

  /// Applies the reply to `GetManagedObjects`: replaces everything known before.
  package mutating func replace(_ message: BusMessage) {
    self = BluetoothObjects()
    for object in message.values.first?.entries ?? [] {
      guard let path = object.key.path else { continue }
      add(path, object.value)
    }
  }

  /// Applies the signal `InterfacesAdded`. Returns the path of a device that was dropped to make room; nil if none was.
  @discardableResult
  package mutating func added(_ message: BusMessage) -> String? {
    guard message.values.count == 2, let path = message.values[0].path else { return nil }
    return add(path, message.values[1])
  }

  /// Applies the signal `InterfacesRemoved`.
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

  /// Applies the signal `PropertiesChanged`.
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
        if !device.isStranger, devices[path] == nil, devices.count >= Self.limits.devices {
          displaced = displaceStranger()
        }
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
    // The device may follow later in the same message.
    if let battery { devices[path]?.take(battery: battery) }
    return displaced
  }

  /// Drops the device with the weakest signal that isn't connected, paired or trusted. Returns its path; nil if there
  /// is none.
  private mutating func displaceStranger() -> String? {
    let strangers = devices.values.lazy.filter(\.isStranger)
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

  // MARK: - Finding

  /// The adapters in the order of their names.
  package var adaptersByName: [BluetoothAdapter] {
    adapters.values.sorted { ($0.path.utf8.count, $0.path) < ($1.path.utf8.count, $1.path) }
  }

  /// The matching adapter; nil if there is none.
  package func adapter(_ name: BluetoothAdapterName) -> BluetoothAdapter? {
    adaptersByName.first { name.address == nil ? $0.name == name.description : $0.address == name.address }
  }

  /// The adapter with this name, if it is there; without a name, all.
  package func adapters(_ name: BluetoothAdapterName?) -> [BluetoothAdapter] {
    guard let name else { return adaptersByName }
    return adapter(name).map { [$0] } ?? []
  }

  /// The device with this address, at the adapter with this path if one is named. If several adapters know it, prefers the one that
  /// is connected to it, then one that is on, and among those one that is paired with it.
  package func device(at address: BluetoothAddress, on adapter: String? = nil) -> BluetoothDevice? {
    func rank(_ device: BluetoothDevice) -> Int {
      let isOn = adapters[device.adapter]?.isPowered == true
      return device.isConnected ? 0 : (isOn ? 1 : 3) + (device.isPaired ? 0 : 1)
    }
    return devices.values.filter { $0.address == address && (adapter == nil || $0.adapter == adapter) }
      .min { (rank($0), $0.path) < (rank($1), $1.path) }
  }

  /// The path of a characteristic's Client Characteristic Configuration, a descriptor that every device allows to be read; nil if it
  /// has none.
  package func clientConfiguration(of characteristic: String) -> String? {
    descriptors.values.first { $0.characteristic == characteristic && $0.uuid == .clientConfiguration }?.path
  }

  /// The services of a device with their characteristics, in the order of their paths, which is that of the device.
  package func table(of device: String) -> [(service: GATTService, characteristics: [GATTCharacteristic])] {
    let found = services.values.filter { $0.device == device }.sorted { $0.path < $1.path }
    // Visit each characteristic once, however many services there are.
    var parts = Dictionary(found.map { ($0.path, [GATTCharacteristic]()) }) { first, _ in first }
    for characteristic in characteristics.values { parts[characteristic.service]?.append(characteristic) }
    return found.map { ($0, (parts[$0.path] ?? []).sorted { $0.path < $1.path }) }
  }
}
