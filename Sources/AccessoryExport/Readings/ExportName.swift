// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// Names of accessories for protocols that allow only letters, digits, "-" and "_".
package enum ExportName {
  /// The longest name.
  package static let limit = 64

  /// Makes a name from an id. Every other character becomes "_": "PACK1@3" becomes "PACK1_3", and "/dev/ttyUSB0" becomes
  /// "dev_ttyUSB0". A long id is cut.
  package static func make(_ id: String) -> String {
    let bytes = id.utf8.prefix(limit * 4).map { isAllowed($0) ? $0 : UInt8(ascii: "_") }
    let name = bytes.drop { $0 == UInt8(ascii: "_") }.prefix(limit)
    return name.isEmpty ? "accessory" : String(decoding: name, as: UTF8.self)
  }

  /// Whether the text is a valid name.
  package static func isName(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.count <= limit && text.utf8.allSatisfy(isAllowed)
  }

  private static func isAllowed(_ byte: UInt8) -> Bool { byte.isLetterOrDigit(or: "-_") }

  /// Returns `base` if it is free, otherwise the first free one of `base_2`, `base_3` and so on.
  static func free(_ base: String, separator: String, isTaken: (String) -> Bool) -> String {
    guard isTaken(base) else { return base }
    var number = 2
    while true {
      let ending = separator + String(number)
      let name = String(decoding: base.utf8.prefix(limit * 4 - ending.utf8.count), as: UTF8.self) + ending
      if !isTaken(name) { return name }
      number += 1
    }
  }
}
