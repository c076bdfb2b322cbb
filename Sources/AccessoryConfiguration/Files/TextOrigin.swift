// SPDX-License-Identifier: Apache-2.0

/// The origin of a profile or of a described protocol.
public enum TextOrigin: Sendable, Hashable {
  /// It is built into this package.
  case builtIn
  /// It was read from this file.
  case file(String)
}
