// SPDX-License-Identifier: Apache-2.0

/// When the next request may be sent.
public enum Pacing: Sendable, Hashable {
  /// When the previous request was answered, has timed out or was cancelled.
  case reply
  /// Like `reply`, and not before this time has passed since the previous request was sent. For accessories that lose
  /// requests when these follow each other quickly.
  case gap(Duration)
  /// While fewer than this number of requests (at least 1) are unanswered. The accessory may allow fewer.
  case window(Int)

  /// The number of requests that may be unanswered at a time.
  package var window: Int {
    switch self {
    case .reply, .gap: 1
    case .window(let count): max(1, count)
    }
  }

  /// The shortest time from sending one request to sending the next.
  package var gap: Duration {
    if case .gap(let duration) = self { duration } else { .zero }
  }
}

/// What happens to a request when the queue is full.
public enum Overflow: Sendable, Hashable {
  /// The new request fails as `busy`.
  case refuse
  /// The oldest waiting request fails as `busy`, and the new one waits. For commands of which only the last one
  /// matters.
  case dropOldest
}
