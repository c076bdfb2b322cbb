// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// The result of a dry run.
package struct DryRunDocument: Encodable {
  /// A frame that would be sent.
  package struct Frame: Encodable, Sendable {
    let hex: String
    let size_bytes: Int
    /// The meaning of the frame in its protocol's terms; null where it can't be decoded.
    let text: String?

    /// A frame and its meaning.
    package init(_ bytes: [UInt8], text: String?) {
      (hex, size_bytes, self.text) = (Hexadecimal.string(bytes), bytes.count, text)
    }
  }

  let schema = DocumentSchema.name
  let document = DocumentKind.dryRun
  let device: DeviceDocument
  let dry_run = true
  let sends: [Frame]
  /// Why the commands may not be sent; null if they may.
  let refusal: String?
  /// How the frames may differ when an accessory is connected; null if they can't differ.
  let remark: String?

  /// The frames that would be sent to a device, and the reason why they may not be sent.
  package init(_ device: DeviceDocument, _ frames: [Frame], refusal: String?, remark: String? = nil) {
    (self.device, sends, self.refusal) = (device, frames, refusal)
    self.remark = remark
  }
}
