// SPDX-License-Identifier: Apache-2.0

import AccessoryBluetooth
import Foundation

/// A dictionary for the delegate.
///
/// `@unchecked Sendable`: it is made of values, and used by one thread.
struct AdvertisementData: @unchecked Sendable {
  let value: [String: Any]
}

extension RadioAdvertisement {
  /// What is told, by the keys of Apple's framework. Manufacturer data of several companies is told of the one with the lowest
  /// number: Apple's framework has room for one.
  var dictionary: AdvertisementData {
    var data: [String: Any] = [CBAdvertisementDataIsConnectable: NSNumber(value: isConnectable)]
    if let name { data[CBAdvertisementDataLocalNameKey] = name }
    if !services.isEmpty { data[CBAdvertisementDataServiceUUIDsKey] = services.map { CBUUID($0) } }
    if let (company, bytes) = manufacturerData.min(by: { $0.key < $1.key }) {
      data[CBAdvertisementDataManufacturerDataKey] = Data(
        [UInt8(truncatingIfNeeded: company), UInt8(truncatingIfNeeded: company >> 8)] + bytes)
    }
    if !serviceData.isEmpty {
      data[CBAdvertisementDataServiceDataKey] = Dictionary(
        serviceData.map { (CBUUID($0.key), Data($0.value)) }
      ) { first, _ in first }
    }
    if let power { data[CBAdvertisementDataTxPowerLevelKey] = NSNumber(value: power) }
    return AdvertisementData(value: data)
  }
}
