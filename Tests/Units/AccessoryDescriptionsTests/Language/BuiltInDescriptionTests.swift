// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryFamilies
import AccessoryIO
import AccessoryProtocols
import TestSupport
import Testing

@testable import AccessoryDescriptions
@testable import AccessoryDrivers

/// The descriptions that come with the package, and those of the page and among the examples.
@Suite struct BuiltInDescriptionTests {
  static let root = ProjectFolder.path

  /// What is wrong with a text.
  private func problems(_ bytes: [UInt8], _ file: String) -> [String] {
    do throws(ProfileProblems) {
      _ = try DescriptionReader.read(bytes, file: file)
      return []
    } catch {
      return error.problems.map(\.description)
    }
  }

  @Test(arguments: BuiltInDescriptions.names) func everyBuiltInDescriptionHasExamplesOfItsPolls(name: String) throws {
    let text = try #require(BuiltInDescriptions.text(name))
    #expect(problems(text, name) == [])
    let described = try DescriptionReader.read(text, file: name)
    #expect(described.name == name, "it is found by its name")
    let description = described.description
    #expect(!description.summary.isEmpty && description.requests.allSatisfy { !$0.summary.isEmpty || $0.reply == nil })
    #expect(!description.examples.isEmpty)
    // Each request that can be made without anybody asking has an example of what it sends.
    for place in Set(description.plan.polls.flatMap(\.requests) + (description.plan.identify.map { [$0] } ?? [])) {
      #expect(
        description.examples.contains { $0.request == place && $0.sent != nil }, "\(description.requests[place].name)")
    }
  }

  /// The files are what ships, all of them, and `profile check` accepts each.
  @Test func theFilesAreWhatShips() throws {
    let folder = Self.root + "/Sources/CDescriptions/Descriptions"
    let files = Directory.names(in: folder).filter { $0.hasSuffix(".yaml") }.sorted()
    #expect(files == BuiltInDescriptions.names.map { $0 + ".yaml" }.sorted())
    for file in files {
      let bytes = try SmallFile.read(folder + "/" + file, limit: 1 << 20)
      #expect(bytes == BuiltInDescriptions.text(String(file.dropLast(5))))
      let described = try DescriptionReader.read(bytes, file: file)
      #expect(described.name + ".yaml" == file)
      #expect(DescriptionCheck.problems(in: described, file: file).map(\.description) == [])
    }
  }

  @Test(arguments: BuiltInDescriptions.names) func everyBuiltInDescriptionHasARowOfThePage(name: String) throws {
    let page = String(
      decoding: try SmallFile.read(Self.root + "/Documentation/describing.md", limit: 1 << 20), as: UTF8.self)
    let rows = page.split(separator: "\n").drop { $0 != "## Protocols that come with the package" }
    #expect(rows.contains { $0.hasPrefix("| `\(name)`") || $0.hasPrefix("| `") && $0.contains(", `\(name)`") })
  }

  /// The first block of the page is a whole description, and its JBD is the one that ships.
  @Test func thePagesDescriptionIsTheOneThatShips() throws {
    let bytes = try SmallFile.read(Self.root + "/Documentation/describing.md", limit: 1 << 20)
    let page = String(decoding: bytes, as: UTF8.self)
    let blocks = page.components(between: "```yaml\n", and: "```\n")
    let text = try #require(blocks.first)
    #expect(problems(Array(text.utf8), "describing.md") == [])
    let shown = try DescriptionReader.read(Array(text.utf8), file: "describing.md").description
    let shipped = try #require(DescriptionLibrary.builtIn.described("jbd")).description
    #expect(shown.name == shipped.name && shown.framings == shipped.framings)
    // The one that ships also sends a PIN at the start, where the profile has one.
    #expect(shown.plan.polls == shipped.plan.polls && shown.derived == shipped.derived)
    #expect(shown.messages.first?.conditions == shipped.messages.first?.conditions)
  }

  /// So is the one for Modbus, and its example holds.
  @Test func thePagesModbusDescriptionIsRight() throws {
    let bytes = try SmallFile.read(Self.root + "/Documentation/describing.md", limit: 1 << 20)
    let blocks = String(decoding: bytes, as: UTF8.self).components(between: "```yaml\n", and: "```\n")
    let text = try #require(blocks.first { $0.contains("\nregisters:\n") })
    #expect(problems(Array(text.utf8), "describing.md") == [])
    let described = try DescriptionReader.read(Array(text.utf8), file: "describing.md")
    #expect(!described.description.examples.isEmpty)
    #expect(DescriptionCheck.problems(in: described, file: "describing.md").map(\.description) == [])
  }

  /// Examples/Protocols has some of different kinds, which people begin with.
  @Test(arguments: Directory.names(in: root + "/Examples/Protocols").filter { $0.hasSuffix(".yaml") }.sorted())
  func descriptionsInTheExamplesFolderAreRight(file: String) throws {
    let name = String(file.dropLast(5))
    let text = try SmallFile.read(Self.root + "/Examples/Protocols/\(file)", limit: 1 << 20)
    #expect(problems(text, file) == [])
    let described = try DescriptionReader.read(text, file: name)
    #expect(described.name == name && described.line != nil)
    #expect(described.description.examples.contains { $0.isRefused || $0.expected.values.contains("unknown") })
    #expect(DescriptionCheck.problems(in: described, file: file).map(\.description) == [])
  }

  /// Keys that stand in no table of the page stand in its text.
  @Test(arguments: DescriptionKeys.all.map(\.name)) func everyKeyIsInThePage(name: String) throws {
    let page = String(
      decoding: try SmallFile.read(Self.root + "/Documentation/describing.md", limit: 1 << 20), as: UTF8.self)
    guard !page.contains("<!-- keys: \(name) -->"), let table = DescriptionKeys.all.first(where: { $0.name == name })
    else { return }
    for key in table.keys.filter({ !$0.isSeldom }).map(\.name) {
      #expect(["`\(key)`", "`\(key):", "{\(key):", ", \(key):", "`\(key) "].contains { page.contains($0) }, "\(key)")
    }
  }
}

extension String {
  /// The texts between two others, in their order.
  func components(between start: String, and end: String) -> [String] {
    var rest = self[...]
    var found: [String] = []
    while let first = rest.firstRange(of: start) {
      rest = rest[first.upperBound...]
      guard let last = rest.firstRange(of: end) else { break }
      found.append(String(rest[..<last.lowerBound]))
      rest = rest[last.upperBound...]
    }
    return found
  }
}
