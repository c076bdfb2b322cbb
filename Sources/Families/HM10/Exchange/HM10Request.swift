// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

/// A request to an HM-10.
public enum HM10Request: Sendable, Hashable {
  /// A command. A scan is complete when the module reports its end, and a connection when it is made or has failed.
  case command(HM10Command)
  /// Bytes for the peer of the connection.
  case data([UInt8])
}

/// The result of a request to an HM-10.
public enum HM10Answer: Sendable, Hashable {
  /// The reply to a command.
  case reply(HM10Reply)
  /// The devices that a scan found.
  case scan(HM10Scan)
  /// A connection was made, to this device if the module reported its address.
  case connected(BluetoothAddress?)
  /// The bytes were passed to the transport.
  case sent
}

/// A message that an HM-10 sends unasked, or while it carries out a command.
public enum HM10Event: Sendable, Hashable {
  /// A scan found this device, or more details of it.
  case found(HM10Neighbour)
  /// A connection was made, to this device if the module reported its address. From now on the line carries data.
  case connected(BluetoothAddress?)
  /// The connection has ended.
  case lost
  /// Bytes from the peer of the connection.
  case data([UInt8])
  /// Any other message.
  case other(HM10Reply)
}

extension HM10Command {
  /// Whether the command starts a scan, which is complete when the module reports its end.
  var isScan: Bool {
    switch self {
    case .discover, .discoverBeacons, .discoverAdvertisements: true
    default: false
    }
  }

  /// Whether the command makes a connection, which takes a while.
  var isConnect: Bool {
    switch self {
    case .connect, .connectIndex, .connectLast: true
    default: false
    }
  }

  /// Whether the module needs a pause after the command.
  var isRestart: Bool {
    switch self {
    case .reset, .renew, .set(.speed, _): true
    default: false
    }
  }

  /// The command's name in error messages.
  var name: String { (try? encoded()).map { String(decoding: $0, as: UTF8.self) } ?? "a command" }
}
