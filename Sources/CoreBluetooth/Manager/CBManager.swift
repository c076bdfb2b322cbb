// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Whether Bluetooth can be used.
public enum CBManagerState: Int, Sendable {
  /// It isn't known yet.
  case unknown = 0
  /// bluetoothd has ended, and may come back.
  case resetting
  /// bluetoothd doesn't run, or this computer has no adapter.
  case unsupported
  /// The system bus doesn't let this user access bluetoothd.
  case unauthorized
  /// All adapters are off.
  case poweredOff
  /// An adapter is on.
  case poweredOn
}

/// The older name of the states of a central.
public typealias CBCentralManagerState = CBManagerState
/// The older name of the states of a peripheral.
public typealias CBPeripheralManagerState = CBManagerState

/// Whether the user has allowed this program to use Bluetooth. On Linux the user isn't asked.
public enum CBManagerAuthorization: Int, Sendable {
  /// The user wasn't asked.
  case notDetermined = 0
  /// The user can't allow it.
  case restricted
  /// The user has refused.
  case denied
  /// The user has allowed it.
  case allowedAlways
}

/// Whether the user has allowed this program to use Bluetooth in the background, in the older form.
public enum CBPeripheralManagerAuthorizationStatus: Int, Sendable {
  /// The user wasn't asked.
  case notDetermined = 0
  /// The user can't allow it.
  case restricted
  /// The user has refused.
  case denied
  /// The user has allowed it.
  case authorized
}

/// The common part of central and peripheral managers.
///
/// `@unchecked Sendable`: it stores nothing, and its subclasses say why they are safe.
open class CBManager: NSObject, @unchecked Sendable {
  init(named: Void) { super.init() }

  /// Whether Bluetooth can be used now. Each change is reported to the delegate.
  open var state: CBManagerState { .unknown }

  /// Always allowed. If the system bus doesn't allow it, `state` says so.
  open class var authorization: CBManagerAuthorization { .allowedAlways }

  /// The same.
  open var authorization: CBManagerAuthorization { Self.authorization }
}
