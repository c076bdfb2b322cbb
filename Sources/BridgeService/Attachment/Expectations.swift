// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery

/// Paths of devices that a source will report soon. The service attaches them even if no profile matches.
struct Expectations {
  private var paths: [(path: String, end: MonotonicTime)] = []

  /// How long a path is expected. udev gives the programs of a rule three minutes, and reports the device after them.
  static let patience = Duration.seconds(180)
  /// The most paths that are kept. Beyond it the oldest is removed.
  static let limit = 64

  mutating func add(_ path: String, now: MonotonicTime) {
    paths.removeAll { $0.path == path || $0.end <= now }
    if paths.count == Self.limit { paths.removeFirst() }
    paths.append((path, now + Self.patience))
  }

  /// Whether this device is expected. If it is, its path is removed.
  mutating func take(_ device: Device, now: MonotonicTime) -> Bool {
    paths.removeAll { $0.end <= now }
    let count = paths.count
    paths.removeAll { device.isAt($0.path) }
    return paths.count < count
  }
}

extension Device {
  /// Whether one of the device's nodes has this path.
  func isAt(_ path: String) -> Bool { address.description == path || terminal == path || usb?.node == path }
}
