// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryLink
import AccessoryProtocols

/// How often an action is retried, and when.
public struct HM10Retry: Sendable, Hashable {
  /// The number of retries; 0 means none.
  public var tries: Int
  /// The pause before each retry.
  public var interval: Duration

  /// This many retries, each after this pause.
  public init(tries: Int, interval: Duration) {
    self.tries = max(0, tries)
    self.interval = interval
  }

  /// The default: three retries, each after one second.
  public static let usual = HM10Retry(tries: 3, interval: .seconds(1))
  /// No retries.
  public static let off = HM10Retry(tries: 0, interval: .zero)
}

/// How a central retries and reconnects, and its limits.
public struct HM10CentralPolicy: Sendable, Hashable {
  /// How lost connections are reconnected. The default is three tries, at intervals of 1 s.
  public var reconnect = HM10Retry.usual
  /// How failed attempts to connect are retried. The default is three retries, at intervals of 1 s.
  public var retryConnect = HM10Retry.usual
  /// The most connections at a time. A module can have only one, so more connections need more modules. The default is 1.
  public var mostConnections = 1
  /// The most devices that are stored. The default is 256.
  public var mostDevices = 256

  /// The default policy.
  public init() {}
}

/// Why a central can't connect or send.
public enum HM10CentralError: Error, Sendable, Hashable {
  /// The device is connected, or is being connected.
  case alreadyConnected(BluetoothAddress)
  /// There are as many connections as the policy or the number of modules allows.
  case limitReached(Int)
  /// No search has found the device.
  case notFound(BluetoothAddress)
  /// The device isn't connected.
  case notConnected(BluetoothAddress)
  /// All attempts have failed; this is the error of the last one.
  case failed(AccessoryError)

  /// The same error as an `AccessoryError`: `busy`, `misconfigured`, `notFound`, `disconnected`, or the error of the last attempt.
  public var accessoryError: AccessoryError {
    switch self {
    case .alreadyConnected(let address): AccessoryError(.busy, "\(address) is already connected")
    case .limitReached(let most):
      AccessoryError(
        .misconfigured,
        "there \(most == 1 ? "is" : "are") \(Amount.of(most, "connection")) already, and may not be more")
    case .notFound(let address): AccessoryError(.notFound, "\(address) was not found by a search")
    case .notConnected(let address): AccessoryError(.disconnected, "\(address) is not connected")
    case .failed(let error): error
    }
  }
}

/// The state of a central.
public enum HM10CentralState: String, Sendable, Hashable, CaseIterable {
  /// `start` wasn't called yet.
  case unknown
  /// The modules are being prepared, which may restart them.
  case resetting
  /// The modules can't be centrals.
  case unsupported
  /// The user isn't allowed to open the module's device.
  case unauthorized
  /// The modules are gone.
  case poweredOff = "powered_off"
  /// The central can search and connect.
  case poweredOn = "powered_on"
  /// At least one lost connection is being reconnected.
  case reconnecting
}

/// An event of a central.
public enum HM10CentralEvent: Sendable, Hashable {
  /// The state has changed.
  case state(HM10CentralState)
  /// A search found this device, or new data of it.
  case found(HM10Neighbour)
  /// A search has ended.
  case searchEnded
  /// A connection was made; `isAgain` after a lost one was reconnected.
  case connected(BluetoothAddress, isAgain: Bool)
  /// An attempt to connect failed; `triesLeft` more will be made.
  case attemptFailed(BluetoothAddress, AccessoryError, triesLeft: Int)
  /// A connection was lost.
  case lost(BluetoothAddress)
  /// A lost connection won't be reconnected: the policy doesn't allow it, or all attempts have failed.
  case gaveUp(BluetoothAddress)
  /// A connection was ended by `disconnect`.
  case disconnected(BluetoothAddress)
  /// A connected device sent these bytes.
  case received([UInt8], from: BluetoothAddress)
}

/// Receives the events of a central. Called on the central's actor. The default implementations do nothing.
public protocol HM10CentralDelegate: AnyObject, Sendable {
  /// A search has ended.
  func centralSearchEnded(_ central: HM10Central)
  /// The state has changed.
  func central(_ central: HM10Central, changedTo state: HM10CentralState)
  /// A connection was made.
  func central(_ central: HM10Central, connectedTo address: BluetoothAddress)
  /// A connection was lost; it may be reconnected.
  func central(_ central: HM10Central, lost address: BluetoothAddress)
  /// Called for every event, including those of the other functions.
  func central(_ central: HM10Central, told event: HM10CentralEvent)
}

extension HM10CentralDelegate {
  /// The default: does nothing.
  public func centralSearchEnded(_ central: HM10Central) {}
  /// The default: does nothing.
  public func central(_ central: HM10Central, changedTo state: HM10CentralState) {}
  /// The default: does nothing.
  public func central(_ central: HM10Central, connectedTo address: BluetoothAddress) {}
  /// The default: does nothing.
  public func central(_ central: HM10Central, lost address: BluetoothAddress) {}
  /// The default: does nothing.
  public func central(_ central: HM10Central, told event: HM10CentralEvent) {}
}
