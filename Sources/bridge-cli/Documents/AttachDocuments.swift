// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import CommandOutput

/// What the service says of an accessory that it was asked to take.
struct AttachDocument: Encodable {
  let schema = DocumentSchema.name
  let device: DeviceDocument
  let state: String
  let was_attached: Bool

  init(_ accessory: Bridge.Accessory, wasAttached: Bool) {
    device = DeviceDocument(accessory.device, held: accessory)
    state = accessory.state.rawValue
    was_attached = wasAttached
  }
}

/// Which accessory the service has let go.
struct DetachDocument: Encodable {
  let schema = DocumentSchema.name
  let device: DeviceDocument
}
