// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// A raw request, for `Accessory.request(_:payload:)`.
package struct RawRequest: Sendable, Hashable {
  package let code: UInt8
  /// Its name in the protocol; without one, two hexadecimal digits.
  package let name: String

  package init(_ code: UInt8, name: String? = nil) {
    (self.code, self.name) = (code, name ?? Hexadecimal.string([code]))
  }

  /// The number that a word like "0x12" gives.
  static func number(_ word: String) -> UInt8? {
    guard word.lowercased().hasPrefix("0x"), word.utf8.count <= 4 else { return nil }
    return UInt8(word.dropFirst(2), radix: 16)
  }
}

extension DriverLibrary {
  /// The raw request that a word names in the protocol of one of the drivers, or gives as a number like "0x12".
  package func rawRequest(_ word: String) -> RawRequest? {
    drivers.lazy.compactMap { $0.rawRequest?(word) }.first ?? RawRequest.number(word).map { RawRequest($0) }
  }
}
