// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// The pauses between tries to connect: 1, 2, 4, then 6 seconds for five minutes, so that a short outage is over soon after
/// its end; then 60 seconds. Each with up to 20 % more or less, so that a thousand clients don't come all at once.
package struct Backoff: Sendable {
  private var tries = 0
  private var firstTry: MonotonicTime?

  /// As at the beginning.
  package init() {}

  /// The tries since the last success that lasted.
  package var count: Int { tries }

  private static let quickLimit = 6.0
  private static let limit = 60.0
  /// How long the tries are quick.
  private static let quickTime = Duration.seconds(300)
  /// How long a connection must last for the pauses to begin anew.
  private static let proof = Duration.seconds(60)

  /// The pause before the next try. `random` is from -1 to 1.
  package mutating func next(now: MonotonicTime, random: Double = .random(in: -1...1)) -> Duration {
    let first = firstTry ?? now
    firstTry = first
    let isQuick = now - first < Self.quickTime
    let grown = Double(1 << min(tries, 6))
    let pause = min(grown, isQuick ? Self.quickLimit : Self.limit)
    tries = min(tries + 1, 1_000)
    return .seconds(pause * (1 + 0.2 * random))
  }

  /// A connection that began at `start` has ended.
  package mutating func connectionEnded(start: MonotonicTime, now: MonotonicTime) {
    if now - start >= Self.proof { (tries, firstTry) = (0, nil) }
  }
}
