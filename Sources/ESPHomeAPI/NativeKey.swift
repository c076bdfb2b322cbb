// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// The key of a node's native API: 32 bytes, which people know as 44 characters of base64.
package enum NativeKey {
  /// The bytes of a key; nil for any other text. The key of zeros isn't one: everybody knows it.
  package static func bytes(_ text: some StringProtocol) -> [UInt8]? {
    guard let bytes = Base64.decode(text), bytes.count == Sodium.keyLength, bytes.contains(where: { $0 != 0 }) else {
      return nil
    }
    return bytes
  }
}
