// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// A key of a remote control, whatever a keyboard has for it.
package enum DriveKey: Sendable, Hashable {
  case up, down, left, right, stop, faster, slower
  /// F1 and those behind it.
  case function(Int)
  /// 0 to 9.
  case digit(Int)
}

/// The keyboard as the remote control of a robot or a car.
package protocol DriveKeys: Sendable {
  /// The meaning of a key, and its bytes; nil for a key without a meaning.
  mutating func bytes(for key: DriveKey) -> (what: String, bytes: [UInt8])?
  /// A summary of the keys, for people.
  var summary: String { get }
}

extension Driver {
  /// Makes the keys of a remote control. Throws `misconfigured` if the user's file of it isn't valid.
  package typealias KeysMaker = @Sendable () async throws(AccessoryError) -> any DriveKeys

  /// The same driver, with the keys by which a console drives its accessories.
  package func driven(_ keys: @escaping KeysMaker) -> Driver {
    var driver = self
    driver.keys = keys
    return driver
  }

  /// The same driver, with what ends a command that a person types to its accessories.
  package func endingCommands(with bytes: [UInt8]) -> Driver {
    var driver = self
    driver.commandEnd = bytes
    return driver
  }
}
