// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// How often an action is retried, and when.
public struct RadioRetry: Sendable, Hashable {
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
  public static let usual = RadioRetry(tries: 3, interval: .seconds(1))
  /// No retries.
  public static let off = RadioRetry(tries: 0, interval: .zero)
}

/// How a central retries and reconnects, and its limits.
public struct RadioCentralPolicy: Sendable, Hashable {
  /// How lost connections are reconnected. The default is three tries, at intervals of 1 s.
  public var reconnect = RadioRetry.usual
  /// How failed attempts to connect are retried. The default is three retries, at intervals of 1 s.
  public var retryConnect = RadioRetry.usual
  /// The most connections at a time. A module can have only one, so more connections need more modules. The default is 1.
  public var mostConnections = 1
  /// The most devices that are stored. The default is 256.
  public var mostDevices = 256

  /// The default policy.
  public init() {}
}

/// Why a central can't connect or send.
public enum RadioCentralError: Error, Sendable, Hashable {
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
public enum RadioCentralState: String, Sendable, Hashable, CaseIterable {
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
public enum RadioCentralEvent: Sendable, Hashable {
  /// The state has changed.
  case state(RadioCentralState)
  /// A search found this device, or new data of it.
  case found(RadioNeighbour)
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
