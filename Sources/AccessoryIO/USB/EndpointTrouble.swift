// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// The error state of one endpoint, and how to recover from it. A value that is given the time.
struct EndpointTrouble: Sendable {
  /// What must be done before transfers are submitted again.
  enum Cure: Sendable, Hashable {
    case none
    /// Wait a moment.
    case pause
    /// End the halt, when no transfer is pending any more.
    case clearHalt
  }

  private(set) var cure = Cure.none
  private var since: MonotonicTime?
  private var last: MonotonicTime?
  private var delay = Duration.zero
  private var stalls = 0

  /// A failure this long after the last one starts a new series.
  private static let memory: Duration = .milliseconds(500)
  /// A series of failures that lasts longer than this is no electrical noise. A device that is unplugged shows errors
  /// for up to 500 ms before it is reported as gone.
  private static let patience: Duration = .milliseconds(1_000)
  /// The first pause between tries, doubled each time: a failing device returns an error at once for every try.
  private static let delays: (first: Duration, most: Duration) = (.milliseconds(5), .milliseconds(100))
  /// After this many halts in a row without a byte in between, the halt is taken for the device's answer.
  private static let stallLimit = 3

  /// Call this when a transfer has failed. Returns nil when failures have lasted too long, otherwise the pause before
  /// the next try, which is the same for all transfers that were pending together.
  mutating func failed(at now: MonotonicTime) -> Duration? {
    if let last, now - last > Self.memory { (since, delay) = (nil, .zero) }
    last = now
    let began = since ?? now
    since = began
    guard now - began <= Self.patience else { return nil }
    if cure == .none {
      delay = min(max(delay * 2, Self.delays.first), Self.delays.most)
      cure = .pause
    }
    return delay
  }

  /// Call this when the endpoint has halted. Returns false when it has halted too often.
  mutating func stalled() -> Bool {
    if cure != .clearHalt { stalls += 1 }
    cure = .clearHalt
    return stalls <= Self.stallLimit
  }

  /// Call this when the halt is cleared. The transfer that it stopped is repeated first, alone.
  mutating func haltCleared() { cure = .pause }

  /// What had to be done was done.
  mutating func cured() { cure = .none }

  /// Call this when a transfer has succeeded. True when that ends a series of failures.
  mutating func worked() -> Bool {
    stalls = 0
    guard since != nil else { return false }
    (since, last, delay) = (nil, nil, .zero)
    return true
  }
}
