// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore

/// What a publisher publishes, and where it gets it.
package struct PublisherSettings: Sendable {
  /// The gateway's name in topics.
  package var gateway: TopicLevel
  /// The machine's host name, and the version of this program.
  package var host, version: String
  /// The prefix of Home Assistant's discovery; nil for no discovery.
  package var discoveryPrefix: String? = DiscoveryMessage.standardPrefix
  /// Whether the broker keeps states and values. Availability and discovery are always kept.
  package var retainsStates = true
  /// How long an accessory that is gone stays on the broker, as offline. Its topics are removed then.
  package var forgetAfter = Duration.seconds(7 * 86_400)
  /// The sockets to look for the service at, in this order.
  package var sockets: [String]

  /// Settings for a gateway.
  package init(gateway: TopicLevel, host: String, version: String, sockets: [String]) {
    (self.gateway, self.host, self.version, self.sockets) = (gateway, host, version, sockets)
  }

  /// The sockets to look for a service at: in each place first the socket for readings, then the other one, which services of
  /// older versions have alone.
  package static func usualSockets() -> [String] {
    let (readings, others) = (ServicePlace.allReadings(), ServicePlace.all())
    return (0..<max(readings.count, others.count)).flatMap { index in
      readings.dropFirst(index).prefix(1) + others.dropFirst(index).prefix(1)
    }
  }

  /// The topics of the gateway.
  var topics: FleetTopics { FleetTopics(gateway) }

  /// What the broker publishes when it loses this gateway.
  package var will: MQTTMessage {
    MQTTMessage(topics.availability, Array(FleetTopics.offline.utf8), isRetained: true)
  }
}
