// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// The pauses between attempts to connect. For five minutes they are 1, 2, 4, then 6 seconds, so that the client is back soon after a
/// short outage. After that they are 60 seconds. Each pause varies randomly by up to 20 %, so that a thousand clients don't connect
/// at the same moment.
package struct Backoff: Sendable {
  private var tries = 0
  private var firstTry: MonotonicTime?

  /// Starts with the shortest pause.
  package init() {}

  /// The number of attempts since the last connection that lasted.
  package var count: Int { tries }

  private static let quickLimit = 6.0
  private static let limit = 60.0
  /// How long the short pauses are used.
  private static let quickTime = Duration.seconds(300)
  /// How long a connection must last before the pauses start again at the shortest.
  private static let proof = Duration.seconds(60)

  /// Returns the pause before the next attempt. `random` is from -1 to 1.
  package mutating func next(now: MonotonicTime, random: Double = .random(in: -1...1)) -> Duration {
    let first = firstTry ?? now
    firstTry = first
    let isQuick = now - first < Self.quickTime
    let grown = Double(1 << min(tries, 6))
    let pause = min(grown, isQuick ? Self.quickLimit : Self.limit)
    tries = min(tries + 1, 1_000)
    return .seconds(pause * (1 + 0.2 * random))
  }

  /// Notes that a connection which began at `start` has ended.
  package mutating func connectionEnded(start: MonotonicTime, now: MonotonicTime) {
    if now - start >= Self.proof { (tries, firstTry) = (0, nil) }
  }
}
