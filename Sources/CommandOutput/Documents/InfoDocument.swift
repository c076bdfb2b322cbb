// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore

/// The facts about a device, its line and its protocol.
package struct InfoDocument: Encodable {
  let schema = DocumentSchema.name
  let document = DocumentKind.information
  let device: DeviceDocument
  let line: Bridge.Line?
  let `protocol`: ProtocolDetails?
  let identity: AccessoryIdentity?

  /// Creates the document. Unknown facts are nil, for example the line of a device that wasn't opened.
  package init(
    _ device: DeviceDocument, line: Bridge.Line? = nil, protocol details: ProtocolDetails? = nil,
    identity: AccessoryIdentity? = nil
  ) {
    self.device = device
    self.line = line
    `protocol` = details
    self.identity = identity
  }
}
