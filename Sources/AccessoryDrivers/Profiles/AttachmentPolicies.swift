// SPDX-License-Identifier: Apache-2.0

/// How the service keeps an accessory attached.
public struct AttachmentPolicies: Sendable, Hashable {
  /// How to reconnect after an attached accessory went away.
  public var reconnect = RetryPolicy()
  /// How to retry after making contact failed.
  public var retry = RetryPolicy()
  /// The most accessories of this kind that are attached at once; nil means any number.
  public var maximumAttached: Int?
  /// The accessory is closed after this time without requests; nil means never.
  public var idleClose: Duration?

  /// Three tries, one second apart, after each kind of failure.
  public init() {}

  /// Tries without limit, with pauses that grow from one second to a minute.
  static let onTheAir: AttachmentPolicies = {
    var policies = AttachmentPolicies()
    for policy in [\AttachmentPolicies.reconnect, \.retry] {
      (policies[keyPath: policy].tries, policies[keyPath: policy].backoffThousandths) = (nil, 2_000)
    }
    return policies
  }()
}

/// How often a failed action is retried, and when.
public struct RetryPolicy: Sendable, Hashable {
  /// Whether it is retried at all. The default is `true`.
  public var isEnabled = true
  /// The number of tries, at least 1; nil means no limit. The default is 3.
  public var tries: Int? = 3
  /// The pause before the first try. The default is 1 s.
  public var interval = Duration.seconds(1)
  /// The factor from each pause to the next, in thousandths, from 1,000 (equal pauses) to 10,000.
  public var backoffThousandths = 1_000
  /// The longest pause. The default is 60 s.
  public var longestInterval = Duration.seconds(60)

  /// Three tries, one second apart.
  public init() {}

  /// The pause before a try, counted from 1; nil when no more tries are made.
  public func pause(beforeTry number: Int) -> Duration? {
    guard isEnabled, number >= 1, number <= tries ?? .max else { return nil }
    var pause = min(interval, longestInterval)
    let factor = min(backoffThousandths, 10_000)
    guard factor > 1_000, interval > .zero else { return pause }
    for _ in 1..<number {
      // Checked before the multiplication, so that it can't overflow.
      guard pause < longestInterval / factor * 1_000 else { return longestInterval }
      pause = pause * factor / 1_000
    }
    return pause
  }
}
