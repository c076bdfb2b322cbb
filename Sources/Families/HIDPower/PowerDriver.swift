// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryIO

extension Driver {
  /// The driver of UPSs and other power devices with a battery that follow the USB class for power devices, of any make.
  ///
  /// Its accessories have no stream of bytes. Raw bytes to anything else that is opened with it need permission.
  public static let hidPower: Driver = {
    var driver = Driver(
      name: PowerDevice.driverName, summary: "UPSs of the USB power device class, of any make",
      commands: PowerCommand.descriptions,
      // Input reports bring changes. Polling finds readings without input reports, and devices that have gone silent.
      polls: [AccessoryPoll("readings", every: .seconds(30), parts: [.battery, .values])], rawBytes: .guarded,
      lacks: [.status, .files, .requests], channel: HIDTransport.self
    ) { reports, _, _ throws(AccessoryError) in try await PowerDevice.open(reports) }
    .shipping { [.hidPower] }
    driver.isUPS = true
    return driver
  }()
}

extension Profile {
  /// The profile for every device whose descriptor says that it is a UPS, of any maker.
  public static let hidPower = shipped(PackageResources.hid_power_yaml, driver: PowerDevice.driverName)
}
