// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers

/// How long an accessory's readings are fresh. A reading that isn't renewed regularly never becomes stale; it only has
/// an age.
struct Freshness: Sendable, Hashable {
  /// The shortest time after which a polled reading is stale.
  static let least = Duration.seconds(60)
  /// A polled reading is stale after this many intervals, so two failed polls are tolerated.
  static let intervals = 3

  private var limits: [AccessoryPoll.Part: Duration] = [:]

  /// The freshness for an accessory without regular readings.
  init() {}

  /// The limits for a driver: from the interval of its own reports, and from the intervals of its polls. `interval`
  /// returns nil for a poll that isn't made.
  init(_ driver: Driver?, interval: (AccessoryPoll) -> Duration?) {
    guard let driver else { return }
    for part in AccessoryPoll.Part.allCases {
      let intervals = driver.polls.filter { $0.parts.contains(part) }.compactMap(interval)
      // Several polls may fill one part. The slowest of them decides when the part is complete.
      let polled = intervals.max().map { max(Self.least, $0 * Self.intervals) }
      let repeated = driver.repeatedParts.contains(part) ? driver.freshness : nil
      limits[part] = [polled, repeated].compactMap { $0 }.max()
    }
  }

  /// Whether the part is read or sent again and again.
  func isRenewed(_ part: AccessoryPoll.Part) -> Bool { limits[part] != nil }

  /// Whether a reading of this age is stale.
  func isStale(_ part: AccessoryPoll.Part, age: Duration) -> Bool { limits[part].map { age > $0 } ?? false }

  /// How long a reading of this age stays fresh; nil if it is stale or never becomes stale.
  func rest(_ part: AccessoryPoll.Part, age: Duration) -> Duration? {
    limits[part].flatMap { age > $0 ? nil : $0 - age }
  }

  /// The ages that show how current the readings are: those of regularly renewed parts, or all ages if no part is
  /// renewed. A reading that was made once for a client may get old without being wrong.
  func telling(_ ages: [AccessoryPoll.Part: Duration]) -> [AccessoryPoll.Part: Duration] {
    let renewed = ages.filter { limits[$0.key] != nil }
    return renewed.isEmpty ? ages : renewed
  }
}
