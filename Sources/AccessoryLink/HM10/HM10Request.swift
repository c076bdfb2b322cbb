// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

/// What an HM-10 is asked to do.
public enum HM10Request: Sendable, Hashable {
  /// A command. A scan is over when the module says so, and a connection when it is made or has failed.
  case command(HM10Command)
  /// Bytes for the other side of a connection.
  case data([UInt8])
}

/// What came of a request to an HM-10.
public enum HM10Answer: Sendable, Hashable {
  /// What a command was answered.
  case reply(HM10Reply)
  /// What a scan found.
  case scan(HM10Scan)
  /// There is a connection, to this device if the module says so.
  case connected(BluetoothAddress?)
  /// The bytes are on their way.
  case sent
}

/// What an HM-10 tells by itself, or while it does something.
public enum HM10Event: Sendable, Hashable {
  /// A scan found this device, or more of it.
  case found(HM10Neighbour)
  /// There is a connection, to this device if the module says so: from now on the line carries data.
  case connected(BluetoothAddress?)
  /// The connection is no more.
  case lost
  /// Bytes from the other side of the connection.
  case data([UInt8])
  /// Anything else.
  case told(HM10Reply)
}

extension HM10Command {
  /// Whether it scans: it is over when the module says so.
  var isScan: Bool {
    switch self {
    case .discover, .discoverBeacons, .discoverAdvertisements: true
    default: false
    }
  }

  /// Whether it connects: that takes its time.
  var isConnect: Bool {
    switch self {
    case .connect, .connectIndex, .connectLast: true
    default: false
    }
  }

  /// Whether the module must be left alone afterwards.
  var isRestart: Bool {
    switch self {
    case .reset, .renew, .set(.speed, _): true
    default: false
    }
  }

  /// For people.
  var name: String { (try? encoded()).map { String(decoding: $0, as: UTF8.self) } ?? "a command" }
}
