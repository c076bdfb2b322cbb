// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers

extension Driver {
  /// The driver of batteries and chargers that the kernel knows. It only reads.
  ///
  /// Its accessories have no stream of bytes. Raw bytes to anything else that is opened with it need permission.
  public static let powerSupply = Driver(
    name: PowerSupply.driverName, summary: "batteries that the kernel knows: of a laptop, a mouse, a headset",
    // The kernel reports some changes, but not those of a battery's voltage and current.
    polls: [AccessoryPoll("readings", every: .seconds(60), parts: [.battery, .values])], rawBytes: .guarded,
    lacks: [.status, .files, .requests], channel: PowerSupplyTransport.self
  ) { supply, _, _ in PowerSupply.open(supply) }
  .shipping { [.powerSupply] }
}

extension Profile {
  /// The profile for every battery that the kernel knows.
  public static let powerSupply = shipped(PackageResources.power_supply_yaml, driver: PowerSupply.driverName)
}
