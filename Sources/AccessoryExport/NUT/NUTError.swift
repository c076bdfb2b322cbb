// SPDX-License-Identifier: Apache-2.0

/// The errors of NUT's network protocol that this server answers (RFC 9271, section 5.2.2).
package enum NUTError: String, Error, Sendable, CaseIterable {
  /// A password is needed, or is wrong, or the user may not do that.
  case accessDenied = "ACCESS-DENIED"
  case alreadyLoggedIn = "ALREADY-LOGGED-IN"
  case alreadySetPassword = "ALREADY-SET-PASSWORD"
  case alreadySetUsername = "ALREADY-SET-USERNAME"
  case commandNotSupported = "CMD-NOT-SUPPORTED"
  /// The last readings are too old to be told.
  case dataStale = "DATA-STALE"
  /// The accessory is not connected.
  case driverNotConnected = "DRIVER-NOT-CONNECTED"
  /// There is no TLS here.
  case featureNotConfigured = "FEATURE-NOT-CONFIGURED"
  case invalidArgument = "INVALID-ARGUMENT"
  case passwordRequired = "PASSWORD-REQUIRED"
  case readOnly = "READONLY"
  case unknownCommand = "UNKNOWN-COMMAND"
  case unknownUPS = "UNKNOWN-UPS"
  case usernameRequired = "USERNAME-REQUIRED"
  case variableNotSupported = "VAR-NOT-SUPPORTED"
}
