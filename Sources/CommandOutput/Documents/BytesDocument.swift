// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// Bytes, as a part of other documents.
package struct BytesDocument: Encodable, Sendable {
  let hex: String

  /// The document of `bytes`: two lower-case hexadecimal digits per byte.
  package init(_ bytes: [UInt8]) { hex = Hexadecimal.string(bytes) }
}
