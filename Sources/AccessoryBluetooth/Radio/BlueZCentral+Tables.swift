// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

// The services of a connected device.

extension BlueZCentral {
  /// The time limit for discovering the services.
  private static let resolveLimit = Duration.seconds(40)
  /// A changed table is reported after this time without changes, because its objects are added and removed one by one.
  private static let quiet = Duration.milliseconds(250)
  /// How long bluetoothd may take to read the battery after the device was connected.
  private static let batteryLimit = Duration.seconds(5)

  func discover(_ link: BlueZLink, _ bluez: BlueZ) async -> RadioEvent? {
    let path = link.path
    let gone = AccessoryError(.disconnected, "gone")
    do throws(AccessoryError) {
      try await bluez.first(within: Self.resolveLimit, otherwise: AccessoryError(.timedOut, "late")) {
        objects -> Result<Void, AccessoryError>? in
        guard let device = objects.devices[path], device.isConnected else { return .failure(gone) }
        return device.hasServicesResolved ? .success(()) : nil
      }
    } catch {
      return .table(link.link, .failure(.failed))
    }
    guard links[link.link.peer] === link else { return nil }
    let table = take(objects, link)
    return .table(link.link, .success(table))
  }

  /// Makes the table from BlueZ's objects, and reports the size of packets.
  private func take(_ objects: BluetoothObjects, _ link: BlueZLink) -> [RadioService] {
    let (table, places, size) = Self.table(of: link.path, objects)
    link.isResolved = true
    (link.table, link.places, link.placesByPath) = (table, places, Set(places.values))
    if let size { tell(.packetSize(link.link, size)) }
    return table
  }

  private static func table(
    of device: String, _ objects: BluetoothObjects
  ) -> (services: [RadioService], places: [Int: String], packetSize: Int?) {
    var places: [Int: String] = [:]
    var handles: [String: Int] = [:]
    func place(_ path: String, _ kind: String) -> Int? {
      // …/service0010/char0011/desc0013: handles with four digits.
      guard let name = path.split(separator: "/").last, name.hasPrefix(kind),
        let handle = Int(name.dropFirst(kind.count), radix: 16), 1...0xFFFF ~= handle, places[handle] == nil
      else { return nil }
      places[handle] = path
      handles[path] = handle
      return handle
    }
    var descriptors: [String: [GATTDescriptor]] = [:]
    for descriptor in objects.descriptors.values {
      descriptors[descriptor.characteristic, default: []].append(descriptor)
    }
    let known = objects.table(of: device)
    var size: Int?
    var table: [RadioService] = []
    for (service, characteristics) in known {
      guard let uuid = service.uuid, let handle = place(service.path, "service") else { continue }
      var made = RadioService(uuid, handle: handle, isPrimary: service.isPrimary)
      for characteristic in characteristics {
        guard let uuid = characteristic.uuid, let handle = place(characteristic.path, "char") else { continue }
        if let packet = characteristic.packetSize { size = max(size ?? 0, packet) }
        let found = (descriptors[characteristic.path] ?? []).sorted { $0.path < $1.path }
        made.characteristics.append(
          RadioCharacteristic(
            uuid, handle: handle, properties: characteristic.properties,
            found.compactMap { descriptor in
              guard let uuid = descriptor.uuid, let handle = place(descriptor.path, "desc") else { return nil }
              return RadioDescriptor(uuid, handle: handle)
            }))
      }
      table.append(made)
    }
    let services = Dictionary(known.map { ($0.service.path, $0.service) }) { first, _ in first }
    for index in table.indices {
      let path = places[table[index].handle] ?? ""
      table[index].included = (services[path]?.included ?? []).compactMap { handles[$0] }
    }
    let battery = RadioService.battery
    let hasBattery = objects.devices[device].map { $0.batteryPercent != nil || $0.services.contains(battery.uuid) }
    if hasBattery == true, !table.contains(where: { $0.uuid == battery.uuid }) { table.append(battery) }
    return (table, places, size)
  }

  /// Checks whether an added, changed or removed object belongs to the services of a connected device.
  func tableMayHaveChanged(_ path: String, _ objects: BluetoothObjects) {
    let isThere =
      objects.characteristics[path] != nil || objects.services[path] != nil || objects.descriptors[path] != nil
    for link in links.values where link.table != nil && path.hasPrefix(link.path + "/") {
      if isThere == link.placesByPath.contains(path) { continue }
      lookSoon(link)
    }
  }

  private func lookSoon(_ link: BlueZLink) {
    if let timer = link.looksAgain { io.cancel(timer) }
    let asked = link.link
    link.looksAgain = io.schedule(at: io.now + Self.quiet) { [weak self] in
      self?.enter { central in
        if let link = central.links[asked.peer], link.link == asked { central.lookAgain(link) }
      }
    }
  }

  private func lookAgain(_ link: BlueZLink) {
    link.looksAgain = nil
    let objects = objects
    // The services are missing while they are being discovered again.
    guard let before = link.table, objects.devices[link.path]?.hasServicesResolved == true else { return }
    let table = take(objects, link)
    if table != before { tell(.tableChanged(link.link, table)) }
  }

  // MARK: - The battery, which bluetoothd reads by itself

  /// Updates a link after its device has changed.
  func follow(_ link: BlueZLink, _ device: BluetoothDevice) {
    if let percent = device.batteryPercent, percent != link.percent {
      link.percent = percent
      if link.tellsBattery {
        let handle = RadioService.battery.characteristics[0].handle
        tell(.value(link.link, handle: handle, [UInt8(clamping: percent)]))
      }
    }
    if device.hasServicesResolved != link.isResolved {
      link.isResolved = device.hasServicesResolved
      if link.isResolved, link.table != nil { lookSoon(link) }
    }
  }

  func percent(_ link: BlueZLink, _ bluez: BlueZ) async -> Result<[UInt8], RadioFailure> {
    let path = link.path
    let late = AccessoryError(.timedOut, "late")
    let percent = try? await bluez.first(within: Self.batteryLimit, otherwise: late) { objects in
      objects.devices[path]?.batteryPercent.map { .success($0) }
    }
    return percent.map { .success([UInt8(clamping: $0)]) } ?? .failure(.failed)
  }
}

extension RadioService {
  /// The Battery Service, which bluetoothd doesn't export as a service, at handles that no device uses.
  static let battery = RadioService(
    BluetoothUUID(short: 0x180F), handle: 0x10000,
    [RadioCharacteristic(BluetoothUUID(short: 0x2A19), handle: 0x10001, properties: 0x12)])
}

extension GATTCharacteristic {
  /// The bits of the GATT declaration.
  fileprivate var properties: UInt8 {
    let bits: [(String, UInt8)] = [
      ("broadcast", 1), ("read", 2), ("write-without-response", 4), ("write", 8), ("notify", 0x10), ("indicate", 0x20),
      ("authenticated-signed-writes", 0x40), ("extended-properties", 0x80),
    ]
    return bits.reduce(0) { flags.contains($1.0) ? $0 | $1.1 : $0 }
  }
}
