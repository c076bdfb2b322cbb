// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

/// A rate limit for each address: a burst, and then one action in a pause.
struct Pace: Sendable {
  /// The most addresses that are remembered.
  static let originLimit = 256

  let burst: Int
  let pause: Duration
  /// The time at which an address has its whole burst again.
  private var free: [FairPlaces.Origin: MonotonicTime] = [:]

  init(_ burst: Int, every pause: Duration) { (self.burst, self.pause) = (burst, pause) }

  /// Whether one more action is allowed now.
  func allows(_ origin: FairPlaces.Origin, now: MonotonicTime) -> Bool {
    guard let free = free[origin] else { return true }
    return free - now <= pause * (burst - 1)
  }

  /// Counts an action.
  mutating func count(_ origin: FairPlaces.Origin, now: MonotonicTime) {
    free = free.filter { $0.value > now }
    if free[origin] == nil, free.count >= Self.originLimit, let first = free.min(by: { $0.value < $1.value }) {
      free[first.key] = nil
    }
    free[origin] = max(free[origin] ?? now, now) + pause
  }
}
