// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery

/// Paths of devices that will be reported soon, and that the service holds then whatever they are.
struct Expectations {
  private var paths: [(path: String, end: MonotonicTime)] = []

  /// How long a path is expected: udev gives the programs of a rule three minutes, and tells of the device behind them.
  static let patience = Duration.seconds(180)
  /// Those that are kept; the oldest goes first.
  static let limit = 64

  mutating func add(_ path: String, now: MonotonicTime) {
    paths.removeAll { $0.path == path || $0.end <= now }
    if paths.count == Self.limit { paths.removeFirst() }
    paths.append((path, now + Self.patience))
  }

  /// Whether this device is expected. If so, its path is removed.
  mutating func take(_ device: Device, now: MonotonicTime) -> Bool {
    paths.removeAll { $0.end <= now }
    let count = paths.count
    paths.removeAll { device.isAt($0.path) }
    return paths.count < count
  }
}

extension Device {
  /// Whether one of its nodes is there.
  func isAt(_ path: String) -> Bool { address.description == path || terminal == path || usb?.node == path }
}
