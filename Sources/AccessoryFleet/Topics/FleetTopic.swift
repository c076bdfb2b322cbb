// SPDX-License-Identifier: Apache-2.0

/// A topic from a broker, split into its parts. Anybody who may publish chooses topics, so every part is checked.
package enum FleetTopic: Sendable, Hashable {
  /// What a gateway publishes about itself. The raw value is the last level.
  package enum GatewayPart: String, Sendable, Hashable, CaseIterable {
    case availability, info
  }

  /// What a gateway publishes about an accessory. The raw value is the last level.
  package enum AccessoryPart: String, Sendable, Hashable, CaseIterable {
    case availability, state, values, event
  }

  /// The two topics of a command. The raw value is the last level.
  package enum CommandPart: String, Sendable, Hashable, CaseIterable {
    case set, result
  }

  case gateway(TopicLevel, GatewayPart)
  case accessory(gateway: TopicLevel, TopicLevel, AccessoryPart)
  case command(gateway: TopicLevel, accessory: TopicLevel, TopicLevel, CommandPart)

  /// The longest topic, in bytes.
  package static let longest = FleetTopics.root.utf8.count + 4 * (TopicLevel.longest + 1)

  /// Reads a topic. Nil if it isn't one of ours: another root, another number of levels, or an invalid character.
  package init?(_ topic: String) {
    guard topic.utf8.count <= Self.longest else { return nil }
    let levels = topic.utf8.split(separator: UInt8(ascii: "/"), maxSplits: 5, omittingEmptySubsequences: false)
      .map { Substring($0) }
    guard levels.first == Substring(FleetTopics.root), (3...5).contains(levels.count),
      let gateway = TopicLevel(level: levels[1])
    else { return nil }
    if levels.count == 3 {
      guard let part = GatewayPart(rawValue: String(levels[2])) else { return nil }
      self = .gateway(gateway, part)
      return
    }
    guard let accessory = TopicLevel(level: levels[2]) else { return nil }
    if levels.count == 4 {
      guard let part = AccessoryPart(rawValue: String(levels[3])) else { return nil }
      self = .accessory(gateway: gateway, accessory, part)
      return
    }
    guard let name = TopicLevel(level: levels[3]), let part = CommandPart(rawValue: String(levels[4])) else {
      return nil
    }
    self = .command(gateway: gateway, accessory: accessory, name, part)
  }
}
