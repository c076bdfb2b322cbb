// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// What a client reports to its owner.
package enum MQTTEvent: Sendable {
  /// The broker has accepted the client. Subscriptions begin anew with each connection.
  case connected
  /// The connection is over, or couldn't be made; the next try is after `retry`.
  case disconnected(AccessoryError, retry: Duration)
  /// A message of a topic that the client has subscribed to.
  case message(MQTTMessage)
  /// The broker has accepted a subscription, and has sent what it had kept for it, as far as it does that in order.
  case subscribed(String)
  /// About one keepalive time has passed since the last one, or since the connection: the client is awake anyway, so work that is
  /// to be done now and then is best done now.
  case keepalive
  /// A message couldn't be sent, or the broker has refused a subscription.
  case refused(topic: String, AccessoryError)
}
