// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers

// The names that these types had before other modules could have them, too.

/// How often an action is retried, and when.
public typealias HM10Retry = RadioRetry
/// How a central retries and reconnects, and its limits.
public typealias HM10CentralPolicy = RadioCentralPolicy
/// Why a central can't connect or send.
public typealias HM10CentralError = RadioCentralError
/// The state of a central.
public typealias HM10CentralState = RadioCentralState
/// An event of a central.
public typealias HM10CentralEvent = RadioCentralEvent

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
