// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore

@testable import AccessoryExport

extension Device {
  /// A device with nothing special.
  static func sample(_ id: String = "SIM0001", path: String = "/dev/pts/7") -> Device {
    Device(id: id, path: path, source: .simulator, manufacturer: "Acme", model: "Pack", serialNumber: id)
  }
}

extension ReadingsSnapshot {
  /// One accessory of a service that is up, with these readings.
  static func sample(
    _ id: String = "SIM0001",
    battery: BatteryReading? = BatteryReading(percent: 57, millivolts: 3712, charge: .charging),
    values: [AccessoryValue] = [], _ change: (inout ExportedAccessory) -> Void = { _ in }
  ) -> ReadingsSnapshot {
    var accessory = ExportedAccessory(
      MirroredAccessory(service: "/run/a.socket", device: .sample(id)), id: id, name: ExportName.make(id))
    (accessory.isRead, accessory.battery, accessory.driver) = (true, battery, "framed")
    accessory.values = ValuesReading(values, at: MonotonicTime(nanoseconds: 5_000_000_000))
    accessory.readTime = MonotonicTime(nanoseconds: 5_000_000_000)
    change(&accessory)
    return ReadingsSnapshot(accessories: [accessory], services: [.init(path: "/run/a.socket", isUp: true)])
  }
}

/// A UPS on battery whose battery is low.
let lowUPS = BatteryReading(percent: 4, charge: .discharging)
