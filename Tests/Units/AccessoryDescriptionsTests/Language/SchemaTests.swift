// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryCore
import TestSupport
import Testing

@testable import AccessoryDescriptions
@testable import AccessoryDrivers

/// The tables of keys are also what the JSON Schema for editors says of each mapping, and the tables of the pages.
/// `make wire` writes both anew.
@Suite struct SchemaTests {
  private let schema: YAMLNode
  private static let path = "Documentation/schema/protocol-1.schema.json"

  init() throws { schema = try YAMLReader.read(Array(MadeFile.text(Self.path).utf8)) }

  @Test func theSchemaIsMadeFromTheTables() throws {
    var made = KeySchema(schema)
    for table in DescriptionKeys.all { made.renew(table, at: table.name == "description" ? nil : table.name) }
    made.renew(TerminalKeys.tty, at: "line")
    #expect(try MadeFile.problem(Self.path, SchemaText.text(made.schema)) == nil)
  }

  @Test func thePagesAreMadeFromTheTables() throws {
    for (page, tables) in [("describing.md", DescriptionKeys.all), ("profiles.md", ProfileKeys.all)] {
      let name = "Documentation/" + page
      #expect(try MadeFile.problem(name, KeyPage.renewed(MadeFile.text(name), tables)) == nil)
    }
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

  /// What the schema says itself fits: each mapping is there, has no other keys, and lacks none that the reader needs.
  @Test func everyMappingIsInTheSchema() throws {
    for table in DescriptionKeys.all {
      let mapping = try #require(table.name == "description" ? schema : value("$defs", table.name), "\(table.name)")
      #expect(value("additionalProperties", in: mapping)?.content == .scalar("false"), "\(table.name)")
      var required: [YAMLNode] = []
      if case .sequence(let nodes) = value("required", in: mapping)?.content { required = nodes }
      for key in table.keys where key.missing != nil && !key.isSeldom {
        #expect(required.contains { $0.content == .scalar(key.name) }, "\(table.name): \(key.name)")
      }
      for key in table.keys where !key.isSeldom {
        #expect(
          (keys(value("properties", key.name, in: mapping))?.count ?? 0) > 1, "\(table.name): \(key.name) has no form")
      }
    }
  }

  @Test func theSchemaHasTheRestOfTheHead() {
    #expect(value("properties", "version", "const")?.content == .scalar("\(DescriptionReader.version)"))
    #expect(keys(value("$defs", "element_with_value", "properties")) == DescriptionReader.reserved.sorted())
    #expect(keys(value("$defs", "line", "properties")) == TerminalKeys.tty.names.sorted())
  }

  @Test func everyRoleIsThere() {
    guard case .sequence(let roles) = value("$defs", "role", "enum")?.content else {
      Issue.record("the schema has no roles")
      return
    }
    #expect(roles.map(\.content) == Vocabulary.roles.map { .scalar($0.role.rawValue) })
  }

  @Test func theSchemaHasEveryChecksum() {
    guard case .sequence(let names) = value("$defs", "check", "properties", "algorithm", "enum")?.content else {
      return #expect(Bool(false), "they are a list")
    }
    #expect(Set(names.map(\.content)) == Set(DescriptionReader.algorithms.map { .scalar($0.name) }))
  }
}
