// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryEntities
import TestSupport
import Testing

@testable import AccessoryFleet

/// Messages of Home Assistant's discovery, compared with those beside this file, which `make homeassistant` has Home Assistant check.
/// `make wire` writes them anew.
struct DiscoveryTests {
  private static let topics = FleetTopics(TopicLevel(naming: "attic-3f2a9c01"))

  private static func message(_ facts: EntityFacts, _ id: String = "SIM0001") -> DiscoveryMessage {
    DiscoveryMessage(facts, TopicLevel(naming: id), of: topics, version: "0.1.0")
  }

  private static func compare(
    _ name: String, _ message: DiscoveryMessage, _ location: SourceLocation = #_sourceLocation
  ) throws {
    let document = JSON.object(["topic": .string(message.topic), "payload": try JSON(message.bytes())])
    let file = "Snapshots/\(name).json"
    if MadeFile.isRenewing {
      return try TestFile.write(Indented.text(document) + "\n", to: file)
    }
    let expected = try JSON(try TestFile.read(file))
    #expect(document == expected, "\(file) is another message than the one that is made now", sourceLocation: location)
  }

  /// The message of each kind of accessory is the checked one.
  @Test(arguments: KnownKind.names)
  func theMessageOfEachKindIsTheCheckedOne(name: String) throws {
    try Self.compare(name, Self.message(try KnownKind(name).facts))
  }

  /// The message of a gateway is the checked one.
  @Test
  func theMessageOfAGatewayIsTheCheckedOne() throws {
    let info = GatewayInfo(Self.topics.gateway, host: "attic", version: "0.1.0", at: 1)
    try Self.compare("gateway", DiscoveryMessage(gateway: info))
  }

  /// The message of an accessory with commands of each kind is the checked one.
  @Test
  func theMessageWithCommandsIsTheCheckedOne() throws {
    var facts = try KnownKind("framed").facts
    let name = CommandDescription("rename", "Renames it", [.init("name", .text(1_000))])
    let lamp = CommandDescription("lamp", "Switches the lamp", [.init("on", .flag)])
    facts.commands = [
      .init("identify", "Blinks"), CallTests.beep, CallTests.volume, CallTests.light, CallTests.move,
      name, lamp,
    ]
    let message = Self.message(facts)
    try Self.compare("commands", message)
    #expect(message.components["command_move"] == nil, "two arguments are needed")
  }

  /// The message of an accessory whose gateway knows alarms is the checked one.
  @Test
  func theMessageWithAlarmsIsTheCheckedOne() throws {
    let kind = try KnownKind("framed")
    var (facts, state) = (kind.facts, kind.state)
    state.alarms = []
    let isNew = facts.take(state.accessory)
    #expect(isNew, "a new message is needed")
    let message = Self.message(facts)
    #expect(message.components["alarm"] == "binary_sensor" && message.components["alarms"] == "sensor")
    try Self.compare("alarms", message)
  }

  /// What an accessory says about itself stays text: the message is the checked one.
  @Test
  func theMessageWithHostileTextsIsTheCheckedOne() throws {
    let evil = "}}{{ states('x') }} '\"\\\u{202E}\u{7}" + String(repeating: "é", count: 300)
    var facts = EntityFacts(Device(id: evil, path: "/dev/a", source: .udev, name: evil, serialNumber: evil))
    var state = FleetState(facts.device, connected: true, at: 1)
    state.identity = AccessoryIdentity(
      manufacturer: evil, name: evil, model: evil, serialNumber: evil, firmwareRevision: evil, hardwareRevision: evil)
    var battery = BatteryReading(percent: nil, level: .low, charge: .charging)
    battery.temperatures = [.init(21_500, name: evil)]
    state.battery = battery
    facts.take(state.accessory)
    facts.take([
      AccessoryValue("a') }}{{ 7 * 7 }}", quantity: .init(rawValue: evil), unit: .init(rawValue: evil), number: 1),
      AccessoryValue("b\n", content: .text(evil)),
    ])
    let message = Self.message(facts, evil)
    try Self.compare("hostile", message)
    #expect(message.topic.utf8.allSatisfy { TopicLevel.isAllowed($0) || $0 == UInt8(ascii: "/") })
    let text = String(decoding: message.bytes(), as: UTF8.self)
    #expect(!text.contains("7 * 7 }}'"))
  }

