// SPDX-License-Identifier: Apache-2.0

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
}
