// SPDX-License-Identifier: Apache-2.0

import AccessoryDrivers

/// The families' commands that need no accessory.
package enum FamilyCommands {
  /// Those behind `bluetooth`.
  package static let bluetooth: [any FamilyCommandGroup.Type] = [BlunoRemoteCommands.self]
}
