// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import TestSupport

/// A pretended bluetoothd with strangers' devices near its adapter, which can be heard and not connected.
final class PretendedNeighbours: Sendable {
  /// A device, with what it tells. BlueZ remembers it from an earlier search, or hears it only while somebody searches.
  struct Neighbour: Sendable {
    var address: String
    var name: String?
    var services: [String] = []
    var manufacturer: UInt16?
    var isRemembered = false

    fileprivate var path: String { "/org/bluez/hci0/dev_" + String(address.map { $0 == ":" ? "_" : $0 }) }

    fileprivate func properties(heard: Bool) -> [(String, WireValue)] {
      var properties: [(String, WireValue)] = [("Address", .text(address)), ("Adapter", .path("/org/bluez/hci0"))]
      if heard { properties.append(("RSSI", .int16(-60))) }
      if let name { properties.append(("Name", .text(name))) }
      if !services.isEmpty {
        let uuids = services.map { WireValue.text("0000\($0)-0000-1000-8000-00805f9b34fb") }
        properties.append(("UUIDs", .array("s", uuids)))
      }
      if let manufacturer {
        let data = WireValue.variant(.array("y", [.byte(1), .byte(2)]))
        properties.append(("ManufacturerData", .array("{qv}", [.entry(.uint16(manufacturer), data)])))
      }
      return properties
    }
  }

  let bus: FakeBus
  let environment: [String: String]
  /// Whether a device was connected, or is told anything.
  var isTouched: Bool { bus.calls.contains { ["Connect", "Pair", "WriteValue", "AcquireWrite"].contains($0.member) } }

  init(_ neighbours: [Neighbour]) throws {
    let place = Locked<FakeBus?>(nil)
    bus = try FakeBus(clients: .max) { call in
      switch call.member {
      case "GetManagedObjects":
        let adapter = Self.object(
          "/org/bluez/hci0", "org.bluez.Adapter1",
          [("Address", .text("00:1A:7D:DA:71:10")), ("Powered", .boolean(true))])
        let remembered = neighbours.filter(\.isRemembered).map {
          Self.object($0.path, "org.bluez.Device1", $0.properties(heard: false))
        }
        return .values([.array("{oa{sa{sv}}}", [adapter] + remembered)])
      case "StartDiscovery":
        for neighbour in neighbours {
          let properties = WireValue.array(
            "{sa{sv}}", [.entry(.text("org.bluez.Device1"), .properties(neighbour.properties(heard: true)))])
          place.withLock { $0 }?.signal(
            "/", "org.freedesktop.DBus.ObjectManager", "InterfacesAdded", [.path(neighbour.path), properties])
        }
        return nil
      case "Connect": return .error("org.bluez.Error.Failed", "br-connection-sdp-search")
      default: return nil
      }
    }
    environment = ["ACCESSORY_BRIDGE_SOURCES": "bluetooth", "DBUS_SYSTEM_BUS_ADDRESS": bus.address]
    place.withLock { [bus] in $0 = bus }
  }

  private static func object(_ path: String, _ interface: String, _ properties: [(String, WireValue)]) -> WireValue {
    .entry(.path(path), .array("{sa{sv}}", [.entry(.text(interface), .properties(properties))]))
  }
}
