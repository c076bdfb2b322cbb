// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

/// How often clients of an address may do something: a few times at once, and then once in a pause.
struct Pace: Sendable {
  /// The most addresses that are remembered.
  static let originLimit = 256

  let burst: Int
  let pause: Duration
  /// When all that an address has done is forgotten.
  private var free: [FairPlaces.Origin: MonotonicTime] = [:]

  init(_ burst: Int, every pause: Duration) { (self.burst, self.pause) = (burst, pause) }

  /// Whether it may be done once more now.
  func allows(_ origin: FairPlaces.Origin, now: MonotonicTime) -> Bool {
    guard let free = free[origin] else { return true }
    return free - now <= pause * (burst - 1)
  }

  /// Counts once.
  mutating func count(_ origin: FairPlaces.Origin, now: MonotonicTime) {
    free = free.filter { $0.value > now }
    if free[origin] == nil, free.count >= Self.originLimit, let first = free.min(by: { $0.value < $1.value }) {
      free[first.key] = nil
    }
    free[origin] = max(free[origin] ?? now, now) + pause
  }
}
