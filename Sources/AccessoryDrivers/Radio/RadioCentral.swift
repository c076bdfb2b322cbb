// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// An accessory with a radio that can search for other devices and connect to them. `Accessory.narrowed(to:)` tells whether an accessory is
/// one.
package protocol CentralAccessory: Accessory {
  /// What searches and connects with it: the accessory stays open as long.
  func central(_ policy: RadioCentralPolicy, known: [RadioNeighbour]) -> any RadioCentral
  /// Whether it searches and connects already, and isn't itself found by others.
  func isCentral() async throws(AccessoryError) -> Bool
}

/// Searches for devices and connects to them.
package protocol RadioCentral: Actor {
  /// Prepares the radio, and then searches for this time in the background; nil doesn't search.
  func start(searching time: Duration?) async throws(AccessoryError)
  /// The events from now on, until `stop`.
  func events() -> AsyncStream<RadioCentralEvent>
  /// Searches for this time. Each device is an event when it is found.
  func search(for time: Duration) async throws(AccessoryError)
  /// The devices that were found, the strongest signal first.
  var strongestFirst: [RadioNeighbour] { get }
  /// Connects to a device that a search has found, and returns when the connection is made.
  func connect(to address: BluetoothAddress, isDual: Bool) async throws(RadioCentralError)
  /// Ends a connection, or stops connecting.
  func disconnect(from address: BluetoothAddress) async throws(RadioCentralError)
  /// Sends bytes to a connected device. Returns when they were written.
  func send(_ bytes: [UInt8], to address: BluetoothAddress) async throws(RadioCentralError)
  /// Ends searches, connections and streams of events.
  func stop() async
}
