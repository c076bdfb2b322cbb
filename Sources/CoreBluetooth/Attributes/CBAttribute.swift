// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Foundation

/// The common part of services, characteristics and descriptors.
///
/// `@unchecked Sendable`: its stored properties never change. A class that others may inherit from can't be checked.
open class CBAttribute: NSObject, @unchecked Sendable {
  /// The kind of attribute.
  public let uuid: CBUUID
  /// Its place in a connected device; nil for an attribute that this program offers.
  let place: AttributePlace?

  init(_ uuid: CBUUID, _ place: AttributePlace?) { (self.uuid, self.place) = (uuid, place) }

  /// A value in a description.
  static func words(_ value: Data?) -> String {
    value.map { "{length = \($0.count), bytes = 0x\(Hexadecimal.string(Array($0)))}" } ?? "(null)"
  }
}

extension NSObject {
  /// The description of an object with these parts, in the form of Apple's frameworks: "<CBService: 0x55d0, isPrimary = YES>".
  func words(_ parts: [String]) -> String {
    let place = UInt(bitPattern: ObjectIdentifier(self))
    return "<" + (["\(type(of: self)): 0x" + String(place, radix: 16)] + parts).joined(separator: ", ") + ">"
  }
}
