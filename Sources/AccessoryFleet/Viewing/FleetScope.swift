// SPDX-License-Identifier: Apache-2.0

/// Which part of a fleet is looked at.
package struct FleetScope: Sendable, Hashable {
  /// The beginning of the names of the gateways; nil for all of them.
  package var gateway: String?
  /// The accessories by their levels in topics; nil for all of them.
  package var accessories: [TopicLevel]?
  /// The gateways that are asked for by their whole names, beside those that the broker names: some brokers, such as RabbitMQ, don't give what
  /// they have kept to subscriptions with wildcards.
  package var named: [TopicLevel]
  /// The topics.
  package var parts: [FleetTopic.AccessoryPart]

  /// A part of a fleet.
  package init(
    gateway: String? = nil, accessories: [TopicLevel]? = nil, named: [TopicLevel] = [],
    _ parts: [FleetTopic.AccessoryPart]
  ) {
    (self.gateway, self.accessories, self.named, self.parts) = (gateway, accessories, named, parts)
  }

  /// Whether this gateway belongs to it.
  package func includes(_ gateway: TopicLevel) -> Bool { self.gateway.map { gateway.text.hasPrefix($0) } ?? true }

  /// The filters to subscribe to for one gateway. For all accessories of all gateways there is no single one: brokers drop messages
  /// that a client doesn't take fast enough, and of a thousand gateways at once these would be many.
  func filters(_ gateway: TopicLevel) -> [String] {
    guard let accessories else { return parts.map { FleetTopics.Filter.accessories($0, of: gateway) } }
    return accessories.flatMap { accessory in
      parts.map { FleetTopics.Filter.accessories($0, of: gateway, accessory) }
    }
  }
}

/// What a person calls an accessory of a fleet: `[GATEWAY:]ID`. An id may have colons itself.
package struct FleetName: Sendable, Hashable {
  /// The name as it was written.
  package let text: String
  /// The gateway from an option of its own; nil without.
  package let gateway: String?

  /// A name, with the gateway from an option.
  package init(_ text: String, gateway: String? = nil) { (self.text, self.gateway) = (text, gateway) }

  /// The ways to read it: the gateway, or nil for any, and the id.
  package var readings: [(gateway: String?, id: String)] {
    var readings: [(gateway: String?, id: String)] = [(gateway, text)]
    if gateway == nil, let colon = text.firstIndex(of: ":"), colon > text.startIndex {
      let id = String(text[text.index(after: colon)...])
      if !id.isEmpty { readings.append((String(text[..<colon]), id)) }
    }
    return readings
  }

  /// The gateways that are meant if the name has a gateway's whole name.
  package var gateways: [TopicLevel] {
    Set(readings.compactMap { $0.gateway.flatMap { TopicLevel(level: $0) } }).sorted()
  }

  /// The levels that the accessory would have if the name is its whole id.
  package var levels: [TopicLevel] {
    let levels = readings.flatMap { [TopicLevel(naming: $0.id), TopicLevel(level: $0.id)] }.compactMap { $0 }
    return Set(levels).sorted()
  }

  /// The accessories that are meant: those with exactly this name, or else those whose ids begin with it. A gateway's whole name
  /// goes before the beginnings of others.
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
