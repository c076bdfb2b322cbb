// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// The strengths of the signals of devices, as bluetoothd has told them, while they are new. A number from before a device has
/// moved would mislead.
struct HeardStrengths {
  private var last: [RadioPeer: (strength: Int, time: MonotonicTime)] = [:]

  /// How long a strength is told.
  static let validity = Duration.seconds(5)

  /// A device's object has this strength, in dBm, or none. bluetoothd keeps the number of the last advertisement, so an unchanged one
  /// isn't news.
  mutating func hear(_ strength: Int?, of peer: RadioPeer, at now: MonotonicTime) {
    guard let strength else {
      last[peer] = nil
      return
    }
    if last[peer]?.strength != strength { last[peer] = (strength, now) }
  }

  /// The strength of a device's signal; nil when none was heard lately.
  func strength(of peer: RadioPeer, at now: MonotonicTime) -> Int? {
    last[peer].flatMap { now < $0.time + Self.validity ? $0.strength : nil }
  }
}
