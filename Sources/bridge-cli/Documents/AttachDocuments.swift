// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import CommandOutput

/// The service's reply to `attach`.
struct AttachDocument: Encodable {
  let schema = DocumentSchema.name
  let document = DocumentKind.attached
  let device: DeviceDocument
  let state: String
  let was_attached: Bool

  init(_ accessory: Bridge.Accessory, wasAttached: Bool) {
    device = DeviceDocument(accessory.device, held: accessory)
    state = accessory.state.rawValue
    was_attached = wasAttached
  }
}

/// The accessory that the service has detached.
struct DetachDocument: Encodable {
  let schema = DocumentSchema.name
  let document = DocumentKind.detached
  let device: DeviceDocument
}
