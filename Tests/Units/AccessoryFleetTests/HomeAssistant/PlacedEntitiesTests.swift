// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryEntities
import Testing

@testable import AccessoryFleet

/// Where Home Assistant shows entities, and how.
struct PlacedEntitiesTests {
  private static func entities(_ battery: BatteryReading? = nil, _ values: [AccessoryValue] = []) -> [String: [String:
    JSON]]
  {
    var facts = EntityFacts(Device(id: "a", path: "/dev/a", source: .udev))
    var state = FleetState(facts.device, connected: true, at: 1)
    state.battery = battery
    facts.take(state.accessory)
    facts.take(values)
    return Dictionary(uniqueKeysWithValues: components(facts).map { ($0.key, $0.fields) })
  }

  private static func components(_ facts: EntityFacts) -> [Component] {
    Entity.all(facts).map {
      Component($0, topics: FleetTopics(TopicLevel(naming: "g")), of: TopicLevel(naming: "a"))
    }
  }

  private static func value(_ name: String, _ importance: Importance, _ unit: MeasurementUnit = .volt) -> AccessoryValue
  {
    AccessoryValue(
      name, quantity: Vocabulary.quantity(impliedBy: unit), unit: unit, number: 1, importance: importance)
  }

  @Test func aBatteryIsAmongTheSensorsInUnitsOfPeople() {
    var reading = BatteryReading(percent: 57, millivolts: 52_800, milliamperes: -2_000, charge: .discharging)
    (reading.remainingMilliampereHours, reading.cycles, reading.cellMillivolts) = (40_000, 3, [3_300, 3_345])
    let all = Self.entities(reading)
    for (key, unit, places) in [
      ("battery", "%", 0), ("voltage", "V", 2), ("current", "A", 2), ("power", "W", 1), ("remaining", "Ah", 1),
      ("cell_spread", "mV", 0),
    ] {
      #expect(all[key]?["unit_of_measurement"] == .string(unit), "\(key)")
      #expect(all[key]?["suggested_display_precision"] == .int(places), "\(key)")
      #expect(
        all[key] != nil && all[key]?["entity_category"] == nil && all[key]?["enabled_by_default"] == nil, "\(key)")
    }
    #expect(all["cycles"]?["entity_category"] == .string("diagnostic"))
    #expect(all["cell_2"]?["enabled_by_default"] == .bool(false) && all["cell_3"] == nil)
    #expect(all["cell_2"]?["unit_of_measurement"] == .string("V"))
    #expect(all["cell_min"]?["unit_of_measurement"] == .string("V"))
  }

  @Test func aChargeHasTheDecimalOfTheAccessory() {
    var reading = BatteryReading(percent: 57)
    reading.percentTenths = 573
    #expect(Self.entities(reading)["battery"]?["suggested_display_precision"] == .int(1))
  }

  @Test func constantsAreDisabledAndHaveNoStatistics() {
    let all = Self.entities(
      nil,
      [
        Self.value("head", .headline), Self.value("main", .shown), Self.value("more", .detail),
        Self.value("goal", .setting), Self.value("most", .rated), Self.value("who", .identity),
      ])
    for key in ["value_head", "value_main"] {
      #expect(all[key]?["entity_category"] == nil && all[key]?["enabled_by_default"] == nil)
      #expect(all[key]?["state_class"] == .string("measurement"))
    }
    #expect(all["value_more"]?["entity_category"] == .string("diagnostic"))
    #expect(all["value_more"]?["enabled_by_default"] == nil)
    for key in ["value_goal", "value_most", "value_who"] {
      #expect(all[key]?["entity_category"] == .string("diagnostic"))
      #expect(all[key]?["enabled_by_default"] == .bool(false) && all[key]?["state_class"] == nil)
      #expect(all[key]?["device_class"] == .string("voltage"))
    }
  }

  @Test func manyDetailsAreDisabled() {
    let all = Self.entities(nil, (1...9).map { Self.value("v\($0)", .detail) })
    let values = all.filter { $0.key.hasPrefix("value_") }
    #expect(values.count == 9 && values.values.allSatisfy { $0["enabled_by_default"] == .bool(false) })
  }

  /// The energy dashboard takes counters. A detail may be the content of a battery.
  @Test func energyIsACounter() {
    let all = Self.entities(
      nil, [Self.value("generated", .headline, .kilowattHour), Self.value("energy", .detail, .wattHour)])
    #expect(all["value_generated"]?["state_class"] == .string("total_increasing"))
    #expect(all["value_generated"]?["device_class"] == .string("energy"))
    #expect(all["value_generated"]?["suggested_display_precision"] == .int(2))
    #expect(all["value_energy"]?["state_class"] == .string("total"))
  }

  @Test func milliampereHoursAreAmpereHours() {
    let all = Self.entities(nil, [Self.value("used", .shown, .milliampereHour)])
    #expect(all["value_used"]?["unit_of_measurement"] == .string("Ah"))
    guard case .string(let template)? = all["value_used"]?["value_template"] else { return #expect(Bool(false)) }
    #expect(template.contains("/ 1000"))
  }

  /// A command that sets a value is configuration; one that does something isn't.
  @Test func settingsAreConfiguration() {
    var facts = EntityFacts(Device(id: "a", path: "/dev/a", source: .udev))
    let level = CommandDescription.Argument("level", .whole(0...100))
    let volume = CommandDescription("volume", "Sets it", [level], settings: [.init("volume", .argument("level"))])
    facts.commands = [volume, CommandDescription("beep", "Beeps", [level])]
    let all = Self.components(facts).filter { $0.key.hasPrefix("command_") }
    #expect(all.map { $0.fields["entity_category"] } == [.string("config"), nil])
  }

  /// A gateway without accessories is a device with its version, its numbers and its last contact.
  @Test func aGatewayTellsOfItself() throws {
    let info = GatewayInfo(
      TopicLevel(naming: "attic"), host: "attic", version: "0.1.0", accessories: 3, attached: 2, at: 3)
    #expect(try GatewayInfo(info.bytes) == info)
    let message = DiscoveryMessage(gateway: info)
    #expect(Set(message.components.keys) == ["connected", "version", "last_contact", "accessories", "attached"])
    // That of an older version has no numbers.
    let old = try GatewayInfo(Array(#"{"gateway":"attic","time":1790000000,"version":"0.1"}"#.utf8))
    #expect(old.accessories == nil && old.attached == nil)
  }
}
