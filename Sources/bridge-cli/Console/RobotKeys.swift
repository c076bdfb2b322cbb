// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryFamilies
import Console

/// The keyboard as the remote control of a driver's robot or car.
struct RobotKeys {
  private var keys: any DriveKeys

  /// The keys for a driver's accessories. The driver must be known, since the bytes that stop one robot make another drive.
  ///
  /// Throws `misconfigured` when keys can't drive this driver's accessories, or when the user's remote control file isn't
  /// valid.
  init(for driver: String?) async throws(AccessoryError) {
    let drivers = DriverLibrary.builtIn.drivers
    guard let keys = drivers.first(where: { $0.name == driver })?.keys else {
      let reason = driver.map { "the driver \($0) has no keys" } ?? "no driver is known for this device"
      let driven = drivers.filter { $0.keys != nil }.map { "\($0.summary) (--driver \($0.name))" }
      throw AccessoryError(.misconfigured, "\(reason): --keys drives \(driven.joined(separator: " and "))")
    }
    self.keys = try await keys()
  }

  /// The meaning of a key, and its bytes; nil for a key without a meaning.
  mutating func bytes(for key: Key) -> (what: String, bytes: [UInt8])? {
    Self.driveKey(key).flatMap { keys.bytes(for: $0) }
  }

  /// A summary of the keys, for people.
  var summary: String { keys.summary }

  private static func driveKey(_ key: Key) -> DriveKey? {
    switch key {
    case .up: .up
    case .down: .down
    case .left: .left
    case .right: .right
    case .function(let number): .function(number)
    case .character(" "): .stop
    case .character("+"): .faster
    case .character("-"): .slower
    case .character(let scalar): ("0"..."9").contains(scalar) ? .digit(Int(scalar.value) - 0x30) : nil
    default: nil
    }
  }
}
