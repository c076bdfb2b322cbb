// SPDX-License-Identifier: Apache-2.0

import DequeModule

/// Messages waiting to be sent, in order, in bounded memory. Keeps only the latest message of a retained topic; while offline, of any
/// topic.
package struct Outbox: Sendable {
  private enum Key: Hashable {
    case topic(String)
    case number(UInt64)
  }

  private var order = Deque<Key>()
  private var messages: [Key: MQTTMessage] = [:]
  private var size = 0
  private var nextNumber: UInt64 = 0

  /// The most waiting messages, and the most bytes of their topics and contents.
  package static let countLimit = 4_096
  package static let sizeLimit = 8 << 20
  /// While so many messages wait, events aren't added: many events of one accessory must not hold up the states of the others, which are
  /// made while fewer wait than `FleetPublisher` allows.
  package static let eventLimit = 256

  /// An empty outbox.
  package init() {}

  /// The number of messages that wait.
  package var count: Int { messages.count }
  /// Whether no message is waiting.
  package var isEmpty: Bool { messages.isEmpty }

  /// Adds a message. With `keepsLatest` it replaces a waiting message on the same topic. Returns false and drops the message if the
  /// outbox is full.
  package mutating func add(_ message: MQTTMessage, keepsLatest: Bool) -> Bool {
    let key: Key
    if keepsLatest || message.isRetained {
      key = .topic(message.topic)
    } else {
      if message.qos == .atMostOnce, messages.count >= Self.eventLimit { return false }
      key = .number(nextNumber)
      nextNumber += 1
    }
    let old = messages[key]
    let newSize = size + message.size - (old?.size ?? 0)
    guard newSize <= Self.sizeLimit, old != nil || messages.count < Self.countLimit else { return false }
    size = newSize
    messages[key] = message
    if old == nil { order.append(key) }
    return true
  }

  /// Puts messages back in front that were sent but perhaps didn't arrive. A message is dropped if a newer one on its topic is
  /// waiting.
  package mutating func putBack(_ sent: [MQTTMessage]) {
    for message in sent.reversed() {
      let key = Key.topic(message.topic)
      guard messages[key] == nil, size + message.size <= Self.sizeLimit, messages.count < Self.countLimit else {
        continue
      }
      messages[key] = message
      size += message.size
      order.prepend(key)
    }
  }

  /// Removes and returns the next message; nil when there is none.
  package mutating func next() -> MQTTMessage? {
    guard let key = order.popFirst(), let message = messages.removeValue(forKey: key) else { return nil }
    size -= message.size
    return message
  }
}

extension MQTTMessage {
  fileprivate var size: Int { topic.utf8.count + payload.count }
}
