// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryCore
import AccessoryIO
import Testing

@testable import AccessoryDrivers

/// The JSON Schema for editors has the keys that the reader knows, and no others.
@Suite struct SchemaTests {
  private let schema: YAMLNode

  init() throws {
    // JSON is YAML, so what reads descriptions reads this, too.
    schema = try YAMLReader.read(
      SmallFile.read(BuiltInDescriptionTests.root + "/Documentation/schema/protocol-1.schema.json", limit: 1 << 20))
  }

  private func value(_ path: String..., in node: YAMLNode? = nil) -> YAMLNode? {
    path.reduce(node ?? schema) { node, key in
      guard case .mapping(let entries) = node?.content else { return nil }
      return entries.first { $0.key == key }?.value
    }
  }

  private func keys(_ node: YAMLNode?) -> [String]? {
    guard case .mapping(let entries) = node?.content else { return nil }
    return entries.map(\.key).sorted()
  }

  private static let mappings: [(definition: String, keys: [String])] = [
    ("line", KnownKeys.tty), ("framing", DescriptionKeys.framing), ("length", DescriptionKeys.length),
    ("check", DescriptionKeys.check), ("pairs", DescriptionKeys.pairs),
    ("message", DescriptionKeys.message), ("refusal", DescriptionKeys.refusal), ("pieces", DescriptionKeys.pieces),
    ("field", DescriptionKeys.field), ("column", DescriptionKeys.field + DescriptionKeys.column),
    ("steps", DescriptionKeys.steps), ("derivation", DescriptionKeys.derivation),
    ("request", DescriptionKeys.request), ("argument", DescriptionKeys.argument), ("plan", DescriptionKeys.plan),
    ("identify", DescriptionKeys.identify), ("poll", DescriptionKeys.poll), ("wake", DescriptionKeys.wake),
    ("example", DescriptionKeys.example), ("modbus", DescriptionKeys.modbus), ("registers", DescriptionKeys.registers),
    ("register", DescriptionKeys.register), ("units", DescriptionKeys.units),
    ("parameter", DescriptionKeys.parameter), ("start_step", DescriptionKeys.startStep),
    ("ignore", DescriptionKeys.ignore), ("bluetooth", DescriptionKeys.bluetooth), ("looks", DescriptionKeys.looks),
    ("advertisement", DescriptionKeys.advertisement), ("aes_ctr", DescriptionKeys.counterMode),
    ("greet", DescriptionKeys.greet),
  ]

  @Test(arguments: mappings) func theSchemaHasTheKeysOfEachMapping(definition: String, keys: [String]) throws {
    let mapping = try #require(value("$defs", definition))
    #expect(self.keys(value("properties", in: mapping)) == keys.sorted())
    #expect(value("additionalProperties", in: mapping)?.content == .scalar("false"))
  }

  @Test func theSchemaHasTheKeysOfTheHead() {
    #expect(keys(value("properties")) == DescriptionKeys.description.sorted())
    #expect(value("properties", "version", "const")?.content == .scalar("\(DescriptionReader.version)"))
    #expect(keys(value("$defs", "element_with_value", "properties")) == DescriptionReader.reserved.sorted())
  }

  @Test func everyRoleIsThere() {
    guard case .sequence(let roles) = value("$defs", "role", "enum")?.content else {
      Issue.record("the schema has no roles")
      return
    }
    #expect(roles.map(\.content) == Vocabulary.roles.map { .scalar($0.role.rawValue) })
  }

  /// Each mapping that the reader knows is in the schema: nobody adds one and forgets it there.
  @Test func everyMappingIsThere() {
    let known = Set(Self.mappings.flatMap(\.keys)).union(DescriptionKeys.description)
    for place in DescriptionKeys.places { #expect(known.isSuperset(of: place.keys), "\(place.place)") }
  }

  @Test func theSchemaHasEveryChecksum() {
    guard case .sequence(let names) = value("$defs", "check", "properties", "algorithm", "enum")?.content else {
      return #expect(Bool(false), "they are a list")
    }
    #expect(Set(names.map(\.content)) == Set(DescriptionReader.algorithms.map { .scalar($0.name) }))
  }
}
