// SPDX-License-Identifier: Apache-2.0

import CoreBluetooth

/// The data of an advertisement.
///
/// `@unchecked Sendable`: CoreBluetooth's values never change: strings, numbers, data, UUIDs, and collections of them.
struct Advertisement: @unchecked Sendable {
  let value: [String: Any]
}

/// A found device.
struct SerialDevice: Sendable {
  /// The manager's work on the device.
  enum Phase: Sendable, Equatable {
    /// None.
    case idle
    /// A try is running. The very first one has the number 0.
    case trying(Int, again: Bool)
    /// A try has timed out and is being cancelled.
    case givingUp(Int, again: Bool)
    /// The next try comes after a pause.
    case pausing(Int, again: Bool)
    /// The client wanted it when Bluetooth was switched off.
    case withoutBluetooth
    case connected
    /// The client has disconnected it.
    case leaving
  }

  let peripheral: CBPeripheral
  var advertisement: Advertisement
  var strength: Int?
  var phase = Phase.idle
  /// Changes with each phase, so that the timer of an earlier one is ignored.
  var round = 0
  /// The services whose characteristics aren't known yet, and the characteristics whose descriptors aren't.
  var unknown: Set<CBAttribute> = []
  var isReady = false
  var port: CBCharacteristic?
  /// The packets that wait to be sent.
  var waiting: [[UInt8]] = []
  var waitingBytes = 0
  /// Whether a write with a response is unanswered.
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
