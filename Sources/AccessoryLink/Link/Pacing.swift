// SPDX-License-Identifier: Apache-2.0

/// When the next request may be sent.
public enum Pacing: Sendable, Hashable {
  /// When the last one was answered or given up.
  case reply
  /// Likewise, and not before this time has passed since it was sent: for accessories that lose requests that come
  /// fast.
  case gap(Duration)
  /// While fewer than this many, at least 1, are unanswered. Never more than the accessory allows.
  case window(Int)

  /// Requests that may be unanswered at a time.
  var window: Int {
    switch self {
    case .reply, .gap: 1
    case .window(let count): max(1, count)
    }
  }

  /// Time from one sending to the next.
  var gap: Duration {
    if case .gap(let duration) = self { duration } else { .zero }
  }
}

/// What happens to a request when too many wait already.
public enum Overflow: Sendable, Hashable {
  /// The new one fails as `busy`.
  case refuse
  /// The oldest waiting request fails with `busy`, and the new one waits: for commands of which only the last one
  /// matters.
  case dropOldest
}
