// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// What a part of a HID report means: a page of the usage tables, and a number in it (HID 1.11, 5.5).
public struct HIDUsage: Sendable, Hashable {
  /// The page: 0x84 is power devices, 0xFF00 and more belong to makers.
  public let page: UInt16
  /// The number in the page.
  public let id: UInt16

  /// The usage `id` of `page`.
  public init(page: UInt16, id: UInt16) {
    (self.page, self.id) = (page, id)
  }

  /// The usage of a value of four bytes: the page in the upper half.
  public init(extended: UInt32) {
    self.init(page: UInt16(truncatingIfNeeded: extended >> 16), id: UInt16(truncatingIfNeeded: extended))
  }

  /// The number that a collection has among its like.
  static func number(_ number: UInt16) -> HIDUsage { HIDUsage(page: numbers, id: number) }

  /// The page of such numbers: NUT writes `[1]` for `00ff:0001`.
  package static let numbers: UInt16 = 0xFF

  /// The page in the upper half of four bytes, and the number in the lower one.
  public var extended: UInt32 { UInt32(page) << 16 | UInt32(id) }
}

extension HIDUsage: CustomStringConvertible {
  /// The two numbers in hexadecimal, as in `0084:0024`.
  public var description: String { "\(Hexadecimal.string(page)):\(Hexadecimal.string(id))" }
}
