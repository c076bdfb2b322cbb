// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import TestSupport
import Testing

/// Documentation/testing.md shows what `GadgetTests` are, to the letter.
@Suite struct PageTests {
  private func lines(of file: String) throws -> [Substring] {
    let root = ProjectFolder.path
    let text = String(decoding: try SmallFile.read("\(root)/\(file)", limit: 1 << 20), as: UTF8.self)
    return text.split(separator: "\n", omittingEmptySubsequences: false)
  }

  @Test func thePageShowsTheTestsToTheLetter() throws {
    let page = try lines(of: "Documentation/testing.md")
    let imports = try #require(page.firstIndex(of: "import AccessoryCore"))
    #expect(page[imports - 1] == "```swift")
    let shown = page[imports...].prefix { $0 != "```" }
    let written = try lines(of: "Tests/Units/AccessoryTestingTests/GadgetTests.swift").dropFirst(2).dropLast()
    #expect(shown.count > 40 && Array(shown) == Array(written))
  }
}
