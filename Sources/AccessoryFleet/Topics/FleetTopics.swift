// SPDX-License-Identifier: Apache-2.0

/// The topics of a gateway and its accessories:
///
/// | topic | content | retained |
/// |---|---|---|
/// | `accessory-bridge/GATEWAY/availability` | `online` or `offline`; the connection's will | yes |
/// | `accessory-bridge/GATEWAY/info` | `GatewayInfo` | yes |
/// | `accessory-bridge/GATEWAY/ID/availability` | `online` or `offline` | yes |
/// | `accessory-bridge/GATEWAY/ID/state` | `FleetState` | yes |
/// | `accessory-bridge/GATEWAY/ID/values` | `FleetValues` | yes |
/// | `accessory-bridge/GATEWAY/ID/event` | `FleetEvent` | no |
/// | `accessory-bridge/GATEWAY/ID/NAME/set` | `FleetCall`: a command for the accessory | no |
/// | `accessory-bridge/GATEWAY/ID/NAME/result` | `FleetResult`: its answer | no |
package struct FleetTopics: Sendable, Hashable {
  /// The first level of all topics.
  package static let root = "accessory-bridge"

  /// The content of the topics `availability`.
  package static let online = "online"
  package static let offline = "offline"

  package let gateway: TopicLevel

  package init(_ gateway: TopicLevel) { self.gateway = gateway }

  private func topic(_ levels: String...) -> String { ([Self.root, gateway.text] + levels).joined(separator: "/") }

  /// Whether the gateway is connected to the broker.
  package var availability: String { topic("availability") }
  /// The gateway's description.
  package var info: String { topic("info") }

  /// Whether an accessory is attached.
  package func availability(of accessory: TopicLevel) -> String { topic(accessory.text, "availability") }
  /// An accessory's description, status and battery.
  package func state(of accessory: TopicLevel) -> String { topic(accessory.text, "state") }
  /// The values that an accessory measures.
  package func values(of accessory: TopicLevel) -> String { topic(accessory.text, "values") }
  package func event(of accessory: TopicLevel) -> String { topic(accessory.text, "event") }
  package func set(_ command: TopicLevel, of accessory: TopicLevel) -> String {
    topic(accessory.text, command.text, "set")
  }
  /// Replies to commands.
  package func result(_ command: TopicLevel, of accessory: TopicLevel) -> String {
    topic(accessory.text, command.text, "result")
  }

  // MARK: - What to subscribe to

  /// The gateway's own topics.
  package var ofItself: String { topic("+") }
  /// The commands for all accessories of the gateway.
  package var allCommands: String { topic("+", "+", "set") }

  /// Subscription filters for topics of gateways or accessories. A nil `gateway` means all gateways.
  package enum Filter {
    /// `availability` or `info` of gateways.
    package static func gateways(_ what: FleetTopic.GatewayPart, of gateway: TopicLevel? = nil) -> String {
      [root, gateway?.text ?? "+", what.rawValue].joined(separator: "/")
    }

    package static func accessories(
      _ what: FleetTopic.AccessoryPart, of gateway: TopicLevel? = nil, _ accessory: TopicLevel? = nil
    ) -> String {
      [root, gateway?.text ?? "+", accessory?.text ?? "+", what.rawValue].joined(separator: "/")
    }
  }
}
