// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import Foundation

/// An accessory that is connected, or was connected.
///
/// The properties are what discovery knows without opening the device: a simulator's announcement, or the string
/// descriptors of a USB device. They come from the device, so use them for display only, and choose an accessory by
/// `protocolStrings`. Unknown properties are empty. The accessory isn't asked for them, since that would need to open
/// it.
public final class EAAccessory: NSObject, Sendable {
  let port: AccessoryPort
  /// A number that is unique for each connection, and never `EAConnectionIDNone`.
  public let connectionID: Int
  private let delegateReference = Locked(DelegateReference())

  init(_ device: Device, profile: Profile, connectionID: Int, services: [String], drivers: DriverLibrary) {
    port = AccessoryPort(device: device, profile: profile, services: services, drivers: drivers)
    self.connectionID = connectionID
  }

  /// Whether the accessory is connected. An accessory that is connected again is another object.
  public var isConnected: Bool { port.isConnected }
  /// The name of the device, which its user may have given to it.
  public var name: String { port.device.name ?? "" }
  /// The manufacturer's name.
  public var manufacturer: String { port.device.manufacturer ?? "" }
  /// The name of the product.
  public var modelNumber: String { port.device.model ?? "" }
  /// The serial number. For one of several accessories on a line the unit follows it: "A123@2".
  public var serialNumber: String {
    let device = port.device
    return (device.serialNumber ?? "") + device.unitSuffix
  }
  /// The version of the firmware.
  public var firmwareRevision: String { port.device.firmwareRevision ?? "" }
  /// The version of the hardware.
  public var hardwareRevision: String { port.device.hardwareRevision ?? "" }
  /// The protocols for which the accessory can be opened, from its profile.
  public var protocolStrings: [String] { port.profile.protocolStrings }
  /// Always empty, since there is no dock.
  public var dockType: String { "" }

  /// The delegate, called on the main thread when the accessory is disconnected. A weak reference.
  public weak var delegate: (any EAAccessoryDelegate)? {
    get { delegateReference.withLock { $0 }.object }
    set {
      let reference = DelegateReference(object: newValue)
      delegateReference.withLock { $0 = reference }
    }
  }

  /// A description for logs.
  public override var description: String {
    "<EAAccessory \(connectionID): \(name) \(serialNumber), \(isConnected ? "connected" : "disconnected"), "
      + "\(protocolStrings.joined(separator: " "))>"
  }
}

/// `@unchecked Sendable`: a value is behind its accessory's lock, or in use by the one thread that passes it there or
/// back.
private struct DelegateReference: @unchecked Sendable {
  weak var object: (any EAAccessoryDelegate)?
}

/// Receives the disconnection of an accessory.
public protocol EAAccessoryDelegate: NSObjectProtocol {
  /// The accessory was disconnected. Called on the main thread, directly after the notification, whether or not the
  /// program has registered for notifications. The default implementation does nothing.
  func accessoryDidDisconnect(_ accessory: EAAccessory)
}

extension EAAccessoryDelegate {
  /// Does nothing. Logs it where the delegate's class inherits being a delegate: a method that only that class has isn't called.
  public func accessoryDidDisconnect(_ accessory: EAAccessory) {
    guard let parent = Mirror(reflecting: self).superclassMirror?.subjectType, parent is any EAAccessoryDelegate.Type
    else { return }
    NSLog(
      "ExternalAccessory: \(parent) is a delegate without accessoryDidDisconnect(_:). If \(type(of: self)) has it, it isn't called: "
        + "declare it in \(parent), too, and write override in \(type(of: self))")
  }
}

// swift-format-ignore: AlwaysUseLowerCamelCase
/// A value that is not the `connectionID` of any accessory.
public var EAConnectionIDNone: Int { 0 }
