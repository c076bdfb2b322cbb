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
  /// The advertisement by the keys of Apple's framework. That has room for the manufacturer data of one company: the
  /// one with the lowest number.
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
