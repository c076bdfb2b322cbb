// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryLink
import AccessoryProtocols

/// A radio that scans and connects to one device at a time: an `HM10Module`, or a test double.
public protocol HM10Radio: Sendable {
  /// The radio's name in messages to the user.
  var label: String { get }
  /// Whether the radio is a central, which scans and connects, and not a peripheral, which others find and connect to.
  func isCentral() async throws(AccessoryError) -> Bool
  /// Makes the radio a central that is ready to scan and to connect.
  func prepare() async throws(AccessoryError)
  /// Makes one scan.
  func scan() async throws(AccessoryError) -> HM10Scan
  /// Connects to a device. Returns when the connection is made.
  func connect(to address: BluetoothAddress, isDual: Bool) async throws(AccessoryError)
  /// Ends the connection. Does nothing when there is none.
  func disconnect() async throws(AccessoryError)
  /// Sends bytes to the connected device.
  func send(_ bytes: [UInt8]) async throws(AccessoryError)
  /// The radio's events from now on.
  func events() -> EventStream<HM10Event>
}

extension HM10Module: HM10Radio {
  /// Asks the module for its role.
  public func isCentral() async throws(AccessoryError) -> Bool { try await role() == .central }
  /// Makes the module a central, if it isn't one.
  public func prepare() async throws(AccessoryError) { try await becomeCentral() }
  /// Makes one scan for all kinds of devices.
  public func scan() async throws(AccessoryError) -> HM10Scan { try await scan(for: .discover) }
}

extension HM10Central: RadioCentral {}

extension HM10Module: CentralAccessory {
  /// A central of this one module.
  package func central(_ policy: RadioCentralPolicy, known: [RadioNeighbour]) -> any RadioCentral {
    HM10Central([self], policy: policy, known: known)
  }
}
