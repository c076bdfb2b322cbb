// SPDX-License-Identifier: Apache-2.0

/// Why a command to a radio failed.
package enum RadioFailure: Error, Sendable, Equatable {
  /// The device refused, with this error code of the Attribute Protocol, 1…255.
  case refused(UInt8)
  /// The connection couldn't be made.
  case connectionFailed
  /// The connection is over: the device has ended it, or the reason is unknown.
  case disconnected
  /// The connection is over: the device isn't received any more.
  case lost
  /// There is no such connection.
  case notConnected
  /// The device must be paired first, or has forgotten that it was.
  case pairingNeeded
  /// There is no such attribute.
  case noAttribute
  /// This radio can't do that.
  case unsupported
  /// Anything else.
  case failed
}
