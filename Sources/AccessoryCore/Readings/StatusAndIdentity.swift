// SPDX-License-Identifier: Apache-2.0

/// An accessory's status, with its identity.
package struct StatusAndIdentity: Codable, Sendable, Hashable {
  /// What it is doing.
  package let status: AccessoryStatus
  /// What it is.
  package let identity: AccessoryIdentity

  package init(status: AccessoryStatus, identity: AccessoryIdentity) {
    (self.status, self.identity) = (status, identity)
  }
}
