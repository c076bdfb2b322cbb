// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// The error state of one endpoint, and how to recover from it. This type reads no clock; the caller passes the time.
struct EndpointRecovery: Sendable {
  /// What must be done before transfers are submitted again.
  enum Action: Sendable, Hashable {
    case none
    /// Wait for the delay.
    case pause
    /// Clear the halt, once no transfer is pending any more.
    case clearHalt
  }

  private(set) var action = Action.none
  private var since: MonotonicTime?
  private var last: MonotonicTime?
  private var delay = Duration.zero
  private var stalls = 0

  /// A failure this long after the previous one starts a new series.
  private static let memory: Duration = .milliseconds(500)
  /// The longest series of failures that counts as electrical noise. After an unplug, transfers fail for up to 500 ms
  /// before the device is reported as gone.
  private static let longestSeries: Duration = .milliseconds(1_000)
  /// The first pause between retries, which is doubled each time: a failing device returns an error at once for every
  /// retry.
  private static let delays: (first: Duration, most: Duration) = (.milliseconds(5), .milliseconds(100))
  /// After this many halts in a row without a byte in between, the halt counts as the device's refusal.
  private static let stallLimit = 3

  /// Call this when a transfer has failed. Returns nil when failures have lasted too long, otherwise the pause before
  /// the next retry, which is the same for all transfers that were pending together.
  mutating func failed(at now: MonotonicTime) -> Duration? {
    if let last, now - last > Self.memory { (since, delay) = (nil, .zero) }
    last = now
    let began = since ?? now
    since = began
    guard now - began <= Self.longestSeries else { return nil }
    if action == .none {
      delay = min(max(delay * 2, Self.delays.first), Self.delays.most)
      action = .pause
    }
    return delay
  }

  /// Call this when the endpoint has halted. Returns false when it has halted too often.
  mutating func stalled() -> Bool {
    if action != .clearHalt { stalls += 1 }
    action = .clearHalt
    return stalls <= Self.stallLimit
  }

  /// Call this when the halt is cleared. The transfer that the halt stopped must be repeated first, alone.
  mutating func haltCleared() { action = .pause }

  /// Call this when the recovery is done.
  mutating func recovered() { action = .none }

  /// Call this when a transfer has succeeded. Returns true when that ends a series of failures.
  mutating func worked() -> Bool {
    stalls = 0
    guard since != nil else { return false }
    (since, last, delay) = (nil, nil, .zero)
    return true
  }
}
