// SPDX-License-Identifier: Apache-2.0

import CoreBluetooth

/// What an advertisement has told.
///
/// `@unchecked Sendable`: what CoreBluetooth puts in never changes: strings, numbers, data, UUIDs, and collections of them.
struct Advertisement: @unchecked Sendable {
  let value: [String: Any]
}

/// A device that was found.
struct SerialDevice: Sendable {
  /// What is done with it.
  enum Phase: Sendable, Equatable {
    /// Nothing.
    case idle
    /// A try is under way. The number of the first one of all is 0.
    case trying(Int, again: Bool)
    /// A try has taken too long and is being cancelled.
    case givingUp(Int, again: Bool)
    /// The next try comes after a pause.
    case pausing(Int, again: Bool)
    /// It was wanted when Bluetooth was switched off.
    case withoutBluetooth
    case connected
    /// The client doesn't want it any more.
    case leaving
  }

  let peripheral: CBPeripheral
  var advertisement: Advertisement
  var strength: Int?
  var phase = Phase.idle
  /// Changes with each phase, so that a timer of an earlier one is known.
  var round = 0
  /// The services whose characteristics, and the characteristics whose descriptors, aren't known yet.
  var unknown: Set<CBAttribute> = []
  var isReady = false
  var port: CBCharacteristic?
  /// What waits to be sent, in packets.
  var waiting: [[UInt8]] = []
  var waitingBytes = 0
  /// Whether a write with a response is on the way.
  var isWriting = false

  var status: BLESerialStatus {
    switch phase {
    case .idle, .leaving: .disconnected
    case .trying(_, again: false), .givingUp(_, again: false), .pausing(_, again: false): .connecting
    case .trying(_, again: true), .givingUp(_, again: true), .pausing(_, again: true), .withoutBluetooth: .reconnecting
    case .connected: .connected
    }
  }

  mutating func forgetConnection() {
    (unknown, isReady, port, waiting, waitingBytes, isWriting) = ([], false, nil, [], 0, false)
  }
}
