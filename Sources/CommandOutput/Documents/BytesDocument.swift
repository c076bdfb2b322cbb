// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// Bytes, within other documents.
package struct BytesDocument: Encodable, Sendable {
  let hex: String

  /// The document of these bytes: two small hexadecimal digits each.
  package init(_ bytes: [UInt8]) { hex = Hexadecimal.string(bytes) }
}
