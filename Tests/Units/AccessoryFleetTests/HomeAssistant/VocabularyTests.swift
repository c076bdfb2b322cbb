// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryEntities
import TestSupport
import Testing

@testable import AccessoryFleet

/// A row of the vocabulary is all that MQTT's documents and Home Assistant need: a test fails for a row that one leaves out.
@Suite("MQTT and Home Assistant have what the vocabulary has") struct VocabularyFleetTests {
  private static let device = Device(id: "a", path: "/dev/a", source: .udev)

  private func components(_ facts: EntityFacts) -> [String: String] {
    let topics = FleetTopics(TopicLevel(naming: "attic-3f2a9c01"))
    return DiscoveryMessage(facts, TopicLevel(naming: "a"), of: topics, version: "1").components
  }

  /// The document has the field, Home Assistant has the entities, and each entity reads that field.
  @Test(arguments: Vocabulary.battery.indices) func everyBatteryTermHasItsEntities(_ index: Int) throws {
    let term = Vocabulary.battery[index]
    var state = FleetState(Self.device, connected: true, at: 1)
    state.battery = term.sampleReading
    let document = String(decoding: state.bytes, as: UTF8.self)
    #expect(document.contains("\"\(term.key)\":") && !document.contains("\"\(term.key)\":null"))
    let before = components(EntityFacts(Self.device))
    var facts = EntityFacts(Self.device)
    let isNew = facts.take(state.accessory)
    // The charge's entity shows the tenths.
    #expect(isNew && term.entities.isEmpty == (term.key == "percent_tenths"))
    let new = Set(components(facts).keys).subtracting(before.keys)
    let keys = term.entities.flatMap { entity in
      entity.isEach
        ? term.elements(in: term.sampleReading).indices.map { "\(entity.key)_\($0 + 1)" } : [entity.key]
    }
    #expect(new == Set(keys))
    for entity in Entity.all(facts) where keys.contains(entity.key) {
      #expect(EntityTemplate.text(of: entity)?.contains("battery.\(term.key)") == true, "\(entity.key)")
      #expect(entity.state(of: state.accessory) != nil, "\(entity.key)")
    }
  }

  @Test(arguments: Vocabulary.status.indices) func everyStatusTermHasItsEntities(_ index: Int) throws {
    let term = Vocabulary.status[index]
    var status = AccessoryStatus(state: .idle)
    term.fill(&status)
    var state = FleetState(Self.device, connected: true, at: 1)
    state.status = status
    var facts = EntityFacts(Self.device)
    facts.take(state.accessory)
    let keys = components(facts).keys
    for entity in term.entities { #expect(keys.contains(entity.key)) }
  }

  /// The level follows from the percentage, which Home Assistant has.
  @Test func aPercentageHasNoLevelBesideIt() {
    var state = FleetState(Self.device, connected: true, at: 1)
    state.battery = BatteryReading(percent: 50)
    var facts = EntityFacts(Self.device)
    facts.take(state.accessory)
    #expect(components(facts)["battery_level"] == nil && components(facts)["battery"] == "sensor")
  }
}
