// SPDX-License-Identifier: Apache-2.0

import AccessoryBluetooth

/// Where an attribute is: in which connection, and at which of its handles. An attribute of an earlier connection is stale.
struct AttributePlace: Hashable, Sendable {
  let link: RadioLink
  let handle: Int
}
