// SPDX-License-Identifier: Apache-2.0

// swift-format-ignore-file: AlwaysUseLowerCamelCase

/// The name, a `String`.
public let CBAdvertisementDataLocalNameKey = "kCBAdvDataLocalName"
/// Data of the manufacturer, a `Data`: the number of the company first, its low byte before its high one.
public let CBAdvertisementDataManufacturerDataKey = "kCBAdvDataManufacturerData"
/// Data of services, a `[CBUUID: Data]`.
public let CBAdvertisementDataServiceDataKey = "kCBAdvDataServiceData"
/// The services, a `[CBUUID]`.
public let CBAdvertisementDataServiceUUIDsKey = "kCBAdvDataServiceUUIDs"
/// Services that didn't fit into an advertisement of iOS. Never present on Linux.
public let CBAdvertisementDataOverflowServiceUUIDsKey = "kCBAdvDataHashedServiceUUIDs"
/// The power of the signal when it was sent, in dBm, an `NSNumber`.
public let CBAdvertisementDataTxPowerLevelKey = "kCBAdvDataTxPowerLevel"
/// Whether it can be connected, an `NSNumber`. Always 1, because BlueZ doesn't report it.
public let CBAdvertisementDataIsConnectable = "kCBAdvDataIsConnectable"
/// Services that it searches for. Never present on Linux: BlueZ doesn't report them.
public let CBAdvertisementDataSolicitedServiceUUIDsKey = "kCBAdvDataSolicitedServiceUUIDs"
