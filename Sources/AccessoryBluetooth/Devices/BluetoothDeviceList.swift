// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery

/// Selects the BlueZ devices to report: those that are connected, paired or trusted, those that are received during a
/// search, and those that were received and match a wish. It follows BlueZ's objects, and uses no bus and no clock.
///
/// The cost of a change depends on the number of wishes, not on the number of devices.
struct BluetoothDeviceList {
  /// The devices by address, whether they are reported or not.
  private var known: [BluetoothAddress: Device] = [:]
  private var reported: [BluetoothAddress: Device] = [:]
  /// The paths of the objects with an address: several adapters may know a device. They are in arrays,
  /// because the runtime needs half a million instructions at each start to make the type of a set of strings.
  private var paths: [BluetoothAddress: [String]] = [:]
  private var addresses: [String: BluetoothAddress] = [:]
  /// Whether each adapter is on.
  private var adapters: [String: Bool] = [:]
  /// The devices that were received or connected since BlueZ knows them.
  private var heard: Set<BluetoothAddress> = []
  private var wishes: [DeviceWish] = []
  /// The devices that fit each wish.
  private var fitting: [Set<BluetoothAddress>] = []

  /// The reported devices, in the order of their addresses.
  var devices: [Device] { reported.values.sorted { $0.address < $1.address } }

  /// Whether an adapter is on.
  var hasAdapter: Bool { adapters.values.contains(true) }

  /// The wishes without a matching device that is connected, paired or trusted, or can be received.
  var unmet: [DeviceWish] {
    zip(wishes, fitting).filter { _, fitting in
      !fitting.contains { known[$0]?.bluetooth.map { $0.isKnown || $0.isInReach } ?? false }
    }.map(\.0)
  }

  /// Replaces the wishes.
  mutating func use(_ wishes: [DeviceWish]) -> [DeviceEvent] {
    self.wishes = wishes
    fitting = wishes.map { wish in Set(known.filter { wish.fits($0.value) }.keys) }
    return known.keys.sorted(by: Self.order).compactMap { report($0) }
  }

  mutating func replace(_ objects: BluetoothObjects) -> [DeviceEvent] {
    adapters = objects.adapters.mapValues(\.isPowered)
    var concerned = Set(known.keys)
    paths = [:]
    addresses = [:]
    for device in objects.devices.values {
      guard let address = device.address else { continue }
      paths[address, default: []].append(device.path)
      addresses[device.path] = address
      concerned.insert(address)
    }
    return concerned.sorted(by: Self.order).compactMap { look(at: $0, objects) }
  }

  /// Updates the list after a change of the object at `path`.
  mutating func change(_ path: String, _ objects: BluetoothObjects) -> [DeviceEvent] {
    if adapters[path] != objects.adapters[path]?.isPowered { return replace(objects) }
    let (old, new) = (addresses[path], objects.devices[path]?.address)
    if old != new {
      if let old {
        paths[old]?.removeAll { $0 == path }
        if paths[old]?.isEmpty == true { paths[old] = nil }
      }
      if let new { paths[new, default: []].append(path) }
      addresses[path] = new
    }
    return Set([old, new].compactMap { $0 }).sorted(by: Self.order).compactMap { look(at: $0, objects) }
  }

  /// Checks the objects with an address again. Returns the events to report.
  private mutating func look(at address: BluetoothAddress, _ objects: BluetoothObjects) -> DeviceEvent? {
    let found = (paths[address] ?? []).sorted().compactMap { path in
      objects.devices[path].flatMap { Device($0, in: objects) }
    }
    guard let device = found.first(where: { $0.bluetooth?.isConnected == true }) ?? Self.best(found) else {
      known[address] = nil
      heard.remove(address)
      for index in fitting.indices { fitting[index].remove(address) }
      return report(address)
    }
    if let before = known[address], before.saysSame(as: device) { return nil }
    known[address] = device
    if device.bluetooth?.isInReach == true { heard.insert(address) }
    for (index, wish) in wishes.enumerated() {
      if wish.fits(device) { fitting[index].insert(address) } else { fitting[index].remove(address) }
    }
    return report(address)
  }

  /// The best of the objects of one address: a known device, or else the one with the strongest signal.
  private static func best(_ devices: [Device]) -> Device? {
    devices.first { $0.bluetooth?.isKnown == true }
      ?? devices.max { ($0.bluetooth?.signalStrength ?? .min) < ($1.bluetooth?.signalStrength ?? .min) }
  }

  /// Compares the reported state of an address with the current one.
  private mutating func report(_ address: BluetoothAddress) -> DeviceEvent? {
    let now = known[address].flatMap { isToReport($0, address) ? $0 : nil }
    let before = reported.updateValue(now, at: address)
    switch (before, now) {
    case (nil, let now?): return .added(now)
    case (let before?, nil): return .removed(before)
    case (let before?, let now?) where !before.saysSame(as: now): return .changed(now, from: before)
    default:
      // Keep the reported value, so that a later event contains the same one.
      reported[address] = before
      return nil
    }
  }

  private func isToReport(_ device: Device, _ address: BluetoothAddress) -> Bool {
    guard let bluetooth = device.bluetooth else { return false }
    if bluetooth.isKnown || bluetooth.isInReach { return true }
    return heard.contains(address) && fitting.contains { $0.contains(address) }
  }

  private static func order(_ a: BluetoothAddress, _ b: BluetoothAddress) -> Bool { a.rawValue < b.rawValue }
}

extension Dictionary {
  /// Sets or removes the value of a key, and returns the one before.
  fileprivate mutating func updateValue(_ value: Value?, at key: Key) -> Value? {
    defer { self[key] = value }
    return self[key]
  }
}
