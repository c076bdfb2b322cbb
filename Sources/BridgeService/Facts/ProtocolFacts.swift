// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDrivers
import AccessoryIO
import AccessoryLink
import AccessoryProtocols

extension Bridge.ProtocolDetails {
  /// Converts the details that an accessory has reported when contact was made.
  package init(_ details: ProtocolDetails) {
    self.init(
      name: details.name, boot_id: details.bootID.map { Hexadecimal.string($0) },
      largest_payload_bytes: details.largestPayload, window: details.window,
      unreadable_fields: details.unreadableFields.map { Int(clamping: $0) })
  }
}
