// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore

/// What to publish and where to read it from.
package struct PublisherSettings: Sendable {
  /// The gateway's name in topics.
  package var gateway: TopicLevel
  /// The machine's host name, and the version of this program.
  package var host, version: String
  /// The prefix of Home Assistant's discovery topics; nil for no discovery.
  package var discoveryPrefix: String? = DiscoveryMessage.standardPrefix
  /// Whether states and values are retained. Availability and discovery always are.
  package var retainsStates = true
  /// How long a disconnected accessory stays on the broker as offline. After that its topics are removed.
  package var forgetAfter = Duration.seconds(7 * 86_400)
  /// The sockets at which to look for the service, in order.
  package var sockets: [String]

  package init(gateway: TopicLevel, host: String, version: String, sockets: [String]) {
    (self.gateway, self.host, self.version, self.sockets) = (gateway, host, version, sockets)
  }

  /// The default sockets. For each location, the readings socket comes before the main one; older services have only the main one.
  package static func usualSockets() -> [String] {
    let (readings, others) = (ServicePlace.allReadings(), ServicePlace.all())
    return (0..<max(readings.count, others.count)).flatMap { index in
      readings.dropFirst(index).prefix(1) + others.dropFirst(index).prefix(1)
    }
  }

  var topics: FleetTopics { FleetTopics(gateway) }

  /// The message that the broker publishes if it loses this gateway.
  package var will: MQTTMessage {
    MQTTMessage(topics.availability, Array(FleetTopics.offline.utf8), isRetained: true)
  }
}
