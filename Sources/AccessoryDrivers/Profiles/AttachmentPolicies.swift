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
  /// What is done with a device that is plugged in and has stopped answering; nil means nothing.
  public var recovery: RecoveryPolicy?

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

/// How a device that is plugged in and doesn't answer is brought back: first it is closed and opened again, then, where that is allowed,
/// it is reset on its bus each time. The pauses before that grow, and it never ends.
public struct RecoveryPolicy: Sendable, Hashable {
  /// After this many unanswered polls in a row a device counts as silent, at least 1.
  public var polls = 3
  /// Whether it may be reset on its bus, which is for USB devices.
  public var resetsBus = false
  /// The pause before the first recovery. Each further pause is twice as long as the one before.
  public var interval = Duration.seconds(5)
  /// The longest pause.
  public var longestInterval = Duration.seconds(300)

  /// Three polls, and no reset.
  public init() {}

  /// The pause before a recovery, counted from 1.
  public func pause(before number: Int) -> Duration {
    var policy = RetryPolicy()
    (policy.tries, policy.interval, policy.longestInterval, policy.backoffThousandths) = (
      nil, interval, longestInterval, 2_000
    )
    return policy.pause(beforeTry: number) ?? longestInterval
  }
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
