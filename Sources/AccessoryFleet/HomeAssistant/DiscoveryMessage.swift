// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryEntities

/// A message of Home Assistant's MQTT discovery (Home Assistant 2024.11 or later). It makes Home Assistant show a device with its
/// entities. The message is retained; an empty message on the same topic removes the device.
package struct DiscoveryMessage: Sendable, Hashable {
  /// The topic.
  package let topic: String
  /// The entities: component key to platform. The publisher stores them so that it can remove those that the next message lacks.
  package let components: [String: String]
  private let fields: [String: JSON]

  /// Home Assistant's default prefix of discovery topics. Its user can change it.
  package static let standardPrefix = "homeassistant"

  /// The topic on which Home Assistant publishes `online` and `offline`.
  package static func birthTopic(prefix: String = standardPrefix) -> String { "\(prefix)/status" }

  /// Creates the message of an accessory. `version` is the version of this program.
  package init(
    _ facts: EntityFacts, _ accessory: TopicLevel, of topics: FleetTopics, version: String,
    prefix: String = standardPrefix
  ) {
    let id = Self.identifier(topics.gateway) + "_" + accessory.text
    let identity = facts.identity ?? AccessoryIdentity()
    func text(_ own: String, _ other: String? = nil) -> JSON? {
      let text = own.isEmpty ? other ?? "" : own
      return text.isEmpty ? nil : .string(HomeAssistantText.name(text))
    }
    var device: [String: JSON] = [
      "identifiers": .array([.string(id)]), "name": .string(HomeAssistantText.name(facts.name)),
      "via_device": .string(Self.identifier(topics.gateway)),
    ]
    device["manufacturer"] = text(identity.manufacturer, facts.device.manufacturer)
    device["model"] = text(identity.model, facts.device.model)
    device["serial_number"] = text(identity.serialNumber, facts.device.serialNumber)
    device["sw_version"] = text(identity.firmwareRevision)
    device["hw_version"] = text(identity.hardwareRevision)
    device["suggested_area"] = text(facts.device.given?.area ?? "")
    let reachable = [topics.availability, topics.availability(of: accessory)]
    // Home Assistant would show stale readings for ever. It refuses a template among the options that all components share.
    let fresh = Self.availability(reachable, fresh: topics.state(of: accessory))
    let components = Entity.all(facts).map { entity in
      let component = Component(entity, topics: topics, of: accessory)
      switch entity.source {
      // Leave out the accessory's own availability. It would make "Connected" unavailable exactly when it should say that it isn't, and a
      // silence alarm concerns an accessory that isn't available.
      case .connected, .hasAlarm, .alarms:
        return component.with("availability", Self.availability([topics.availability]))
      case .command: return component
      default: return component.with("availability", fresh)
      }
    }
    self.init(
      topic: "\(prefix)/device/\(topics.gateway)/\(accessory)/config", id: id, device, components, version: version,
      availability: Self.availability(reachable), state: topics.state(of: accessory))
  }

  /// Creates the message of a gateway: the device that accessories are connected through.
  package init(gateway info: GatewayInfo, prefix: String = standardPrefix) {
    let topics = FleetTopics(info.gateway)
    let id = Self.identifier(info.gateway)
    let host = info.host.isEmpty ? info.gateway.text : info.host
    let connected = Component(.binarySensor, "connected", name: "Connected", category: .diagnostic)
      .with("device_class", "connectivity")
      .with("payload_on", FleetTopics.online).with("payload_off", FleetTopics.offline)
    func told(_ field: String) -> String { "{{ value_json.\(field) if value_json.\(field) is number else none }}" }
    // What it told last stays when it is offline, except for what it has then.
    func count(_ key: String, _ name: String, category: Entity.Category? = nil) -> Component {
      Component(.sensor, key, name: name, category: category).with("value_template", told(key))
        .with("state_class", "measurement").with("suggested_display_precision", .int(0))
        .with("availability", Self.availability([topics.availability]))
    }
    let components: [Component] = [
      Component(.sensor, "version", name: "Version", category: .diagnostic)
        .with("value_template", "{{ (value_json.version | string)[:255] }}"),
      Component(.sensor, "last_contact", name: "Last contact", category: .diagnostic)
        .with("device_class", "timestamp")
        .with("value_template", "{{ (value_json.time | float) | timestamp_custom('%Y-%m-%dT%H:%M:%SZ', false) }}"),
      count("attached", "Attached accessories"),
      count("accessories", "Known accessories", category: .diagnostic),
    ].map { $0.with("state_topic", topics.info) }
    self.init(
      topic: "\(prefix)/device/\(info.gateway)/config", id: id,
      [
        "identifiers": .array([.string(id)]), "name": .string(HomeAssistantText.name("Accessory Bridge on \(host)")),
        "model": .string("Gateway"), "sw_version": .string(HomeAssistantText.name(info.version)),
      ], [connected] + components, version: info.version, availability: nil, state: topics.availability)
  }

  private init(
    topic: String, id: String, _ device: [String: JSON], _ components: [Component], version: String,
    availability: JSON?, state: String
  ) {
    self.topic = topic
    self.components = Dictionary(components.map { ($0.key, $0.platform.rawValue) }) { first, _ in first }
    var fields: [String: JSON] = [
      "device": .object(device), "state_topic": .string(state), "qos": .int(1),
      "origin": .object(["name": .string("Accessory Bridge"), "sw_version": .string(version)]),
      "components": .object(Dictionary(components.map { ($0.key, $0.json(of: id)) }) { first, _ in first }),
    ]
    fields["availability"] = availability
    if availability != nil { fields["availability_mode"] = .string("all") }
    self.fields = fields
  }

  /// Available if all of these topics say `online` and, with `fresh`, the state there isn't stale.
  private static func availability(_ topics: [String], fresh state: String? = nil) -> JSON {
    let freshness = state.map { topic in
      JSON.object([
        "topic": .string(topic),
        "value_template": .string(
          "{{ '\(FleetTopics.offline)' if value_json.stale else '\(FleetTopics.online)' }}"),
      ])
    }
    return .array(topics.map { .object(["topic": .string($0)]) } + (freshness.map { [$0] } ?? []))
  }

  private static func identifier(_ gateway: TopicLevel) -> String { "accessory-bridge_" + gateway.text }

  /// The message as bytes. `old` are the components of the previous message; those that this message lacks are removed.
  package func bytes(replacing old: [String: String] = [:]) -> [UInt8] {
    var fields = fields
    if case .object(var all)? = fields["components"] {
      for (key, platform) in old where all[key] == nil { all[key] = .object(["platform": .string(platform)]) }
      fields["components"] = .object(all)
    }
    return JSON.object(fields).bytes
  }
}
