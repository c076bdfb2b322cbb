// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery

extension DriverLibrary {
  /// The kinds that a Bluetooth device may be, by what it tells of itself: its name, its services and the companies whose data it
  /// sends. Nothing is connected or sent for it. Anybody can tell anything, so it is only likely.
  public func kindsOnAir(_ device: Device) -> [IdentificationFind] {
    guard device.bluetooth != nil else { return [] }
    return protocols.names.compactMap { protocols.described($0)?.description }.compactMap { description in
      guard let look = description.bluetooth?.look(of: device) else { return nil }
      let facts = [
        device.bluetooth?.toldName.map { IdentificationFind.Fact("name", $0) },
        look.service.map { IdentificationFind.Fact("service", $0.description) },
      ]
      return IdentificationFind(kind: description.name, step: 0, line: nil, facts: facts.compactMap { $0 })
    }
  }
}
