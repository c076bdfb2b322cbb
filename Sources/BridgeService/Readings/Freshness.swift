// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers

/// How long an accessory's readings are fresh. A reading that isn't repeated regularly doesn't become stale; it only
/// has an age.
struct Freshness: Sendable, Hashable {
  /// Nothing that is asked so often is stale before.
  static let least = Duration.seconds(60)
  /// A reading may be missed twice.
  static let intervals = 3

  private var limits: [AccessoryPoll.Part: Duration] = [:]

  /// What is known of a kind that tells nothing again and again.
  init() {}

  /// By what the driver's accessories tell of their own accord, and how often each of its polls is made.
  init(_ driver: Driver?, interval: (AccessoryPoll) -> Duration?) {
    guard let driver else { return }
    for part in AccessoryPoll.Part.allCases {
      let intervals = driver.polls.filter { $0.gives.contains(part) }.compactMap(interval)
      // What several polls give together is whole when the slowest has been answered.
      let polled = intervals.max().map { max(Self.least, $0 * Self.intervals) }
      limits[part] = [polled, driver.freshness].compactMap { $0 }.max()
    }
  }

  /// Whether a reading of this age is stale.
  func isStale(_ part: AccessoryPoll.Part, age: Duration) -> Bool { limits[part].map { age > $0 } ?? false }

  /// Those ages that say how up to date all of it is: of what is told again and again, where anything is. What was read
  /// once, because somebody asked for it, gets old without being wrong.
  func telling(_ ages: [AccessoryPoll.Part: Duration]) -> [AccessoryPoll.Part: Duration] {
    let renewed = ages.filter { limits[$0.key] != nil }
    return renewed.isEmpty ? ages : renewed
  }
}
