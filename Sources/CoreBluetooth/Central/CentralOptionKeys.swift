// SPDX-License-Identifier: Apache-2.0

import Foundation

// swift-format-ignore-file: AlwaysUseLowerCamelCase

/// Whether each advertisement is reported, an `NSNumber` or a `Bool`; otherwise each device is reported once.
public let CBCentralManagerScanOptionAllowDuplicatesKey = "kCBScanOptionAllowDuplicates"
/// Also finds devices that search for these services. No effect on Linux.
public let CBCentralManagerScanOptionSolicitedServiceUUIDsKey = "kCBScanOptionSolicitedServiceUUIDs"
/// Whether the user gets a message that Bluetooth is off. No effect on Linux.
public let CBCentralManagerOptionShowPowerAlertKey = "kCBInitOptionShowPowerAlert"
/// The name under which a manager is restored. Without effect on Linux: nothing is restored.
public let CBCentralManagerOptionRestoreIdentifierKey = "kCBInitOptionRestoreIdentifier"
/// Whether media devices are meant. No effect on Linux.
public let CBCentralManagerOptionDeviceAccessForMedia = "kCBInitOptionDeviceAccessForMedia"
/// The peripherals of a restored manager. Nothing is restored on Linux.
public let CBCentralManagerRestoredStatePeripheralsKey = "kCBRestoredPeripherals"
/// The services of a restored search. Nothing is restored on Linux.
public let CBCentralManagerRestoredStateScanServicesKey = "kCBRestoredScanServices"
/// The options of a restored search. Nothing is restored on Linux.
public let CBCentralManagerRestoredStateScanOptionsKey = "kCBRestoredScanOptions"
/// Whether the user of a suspended program gets a message. No effect on Linux.
public let CBConnectPeripheralOptionNotifyOnConnectionKey = "kCBConnectOptionNotifyOnConnection"
/// Whether the user of a suspended program gets a message. No effect on Linux.
public let CBConnectPeripheralOptionNotifyOnDisconnectionKey = "kCBConnectOptionNotifyOnDisconnection"
/// Whether the user of a suspended program gets a message. No effect on Linux.
public let CBConnectPeripheralOptionNotifyOnNotificationKey = "kCBConnectOptionNotifyOnNotification"
/// How long to wait before connecting, in seconds. No effect on Linux.
public let CBConnectPeripheralOptionStartDelayKey = "kCBConnectOptionStartDelay"
/// Whether Bluetooth Classic is connected, too. No effect on Linux.
public let CBConnectPeripheralOptionEnableTransportBridgingKey = "kCBConnectOptionEnableTransportBridging"
/// Whether the device shows notifications of iOS. No effect on Linux.
public let CBConnectPeripheralOptionRequiresANCS = "kCBConnectOptionRequiresANCS"
/// Whether a lost connection is restored, an `NSNumber` or a `Bool`.
public let CBConnectPeripheralOptionEnableAutoReconnect = "kCBConnectOptionEnableAutoReconnect"

extension [String: Any]? {
  /// Whether an option is set, as a `Bool` or an `NSNumber`.
  func isTrue(_ key: String) -> Bool {
    switch self?[key] {
    case let value as Bool: value
    case let value as NSNumber: value.boolValue
    default: false
    }
  }
}
