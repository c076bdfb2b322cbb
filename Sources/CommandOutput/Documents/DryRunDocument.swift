// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// What commands would send.
package struct DryRunDocument: Encodable {
  /// A frame that would be sent.
  package struct Frame: Encodable, Sendable {
    let hex: String
    let size_bytes: Int
    /// What it says, in the words of its protocol; null where nobody can read it.
    let text: OrNull<String>

    /// A frame, and what it says.
    package init(_ bytes: [UInt8], text: String?) {
      (hex, size_bytes, self.text) = (Hexadecimal.string(bytes), bytes.count, OrNull(text))
    }
  }

  let schema = DocumentSchema.name
  let device: DeviceDocument
  let dry_run = true
  let sends: [Frame]
  /// The permission that is missing; null if they could be sent.
  let refusal: OrNull<String>
  /// What is known only when an accessory is there, and may be otherwise then; null where there is nothing.
  let remark: OrNull<String>

  /// What would be sent to a device, and why it may not.
  package init(_ device: DeviceDocument, _ frames: [Frame], refusal: String?, remark: String? = nil) {
    (self.device, sends, self.refusal) = (device, frames, OrNull(refusal))
    self.remark = OrNull(remark)
  }
}
