// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A device at the other end.
///
/// `@unchecked Sendable`: its only stored property never changes. A class that others may inherit from can't be checked.
open class CBPeer: NSObject, NSCopying, @unchecked Sendable {
  /// The device's number on this machine: always the same for one adapter and one address, and not the address.
  public let identifier: UUID

  init(identifier: UUID) { self.identifier = identifier }

  /// Itself: there is one object for a device.
  open func copy(with zone: NSZone? = nil) -> Any { self }
}
