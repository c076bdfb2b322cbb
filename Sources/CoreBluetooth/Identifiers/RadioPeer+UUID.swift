// SPDX-License-Identifier: Apache-2.0

import AccessoryBluetooth
import Foundation

extension RadioPeer {
  /// This UUID as a number.
  init(_ identifier: UUID) {
    let bytes = withUnsafeBytes(of: identifier.uuid) { Array($0) }
    func number(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
    self.init(high: number(bytes[0..<8]), low: number(bytes[8..<16]))
  }

  /// This number as a UUID.
  var identifier: UUID {
    var value = UUID().uuid
    withUnsafeMutableBytes(of: &value) { bytes in
      for place in 0..<8 {
        bytes[place] = UInt8(truncatingIfNeeded: high >> UInt64(56 - 8 * place))
        bytes[8 + place] = UInt8(truncatingIfNeeded: low >> UInt64(56 - 8 * place))
      }
    }
    return UUID(uuid: value)
  }
}
