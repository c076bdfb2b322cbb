// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// The pauses between attempts to have an accessory open, each twice as long as the one before. They are short again only after a
/// link that has proved useful: a device that ends each connection at once would otherwise be connected again and again.
package struct GrowingPauses: Sendable {
  /// How long a link must stand to count as useful.
  package static let proof = Duration.seconds(10)

  private let policy: RetryPolicy
  private var tries = 0
  private var start: MonotonicTime?

  /// The first pause is one second.
  package init(longest: Duration = RetryPolicy().longestInterval) {
    var policy = RetryPolicy()
    (policy.tries, policy.backoffThousandths, policy.longestInterval) = (nil, 2_000, longest)
    self.policy = policy
  }

  /// The accessory was opened.
  package mutating func opened(now: MonotonicTime) { start = now }

  /// The link that was opened has ended, if there was one. Returns how long it has stood.
  @discardableResult
  package mutating func ended(now: MonotonicTime) -> Duration {
    let time = start.map { now - $0 } ?? .zero
    if time >= Self.proof { tries = 0 }
    start = nil
    return time
  }

  /// The pause before the next attempt.
  package mutating func next() -> Duration {
    tries += 1
    return policy.pause(beforeTry: tries) ?? policy.longestInterval
  }

  /// Begins again with the shortest one.
  package mutating func reset() { tries = 0 }
}
