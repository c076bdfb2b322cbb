// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import Foundation

/// An accessory that is connected, or was.
///
/// Its properties are what discovery knows without opening it: a simulator's announcement, or the strings of a USB
/// device. Use them for display only, as they come from the accessory, and choose by `protocolStrings`. Unknown ones
/// are empty. The accessory isn't asked, because that would need to open it.
public final class EAAccessory: NSObject, Sendable {
  let port: AccessoryPort
  /// A new number for each connection, never `EAConnectionIDNone`.
  public let connectionID: Int
  private let delegateReference = Locked(DelegateReference())

  init(_ device: Device, profile: Profile, connectionID: Int, services: [String], drivers: DriverLibrary) {
    port = AccessoryPort(device: device, profile: profile, services: services, drivers: drivers)
    self.connectionID = connectionID
  }

  /// Whether it is connected. One that comes back is another object.
  public var isConnected: Bool { port.isConnected }
  /// The name that its user gave it.
  public var name: String { port.device.name ?? "" }
  /// The manufacturer's name.
  public var manufacturer: String { port.device.manufacturer ?? "" }
  /// The name of the product.
  public var modelNumber: String { port.device.model ?? "" }
  /// The serial number. One of several on a line has its unit behind that: "A123@2".
  public var serialNumber: String {
    let device = port.device
    return (device.serialNumber ?? "") + device.unitSuffix
  }
  /// Version of its software.
  public var firmwareRevision: String { port.device.firmwareRevision ?? "" }
  /// Version of its hardware.
  public var hardwareRevision: String { port.device.hardwareRevision ?? "" }
  /// What it can be opened for, by its profile.
  public var protocolStrings: [String] { port.profile.protocolStrings }
  /// Always empty: there is no dock.
  public var dockType: String { "" }

  /// The delegate, called on the main thread when the accessory is disconnected. A weak reference.
  public weak var delegate: (any EAAccessoryDelegate)? {
    get { delegateReference.withLock { $0 }.object }
    set {
      let reference = DelegateReference(object: newValue)
      delegateReference.withLock { $0 = reference }
    }
  }

  /// What it is, for logs.
  public override var description: String {
    "<EAAccessory \(connectionID): \(name) \(serialNumber), \(isConnected ? "connected" : "disconnected"), "
      + "\(protocolStrings.joined(separator: " "))>"
  }
}

/// `@unchecked Sendable`: behind its accessory's lock, or on its way there or back, held by one thread.
private struct DelegateReference: @unchecked Sendable {
  weak var object: (any EAAccessoryDelegate)?
}

/// Is told what becomes of an accessory.
public protocol EAAccessoryDelegate: NSObjectProtocol {
  /// It was disconnected. Called on the main thread, right after the notification, whether or not the program has
  /// registered for notifications. Does nothing unless implemented.
  func accessoryDidDisconnect(_ accessory: EAAccessory)
}

extension EAAccessoryDelegate {
  /// Does nothing.
  public func accessoryDidDisconnect(_ accessory: EAAccessory) {}
}

// swift-format-ignore: AlwaysUseLowerCamelCase
/// Not the `connectionID` of any accessory.
public var EAConnectionIDNone: Int { 0 }
