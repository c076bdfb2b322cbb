// SPDX-License-Identifier: Apache-2.0

@_exported import AccessoryDrivers
@_exported import FamilyAF1
@_exported import FamilyBatteryService
@_exported import FamilyBluno
@_exported import FamilyEV3
@_exported import FamilyHIDPower
@_exported import FamilyHM10
@_exported import FamilyHM1X
@_exported import FamilyMAVLink
@_exported import FamilyPowerSupply

extension DriverLibrary {
  /// The drivers that come with this package, in the order in which they are shown. This is the one list of the families in Swift.
  public static let builtIn = DriverLibrary(
    [.af1, .ev3, .hm10, .bluno, .hm1x, .mavlink, .hidPower, .batteryService, .powerSupply], protocols: .builtIn)
}

extension ProfileStore {
  /// The profiles that come with this package.
  public static let builtIn = ProfileStore(drivers: .builtIn)
}
