// SPDX-License-Identifier: Apache-2.0

/// The errors of NUT's network protocol that this server sends (RFC 9271, section 5.2.2).
package enum NUTError: String, Error, Sendable, CaseIterable {
  /// A password is missing or wrong, or the user doesn't have the right.
  case accessDenied = "ACCESS-DENIED"
  case alreadyLoggedIn = "ALREADY-LOGGED-IN"
  case alreadySetPassword = "ALREADY-SET-PASSWORD"
  case alreadySetUsername = "ALREADY-SET-USERNAME"
  case commandNotSupported = "CMD-NOT-SUPPORTED"
  /// The last readings are too old.
  case dataStale = "DATA-STALE"
  /// The accessory isn't connected.
  case driverNotConnected = "DRIVER-NOT-CONNECTED"
  /// This server doesn't support TLS.
  case featureNotConfigured = "FEATURE-NOT-CONFIGURED"
  case invalidArgument = "INVALID-ARGUMENT"
  case passwordRequired = "PASSWORD-REQUIRED"
  case readOnly = "READONLY"
  case unknownCommand = "UNKNOWN-COMMAND"
  case unknownUPS = "UNKNOWN-UPS"
  case usernameRequired = "USERNAME-REQUIRED"
  case variableNotSupported = "VAR-NOT-SUPPORTED"
}
