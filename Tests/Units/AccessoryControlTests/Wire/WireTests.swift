// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import TestSupport
import Testing

@testable import AccessoryControl

/// What is published is said once: by the types in Swift, and of a battery by its vocabulary. From these come the interface's fields, those of
/// the JSON Schema, and the tables of the pages. `make wire` writes them anew.
@Suite("The wire is as Swift says") struct WireTests {
  private static let interface = "Sources/CBridgeInterface/accessorybridge.Bridge.varlink"
  private static let schema = "Documentation/schema/output-2.schema.json"

  private static let methods: [any ControlMethod.Type] = [
    Bridge.GetService.self, Bridge.List.self, Bridge.GetInfo.self, Bridge.GetStatus.self, Bridge.GetBattery.self,
    Bridge.GetValues.self, Bridge.GetHistory.self, Bridge.Request.self, Bridge.GetCommands.self, Bridge.Perform.self,
    Bridge.ListFolder.self, Bridge.MakeFolder.self, Bridge.Remove.self, Bridge.GetFile.self, Bridge.SendFile.self,
    Bridge.SupplyFile.self, Bridge.Subscribe.self, Bridge.Trace.self, Bridge.Open.self, Bridge.Share.self,
    Bridge.GetLineStatus.self, Bridge.ChangeLine.self, Bridge.GetModemLines.self, Bridge.SetModemLines.self,
    Bridge.SetBreak.self, Bridge.Purge.self, Bridge.Attach.self, Bridge.Expect.self, Bridge.Detach.self,
    Bridge.Name.self, Bridge.Forget.self,
  ]

  private static func renewed() throws -> InterfaceRenewal {
    try InterfaceRenewal(MadeFile.text(interface), methods)
  }

  private static func outputSchema() throws -> OutputSchema {
    try OutputSchema(MadeFile.text(schema), InterfaceDescription(renewed().text))
  }

  /// Each method's parameters and answer, and each type in them, have the fields that Swift reads.
  @Test func theInterfaceHasTheFieldsOfTheTypes() throws {
    let renewed = try Self.renewed()
    #expect(renewed.problems == [])
    #expect(try MadeFile.problem(Self.interface, renewed.text) == nil)
  }

  @Test func theSchemaHasTheFieldsOfTheInterfaceAndTheLimitsOfTheVocabulary() throws {
    #expect(try MadeFile.problem(Self.schema, Self.outputSchema().text) == nil)
  }

  @Test func thePageOfDocumentsHasTheSchemasFields() throws {
    let schema = try Self.outputSchema()
    let page = MadeFile.page(try MadeFile.text("Documentation/json.md"), "schema") { name, old in
      old.prefix(2).map(String.init) + schema.rows(ofDocuments: name == "documents", old: old)
    }
    #expect(try MadeFile.problem("Documentation/json.md", page) == nil)
  }

  @Test(arguments: ["values", "describing", "metrics"]) func thePagesHaveTheQuantitiesOfBatteries(page: String) throws {
    let name = "Documentation/\(page).md"
    let made = try MadeFile.page(MadeFile.text(name), "quantities") { table, _ in
      try #require(QuantityTables.lines(table), "\(name): there is no table \(table)")
    }
    #expect(made.contains("<!-- quantities: end -->"))
    #expect(try MadeFile.problem(name, made) == nil)
  }

  // MARK: - The tools

  private struct Sample: ControlMethod {
    enum Word: String, Codable, CaseIterable { case on, off }
    struct Part: Codable { var name: String, sizes: [Int?]?, word: Word? }
    struct Reply: Codable { var part: Part, facts: [String: Bool], since: Double? }
    static let method = "accessorybridge.Bridge.Sample"
    var device: String?
    var count: UInt8
  }

  private static func interface(_ part: String, _ parameters: String, _ answer: String) -> String {
    "# A comment\ninterface accessorybridge.Bridge\n\n# Its (own) comment\ntype Part (\(part))\n\n"
      + "method Sample(\(parameters)) -> (\(answer))\n"
  }

  private static let whole = interface(
    "\n  name: string,\n  sizes: ?[]?int,\n  word: ?(on, off)\n", "device: ?string, count: int",
    "part: Part, facts: [string]bool, since: ?float")

  /// What is new in Swift is added behind what is there, in the form of its place; comments stay.
  @Test(arguments: [
    interface(
      "\n  name: string,\n  sizes: ?[]?int\n", "device: ?string, count: int",
      "part: Part, facts: [string]bool, since: ?float"),
    interface(
      "\n  name: string,\n  sizes: ?[]?int,\n  word: ?(on)\n", "device: ?string",
      "part: Part, facts: [string]bool, since: ?float"),
    interface(
      "\n  name: string,\n  sizes: ?[]?int,\n  word: ?(on, off)\n", "device: ?string, count: int", "part: Part"),
  ]) func whatIsNewIsAdded(old: String) throws {
    let renewed = try InterfaceRenewal(old, [Sample.self])
    #expect(renewed.text == Self.whole && renewed.problems == [])
  }

  @Test(arguments: [
    ("sizes: ?[]?int", "sizes: ?[]?string", "sizes of Part is string, and Swift reads int"),
    ("count: int", "count: int, more: int", "Swift doesn't read more of the parameters of Sample"),
    ("(on, off)", "(on, off, dim)", "word of Part is never dim"),
    ("type Part", "type Other (x: int)\ntype Part", "no method has a Other"),
    ("method Sample", "method Other() -> ()\nmethod Sample", "no type in Swift is Other"),
  ]) func whatDiffersIsTold(part: String, other: String, problem: String) throws {
    let renewed = try InterfaceRenewal(Self.whole.replacing(part, with: other), [Sample.self])
    #expect(renewed.problems == [problem])
  }
}
