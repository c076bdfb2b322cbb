// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryLink
import AccessoryProtocols

/// How often something is tried again.
public struct HM10Retry: Sendable, Hashable {
  /// How often, 0 for never.
  public var tries: Int
  /// The time before each.
  public var interval: Duration

  /// So many tries, each so much later than the last.
  public init(tries: Int, interval: Duration) {
    self.tries = max(0, tries)
    self.interval = interval
  }

  /// What there is unless said otherwise: three tries, each a second later.
  public static let usual = HM10Retry(tries: 3, interval: .seconds(1))
  /// It is not tried again.
  public static let off = HM10Retry(tries: 0, interval: .zero)
}

/// What a central does by itself.
public struct HM10CentralPolicy: Sendable, Hashable {
  /// Reconnects a lost connection; by default three times, at intervals of 1 s.
  public var reconnect = HM10Retry.usual
  /// Retries a failed attempt to connect; by default three times, at intervals of 1 s.
  public var retryConnect = HM10Retry.usual
  /// Connections at a time. A module has one, so more need more modules. The default is 1.
  public var mostConnections = 1
  /// Devices that are remembered. The default is 256.
  public var mostDevices = 256

  /// The usual.
  public init() {}
}

/// Why a central doesn't connect.
public enum HM10CentralError: Error, Sendable, Hashable {
  /// It is connected to that device, or about to be.
  case alreadyConnected(BluetoothAddress)
  /// There are as many connections as there may be.
  case limitReached(Int)
  /// No search has found such a device.
  case notFound(BluetoothAddress)
  /// There is no connection to that device.
  case notConnected(BluetoothAddress)
  /// All tries have failed; this was the last one's error.
  case failed(AccessoryError)

  /// The error in the terms that all accessories share: `busy`, `misconfigured`, `notFound`, `disconnected`, or the last
  /// try's own.
  public var accessoryError: AccessoryError {
    switch self {
    case .alreadyConnected(let address): AccessoryError(.busy, "there is a connection to \(address) already")
    case .limitReached(let most):
      AccessoryError(
        .misconfigured,
        "there \(most == 1 ? "is 1 connection" : "are \(most) connections") already, and may not be more")
    case .notFound(let address): AccessoryError(.notFound, "no search has found \(address)")
    case .notConnected(let address): AccessoryError(.disconnected, "there is no connection to \(address)")
    case .failed(let error): error
    }
  }
}

/// What a central is doing.
public enum HM10CentralState: String, Sendable, Hashable, CaseIterable {
  /// It hasn't begun.
  case unknown
  /// Its modules are made ready, which may take a restart.
  case resetting
  /// The modules can't be centrals.
  case unsupported
  /// The system doesn't allow this user to open it.
  case unauthorized
  /// The modules are gone.
  case poweredOff = "powered_off"
  /// It can search and connect.
  case poweredOn = "powered_on"
  /// It takes a lost connection up again.
  case reconnecting
}

/// What happens to a central.
public enum HM10CentralEvent: Sendable, Hashable {
  /// It is doing something else.
  case state(HM10CentralState)
  /// A search found this device, or more of it.
  case found(HM10Neighbour)
  /// A search's time is over.
  case searchEnded
  /// There is a connection; `isAgain` when a lost one was taken up again.
  case connected(BluetoothAddress, isAgain: Bool)
  /// An attempt to connect failed; so many are left.
  case attemptFailed(BluetoothAddress, AccessoryError, triesLeft: Int)
  /// A connection was lost.
  case lost(BluetoothAddress)
  /// A lost connection is given up: it isn't to be taken up again, or all tries have failed.
  case gaveUp(BluetoothAddress)
  /// A connection was ended here.
  case disconnected(BluetoothAddress)
  /// The other side sent this.
  case received([UInt8], from: BluetoothAddress)
}

/// What is told of a central. Called on the central; what isn't implemented is not told.
public protocol HM10CentralDelegate: AnyObject, Sendable {
  /// A search's time is over.
  func centralSearchEnded(_ central: HM10Central)
  /// The central is doing something else.
  func central(_ central: HM10Central, changedTo state: HM10CentralState)
  /// There is a connection.
  func central(_ central: HM10Central, connectedTo address: BluetoothAddress)
  /// A connection was lost; it may be taken up again.
  func central(_ central: HM10Central, lost address: BluetoothAddress)
  /// Anything, also all of the above.
  func central(_ central: HM10Central, told event: HM10CentralEvent)
}

extension HM10CentralDelegate {
  /// Nothing.
  public func centralSearchEnded(_ central: HM10Central) {}
  /// Nothing.
  public func central(_ central: HM10Central, changedTo state: HM10CentralState) {}
  /// Nothing.
  public func central(_ central: HM10Central, connectedTo address: BluetoothAddress) {}
  /// Nothing.
  public func central(_ central: HM10Central, lost address: BluetoothAddress) {}
  /// Nothing.
  public func central(_ central: HM10Central, told event: HM10CentralEvent) {}
}
