// SPDX-License-Identifier: Apache-2.0

import DequeModule

/// Events waiting for the owner of a client, in order.
struct MQTTInbox: Sendable {
  private var events: Deque<MQTTEvent> = []
  private var size = 0

  /// The client stops reading when the waiting messages have this many bytes.
  static let limit = 1 << 20

  /// Whether no event is waiting.
  var isEmpty: Bool { events.isEmpty }
  /// Whether the client must stop reading.
  var isFull: Bool { size >= Self.limit }

  /// Adds an event. Only the last event about the connection stays, and a keepalive is dropped while other events wait. So the number
  /// of events without a message is small.
  mutating func add(_ event: MQTTEvent) {
    if case .disconnected = event { events.removeAll { $0.isAboutConnection } }
    if case .keepalive = event, !events.isEmpty { return }
    events.append(event)
    size += event.size
  }

  /// Removes and returns the next event; nil when there is none.
  mutating func next() -> MQTTEvent? {
    guard let event = events.popFirst() else { return nil }
    size -= event.size
    return event
  }
}

extension MQTTEvent {
  /// The size of the event's message, in bytes.
  fileprivate var size: Int {
    if case .message(let message) = self { message.topic.utf8.count + message.payload.count + 64 } else { 0 }
  }

  fileprivate var isAboutConnection: Bool {
    switch self {
    case .connected, .disconnected: true
    case .message, .subscribed, .refused, .keepalive: false
    }
  }
}
