// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// The attempts to have an accessory open, and the pauses between them, by whichever program. A policy says how the pauses grow. They
/// are short again only after a link that has proved useful: a device that ends each connection at once would otherwise be connected
/// again and again.
package struct GrowingPauses: Sendable, Hashable {
  /// How long a link must stand to count as useful.
  package static let proof = Duration.seconds(10)

  /// The number of attempts since the last success.
  package private(set) var tries = 0
  /// When the link was opened, if it hasn't proved useful since.
  private var start: MonotonicTime?

  package init() {}

  /// The policy of a command: no limit of attempts, and each pause twice as long as the one before. The first is one second.
  package static func policy(longest: Duration = RetryPolicy().longestInterval) -> RetryPolicy {
    var policy = RetryPolicy()
    (policy.tries, policy.backoffThousandths, policy.longestInterval) = (nil, 2_000, longest)
    return policy
  }

  /// The accessory was opened.
  package mutating func opened(now: MonotonicTime) { start = now }

  /// The link that was opened has ended, if there was one. Returns how long it has stood; nil if it had proved useful before.
  @discardableResult
  package mutating func ended(now: MonotonicTime) -> Duration? {
    let time = start.map { now - $0 }
    if let time, time >= Self.proof { tries = 0 }
    start = nil
    return time
  }

  /// The pause before the next attempt; nil if the policy allows no more.
  package mutating func next(_ policy: RetryPolicy) -> Duration? {
    guard let pause = policy.pause(beforeTry: tries + 1) else { return nil }
    tries += 1
    return pause
  }

  /// Counts an attempt whose pause no policy of this kind decides.
  package mutating func count() { tries += 1 }

  /// Begins again with the shortest pause.
  package mutating func reset() { tries = 0 }

  /// The device has answered, or its link has stood for a while: the link is useful.
  package mutating func proved() { (tries, start) = (0, nil) }
}
