// SPDX-License-Identifier: Apache-2.0

import Foundation

/// What services, characteristics and descriptors have in common.
///
/// `@unchecked Sendable`: its stored properties never change. A class that others may inherit from can't be checked.
open class CBAttribute: NSObject, @unchecked Sendable {
  /// What it is.
  public let uuid: CBUUID
  /// Its place in a connected device; nil for an attribute that this program offers.
  let place: AttributePlace?

  init(_ uuid: CBUUID, _ place: AttributePlace?) { (self.uuid, self.place) = (uuid, place) }
}
