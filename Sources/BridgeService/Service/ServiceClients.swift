// SPDX-License-Identifier: Apache-2.0

import AccessoryControl

/// The service's clients and what they have open, except loans. Used on the service's actor only.
struct ServiceClients {
  var count = 0
  /// The subscribers to events.
  var events: EventHub
  /// Files that clients supply, by transfer name.
  var supplies: [String: SuppliedFile] = [:]
}

/// Distributes events to subscribers. Used on the service's actor only.
struct EventHub {
  /// An event. All subscribers' queues share the same object.
  final class Entry: Sendable {
    let event: Bridge.Event

    init(_ event: Bridge.Event) { self.event = event }
  }

  private struct Subscriber {
    let continuation: AsyncStream<Entry>.Continuation
    let wantsValues: Bool
    let wantsAlarms: Bool
    let wantsFound: Bool
    let wantsChanges: Bool

    func wants(_ event: Bridge.EventName) -> Bool {
      switch event {
      case .values: wantsValues
      case .alarm: wantsAlarms
      case .found: wantsFound
      case .changed: wantsChanges
      default: true
      }
    }
  }

  /// Gets all events before the subscribers do; nil for no receiver.
  private let onEvent: (@Sendable (Bridge.Event) -> Void)?
  private var subscribers: [Int: Subscriber] = [:]
  private var next = 0

  /// The limit of a subscriber's queue. A subscriber that falls further behind is disconnected.
  private static let limit = 4_096

  init(onEvent: (@Sendable (Bridge.Event) -> Void)? = nil) { self.onEvent = onEvent }

  /// Whether a receiver or a subscriber wants values.
  var wantsValues: Bool { onEvent != nil || subscribers.values.contains { $0.wantsValues } }

  /// Whether there is a subscriber.
  var hasSubscribers: Bool { !subscribers.isEmpty }

  /// Adds a subscriber. Values, alarms, found devices and other changes are sent only to subscribers that ask for them, since older
  /// clients don't know these events.
  mutating func subscribe(
    values wantsValues: Bool = false, alarms wantsAlarms: Bool = false, found wantsFound: Bool = false,
    changes wantsChanges: Bool = false
  ) -> (key: Int, events: AsyncStream<Entry>) {
    let (stream, continuation) = AsyncStream<Entry>.makeStream(bufferingPolicy: .bufferingOldest(Self.limit))
    next += 1
    subscribers[next] = Subscriber(
      continuation: continuation, wantsValues: wantsValues, wantsAlarms: wantsAlarms, wantsFound: wantsFound,
      wantsChanges: wantsChanges)
    return (next, stream)
  }

  mutating func unsubscribe(_ key: Int) { subscribers.removeValue(forKey: key)?.continuation.finish() }

  mutating func tell(_ event: Bridge.Event) {
    // Of what is only begun, those are told who have asked for it.
    if event.event != .found, event.event != .changed { onEvent?(event) }
    let entry = Entry(event)
    for (key, subscriber) in subscribers where subscriber.wants(event.event) {
      if case .enqueued = subscriber.continuation.yield(entry) { continue }
      unsubscribe(key)
    }
  }

  mutating func end() {
    for subscriber in subscribers.values { subscriber.continuation.finish() }
    subscribers = [:]
  }
}
