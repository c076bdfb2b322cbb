// SPDX-License-Identifier: Apache-2.0

/// The types of the Varlink interface `accessorybridge.Bridge`, with their names on the wire.
/// `accessorybridge.Bridge.varlink` documents them.
package enum Bridge {
  /// The name of the interface.
  package static let name = "accessorybridge.Bridge"
}
