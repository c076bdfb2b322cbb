// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryLink
import AccessoryProtocols

/// What scans and connects, one device at a time: a module, or what a test puts in its place.
public protocol HM10Radio: Sendable {
  /// Its name for people.
  var label: String { get }
  /// Whether it is one that scans and connects now, and not one that is found and connected to.
  func isCentral() async throws(AccessoryError) -> Bool
  /// Makes it ready to scan and to connect.
  func prepare() async throws(AccessoryError)
  /// Scans once.
  func scan() async throws(AccessoryError) -> HM10Scan
  /// Connects to a device; returns when there is a connection.
  func connect(to address: BluetoothAddress, isDual: Bool) async throws(AccessoryError)
  /// Ends the connection; without one it does nothing.
  func disconnect() async throws(AccessoryError)
  /// Sends bytes to the other side.
  func send(_ bytes: [UInt8]) async throws(AccessoryError)
  /// What happens from now on.
  func events() -> EventStream<HM10Event>
}

extension HM10Module: HM10Radio {
  /// Asks for its role.
  public func isCentral() async throws(AccessoryError) -> Bool { try await role() == .central }
  /// Makes it a central, if it isn't one.
  public func prepare() async throws(AccessoryError) { try await becomeCentral() }
  /// Scans once for all kinds of devices.
  public func scan() async throws(AccessoryError) -> HM10Scan { try await scan(for: .discover) }
}
