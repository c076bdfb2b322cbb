// SPDX-License-Identifier: Apache-2.0

/// The part of a fleet to read.
package struct FleetScope: Sendable, Hashable {
  /// The prefix of the gateways' names; nil for all gateways.
  package var gateway: String?
  /// The topic levels of the accessories; nil for all accessories.
  package var accessories: [TopicLevel]?
  /// Gateways to ask for by their full names, in addition to those that the broker names. Some brokers, such as RabbitMQ, don't send
  /// retained messages to subscriptions with wildcards.
  package var named: [TopicLevel]
  /// The topics to read.
  package var parts: [FleetTopic.AccessoryPart]

  /// A part of a fleet.
  package init(
    gateway: String? = nil, accessories: [TopicLevel]? = nil, named: [TopicLevel] = [],
    _ parts: [FleetTopic.AccessoryPart]
  ) {
    (self.gateway, self.accessories, self.named, self.parts) = (gateway, accessories, named, parts)
  }

  /// Whether this gateway is in the scope.
  package func includes(_ gateway: TopicLevel) -> Bool { self.gateway.map { gateway.text.hasPrefix($0) } ?? true }

  /// The filters to subscribe to for one gateway. There is no single filter for all gateways: brokers drop messages if a client is
  /// too slow, and a thousand gateways at once would send too many.
  func filters(_ gateway: TopicLevel) -> [String] {
    guard let accessories else { return parts.map { FleetTopics.Filter.accessories($0, of: gateway) } }
    return accessories.flatMap { accessory in
      parts.map { FleetTopics.Filter.accessories($0, of: gateway, accessory) }
    }
  }
}

/// An accessory's name as a user types it: `[GATEWAY:]ID`. The id may contain colons.
package struct FleetName: Sendable, Hashable {
  /// The name as typed.
  package let text: String
  /// The gateway from a separate option; nil without the option.
  package let gateway: String?

  /// Creates a name, with the gateway from a separate option.
  package init(_ text: String, gateway: String? = nil) { (self.text, self.gateway) = (text, gateway) }

  /// The possible interpretations: the gateway (nil for any) and the id.
  package var readings: [(gateway: String?, id: String)] {
    var readings: [(gateway: String?, id: String)] = [(gateway, text)]
    if gateway == nil, let colon = text.firstIndex(of: ":"), colon > text.startIndex {
      let id = String(text[text.index(after: colon)...])
      if !id.isEmpty { readings.append((String(text[..<colon]), id)) }
    }
    return readings
  }

  /// The gateways to look for if the name contains a gateway's full name.
  package var gateways: [TopicLevel] {
    Set(readings.compactMap { $0.gateway.flatMap { TopicLevel(level: $0) } }).sorted()
  }

  /// The levels of the accessory if the name is its full id.
  package var levels: [TopicLevel] {
    let levels = readings.flatMap { [TopicLevel(naming: $0.id), TopicLevel(level: $0.id)] }.compactMap { $0 }
    return Set(levels).sorted()
  }

  /// The matching accessories: those with exactly this name, or else those whose ids begin with it. A gateway's full name takes
  /// precedence over prefixes.
  package func matches(among all: [FleetAccessory]) -> [FleetAccessory] {
    let fits: [(FleetAccessory, String) -> Bool] = [{ $0.isNamed($1) }, { $0.isNamed(beginning: $1) }]
    for fit in fits {
      var found: [FleetAccessory] = []
      for (gateway, id) in readings {
        var some = all.filter { fit($0, id) }
        if let gateway {
          let whole = some.filter { $0.key.gateway.text == gateway }
          some = whole.isEmpty ? some.filter { $0.key.gateway.text.hasPrefix(gateway) } : whole
        }
        for one in some where !found.contains(where: { $0.key == one.key }) { found.append(one) }
      }
      if !found.isEmpty { return found }
    }
    return []
  }
}
