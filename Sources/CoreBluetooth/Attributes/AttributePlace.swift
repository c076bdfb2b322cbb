// SPDX-License-Identifier: Apache-2.0

import AccessoryBluetooth

/// The place of an attribute: its connection, and its handle there. An attribute of an earlier connection is stale.
struct AttributePlace: Hashable, Sendable {
  let link: RadioLink
  let handle: Int
}
