// SPDX-License-Identifier: Apache-2.0

/// What is done to keep an accessory attached.
public struct AttachmentPolicies: Sendable, Hashable {
  /// When an attached accessory went away.
  public var reconnect = RetryPolicy()
  /// When making contact failed.
  public var retry = RetryPolicy()
  /// How many accessories of this kind are attached at most; nil: any number.
  public var maximumAttached: Int?
  /// How long an accessory may have nothing to do until it is closed; nil: for ever.
  public var idleClose: Duration?

  /// Three tries, a second apart, after each kind of failure.
  public init() {}
}

/// How often something is tried again, and when.
public struct RetryPolicy: Sendable, Hashable {
  /// Whether it is tried again at all. The default is `true`.
  public var isEnabled = true
  /// Tries, at least 1; nil: for ever. The default is 3.
  public var tries: Int? = 3
  /// Time until the first try. The default is 1 s.
  public var interval = Duration.seconds(1)
  /// What each pause is multiplied by for the next, 1…10, in thousandths: 1000 leaves it as it is.
  public var backoffThousandths = 1_000
  /// No pause is longer. The default is 60 s.
  public var longestInterval = Duration.seconds(60)

  /// Three tries, a second apart.
  public init() {}

  /// The pause before a try, of which the first is 1; nil when it is given up instead.
  public func pause(beforeTry number: Int) -> Duration? {
    guard isEnabled, number >= 1, number <= tries ?? .max else { return nil }
    var pause = min(interval, longestInterval)
    let factor = min(backoffThousandths, 10_000)
    guard factor > 1_000, interval > .zero else { return pause }
    for _ in 1..<number {
      // A pause that is longer after this multiplication is not multiplied, so that nothing overflows.
      guard pause < longestInterval / factor * 1_000 else { return longestInterval }
      pause = pause * factor / 1_000
    }
    return pause
  }
}