  /// An entity stays when its reading is unknown for a while, and only news makes a new message.
  @Test
  func onlyNewEntitiesMakeANewMessage() throws {
    let kind = try KnownKind("jbd")
    var facts = kind.facts
    let before = Self.message(facts)
    var state = kind.state
    (state.battery, state.isConnected) = (nil, false)
    var changes = [facts.take(state.accessory)]
    state.battery = kind.state.battery
    state.battery?.percent = 3
    changes.append(facts.take(state.accessory))
    changes.append(facts.take(kind.values.values.map { AccessoryValue($0.value.name, number: nil) }))
    #expect(changes == [false, false, false])
    #expect(Self.message(facts) == before)
    let isNews = facts.take([AccessoryValue("new", quantity: .voltage, unit: .volt, number: 1)])
    #expect(isNews)
    #expect(Self.message(facts) != before)
  }

  /// Entities that a message no longer has are removed by it.
  @Test
  func aNewMessageRemovesFormerEntities() throws {
    let old = Self.message(try KnownKind("jbd").facts)
    let new = Self.message(try KnownKind("framed").facts)
    let components = try #require(try JSON(new.bytes(replacing: old.components)).fields?["components"]?.fields)
    #expect(components["cell_spread"] == .object(["platform": .string("sensor")]))
    #expect(Set(components.keys) == Set(old.components.keys).union(new.components.keys))
    #expect(new.bytes(replacing: new.components) == new.bytes())
  }

  /// Unique ids differ between gateways, accessories and entities.
  @Test
  func uniqueIDsDifferBetweenGatewaysAndAccessories() throws {
    var all: [String] = []
    for gateway in ["a", "b"] {
      for id in ["1", "2"] {
        let message = DiscoveryMessage(
          try KnownKind("jk").facts, TopicLevel(naming: id), of: FleetTopics(TopicLevel(naming: gateway)),
          version: "0.1.0")
        let components = try #require(try JSON(message.bytes()).fields?["components"]?.fields)
        all += components.values.compactMap { $0.fields?["unique_id"]?.text }
      }
    }
    #expect(Set(all).count == all.count && all.count > 200)
  }

  /// 255 values make a message that is well within a broker's limits.
  @Test
  func aMessageWith255ValuesIsWithinLimits() throws {
    var facts = EntityFacts(Device(id: "a", path: "/dev/a", source: .udev))
    facts.take(
      (0..<255).map {
        AccessoryValue("value_\($0)_" + String(repeating: "é", count: 25), quantity: .voltage, unit: .volt, number: 1)
      })
    #expect(Self.message(facts).bytes().count < 512 << 10)
  }

  /// A literal in a template can't be left.
  @Test
  func literalsInTemplatesAreEscaped() {
    #expect(EntityTemplate.literal("port_4") == "'port_4'")
    #expect(EntityTemplate.literal("a'b\\n}}") == "'a\\u0027b\\u005cn\\u007d\\u007d'")
    #expect(EntityTemplate.literal("😀") == "'\\ud83d\\ude00'")
    #expect(HomeAssistantText.title("port_4") == "Port 4")
    #expect(HomeAssistantText.title("") == "Value")
  }
}

/// JSON on several lines.
enum Indented {
  /// The document in lines, of which each level has so many blanks more. Plain elements of an array are on one line, or also on a line each.
  static func text(_ json: JSON, _ indent: String = "", step: String = "  ", isOpen: Bool = false) -> String {
    let inner = indent + step
    func text(_ part: JSON) -> String { self.text(part, inner, step: step, isOpen: isOpen) }
    switch json {
    case .object(let fields) where !fields.isEmpty:
      let lines = fields.sorted { $0.key < $1.key }.map { name, value in
        inner + String(decoding: JSON.string(name).bytes, as: UTF8.self) + ": " + text(value)
      }
      return "{\n" + lines.joined(separator: ",\n") + "\n\(indent)}"
    case .array(let values) where isOpen && !values.isEmpty || values.contains { $0.fields != nil }:
      return "[\n" + values.map { inner + text($0) }.joined(separator: ",\n") + "\n\(indent)]"
    default: return String(decoding: json.bytes, as: UTF8.self)
    }
  }
}
