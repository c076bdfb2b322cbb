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
  /// The system bus doesn't let this user speak with bluetoothd.
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

/// Whether the user has allowed this program Bluetooth. Nobody is asked on Linux.
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

/// What central and peripheral managers have in common.
///
/// `@unchecked Sendable`: it stores nothing, and its subclasses say why they are safe.
open class CBManager: NSObject, @unchecked Sendable {
  init(named: Void) { super.init() }

  /// Whether Bluetooth can be used now. The delegate is told of each change.
  open var state: CBManagerState { .unknown }

  /// Always allowed: whether the system bus allows it is told by `state`.
  open class var authorization: CBManagerAuthorization { .allowedAlways }

  /// The same.
  open var authorization: CBManagerAuthorization { Self.authorization }
}
