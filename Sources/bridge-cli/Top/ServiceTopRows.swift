// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import CommandOutput

/// Rows of `top` for the accessories of services.
enum ServiceTopRows {
  /// A row for each accessory that a service lists, and for each that was connected before.
  static func rows(_ snapshot: MirrorSnapshot) -> [TopRow] {
    var known: [String: MirroredAccessory] = [:]
    for accessory in snapshot.accessories { known[key(accessory.service, accessory.device)] = accessory }
    var rows: [TopRow] = []
    for service in snapshot.services {
      for record in service.records {
        let key = key(service.path, record.device)
        var accessory = known.removeValue(forKey: key) ?? unconnected(record.device, service.path)
        (accessory.device, accessory.record) = (record.device, record)
        rows.append(row(key, accessory, isUp: service.isUp))
      }
    }
    let taken = Set(snapshot.accessories.lazy.filter(\.isConnected).map { $0.service + "\n" + $0.device.place })
    // Another device may be where one was that is gone.
    for (key, entry) in known where entry.isConnected || !taken.contains(entry.service + "\n" + entry.device.place) {
      let isUp = snapshot.services.contains { $0.path == entry.service && $0.isUp }
      rows.append(row(key, entry, isUp: isUp))
    }
    return rows
  }

  /// A device that the service hasn't opened yet.
  private static func unconnected(_ device: Device, _ service: String) -> MirroredAccessory {
    var accessory = MirroredAccessory(service: service, device: device)
    accessory.isConnected = false
    return accessory
  }

  static func key(_ service: String, _ device: Device) -> String {
    "\(service)\n\(device.place)\n\(device.id)"
  }

  private static func row(_ key: String, _ accessory: MirroredAccessory, isUp: Bool) -> TopRow {
    var row = TopRow(key: key, name: accessory.device.id, accessory)
    row.isServed = isUp
    return row
  }
}
