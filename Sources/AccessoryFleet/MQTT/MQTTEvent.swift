// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// What a client reports to its owner.
package enum MQTTEvent: Sendable {
  /// The broker has accepted the client. Subscriptions must be made again for each connection.
  case connected
  /// The connection has ended or couldn't be made. The next attempt starts after `retry`.
  case disconnected(AccessoryError, retry: Duration)
  /// A message on a subscribed topic.
  case message(MQTTMessage)
  /// The broker has accepted a subscription. If the broker keeps messages in order, it has already sent the retained ones.
  case subscribed(String)
  /// About one keepalive interval has passed since the last event of this kind or since the connection. The client is awake anyway,
  /// so this is the time for occasional work.
  case keepalive
  /// A message couldn't be sent, or the broker has refused a subscription.
  case refused(topic: String, AccessoryError)
}
