// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery

/// A device that a source will report soon.
package struct ExpectedDevice: Sendable, Hashable {
  /// The path of one of its nodes.
  package var path: String
  /// The vendor, the product and the port of a USB device, as in `USBIdentity.place`: another device that gets the path meanwhile isn't
  /// meant. Nil if only the path is known.
  package var identity: String?

  package init(_ path: String, identity: String? = nil) { (self.path, self.identity) = (path, identity) }

  /// Whether this is the device.
  func fits(_ device: Device) -> Bool {
    let isThere = device.address.description == path || device.terminal == path || device.usb?.node == path
    return isThere && (identity == nil || identity == device.usb?.place)
  }
}

/// Devices that a source will report soon. The service attaches them even if no profile matches.
struct Expectations {
  private var entries: [(device: ExpectedDevice, end: MonotonicTime)] = []

  /// How long a device is expected. udev gives the programs of a rule three minutes, and reports the device after them.
  static let patience = Duration.seconds(180)
  /// The most devices that are kept. Beyond it the oldest is removed.
  static let limit = 64

  mutating func add(_ device: ExpectedDevice, now: MonotonicTime) {
    entries.removeAll { $0.device.path == device.path || $0.end <= now }
    if entries.count == Self.limit { entries.removeFirst() }
    entries.append((device, now + Self.patience))
  }

  /// Whether this device is expected. Its path is no longer expected then, nor if another one has it.
  mutating func take(_ device: Device, now: MonotonicTime) -> Bool {
    entries.removeAll { $0.end <= now }
    let isExpected = entries.contains { $0.device.fits(device) }
    entries.removeAll { ExpectedDevice($0.device.path).fits(device) }
    return isExpected
  }
}
