// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// What is wrong with one endpoint at the moment, and what is to be done about it. Has no clock of its own.
struct EndpointTrouble: Sendable {
  /// What has to be done before transfers are submitted again.
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

  /// A failure this long after the one before is another story.
  private static let memory: Duration = .milliseconds(500)
  /// Failing for longer than this is more than noise. A device that goes shows errors for up to 500 ms before that.
  private static let patience: Duration = .milliseconds(1_000)
  /// Between one try and the next, doubled each time: a device that is failing gives an error at once, for every try.
  private static let delays: (first: Duration, most: Duration) = (.milliseconds(5), .milliseconds(100))
  /// Halts in a row, without a byte in between, after which it is the device's answer.
  private static let stallLimit = 3

  /// A transfer failed. Nil when that is going on for too long; else how long to wait before the next try, which is
  /// told once for all the transfers that were pending together.
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

  /// The endpoint halted; false when it does so again and again.
  mutating func stalled() -> Bool {
    if cure != .clearHalt { stalls += 1 }
    cure = .clearHalt
    return stalls <= Self.stallLimit
  }

  /// The halt is over. What it kept from being carried is to be submitted first, by itself: until then nothing else is.
  mutating func haltCleared() { cure = .pause }

  /// What had to be done was done.
  mutating func cured() { cure = .none }

  /// A transfer worked. True when that ends a series of failures.
  mutating func worked() -> Bool {
    stalls = 0
    guard since != nil else { return false }
    (since, last, delay) = (nil, nil, .zero)
    return true
  }
}
