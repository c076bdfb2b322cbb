// SPDX-License-Identifier: Apache-2.0

import AccessoryControl

/// Hands what happens to all who asked for it. Lives within the service's actor.
struct EventHub {
  /// An event. One for all subscribers, however many of them are behind.
  final class Entry: Sendable {
    let event: Bridge.Event

    init(_ event: Bridge.Event) { self.event = event }
  }

  private var subscribers: [Int: AsyncStream<Entry>.Continuation] = [:]
  private var next = 0

  /// Events that a subscriber may be behind; one that is further behind is cut off.
  private static let limit = 4_096

  mutating func subscribe() -> (key: Int, events: AsyncStream<Entry>) {
    let (stream, continuation) = AsyncStream<Entry>.makeStream(bufferingPolicy: .bufferingOldest(Self.limit))
    next += 1
    subscribers[next] = continuation
    return (next, stream)
  }

  mutating func unsubscribe(_ key: Int) { subscribers.removeValue(forKey: key)?.finish() }

  mutating func tell(_ entry: Entry) {
    for (key, subscriber) in subscribers {
      if case .enqueued = subscriber.yield(entry) { continue }
      unsubscribe(key)
    }
  }

  mutating func end() {
    for subscriber in subscribers.values { subscriber.finish() }
    subscribers = [:]
  }
}
