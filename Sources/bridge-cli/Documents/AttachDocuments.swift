// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
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

/// The accessory that the service has detached or forgotten, or that has got a name.
struct ChangedDocument: Encodable {
  let schema = DocumentSchema.name
  let document: DocumentKind
  let device: DeviceDocument

  init(_ document: DocumentKind, _ device: Device) { (self.document, self.device) = (document, DeviceDocument(device)) }
}
