// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// Recent signal strengths of devices, from bluetoothd. Older ones are dropped, because the device may have moved since.
struct HeardStrengths {
  private var last: [RadioPeer: (strength: Int, time: MonotonicTime)] = [:]

  /// How long a strength stays valid.
  static let validity = Duration.seconds(5)

  /// Records the strength of a device's object in dBm, or that it has none. bluetoothd keeps the strength of the last advertisement,
  /// so an unchanged one isn't a new measurement.
  mutating func hear(_ strength: Int?, of peer: RadioPeer, at now: MonotonicTime) {
    guard let strength else {
      last[peer] = nil
      return
    }
    if last[peer]?.strength != strength { last[peer] = (strength, now) }
  }

  /// The strength of a device's signal; nil if there is no recent one.
  func strength(of peer: RadioPeer, at now: MonotonicTime) -> Int? {
    last[peer].flatMap { now < $0.time + Self.validity ? $0.strength : nil }
  }
}
