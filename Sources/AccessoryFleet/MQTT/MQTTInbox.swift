// SPDX-License-Identifier: Apache-2.0

import DequeModule

/// Events that wait for the owner of a client, in order.
struct MQTTInbox: Sendable {
  private var events: Deque<MQTTEvent> = []
  private var size = 0

  /// The bytes of messages from which on the client stops reading.
  static let limit = 1 << 20

  /// Whether none waits.
  var isEmpty: Bool { events.isEmpty }
  /// Whether the client has to stop reading.
  var isFull: Bool { size >= Self.limit }

  /// Adds an event. Events without a message are few for each connection; of those about connections only the last one
  /// stays, and none about a keepalive behind others.
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
  /// The bytes that the event holds.
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
