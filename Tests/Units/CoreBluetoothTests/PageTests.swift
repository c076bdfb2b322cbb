// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// What the pages show for programs with `CoreBluetooth` is compiled with the tests, to the letter.
@Suite struct PageTests {
  @Test func everySnippetIsCompiled() throws {
    let sources = try Page.all(in: "Tests/Units/CoreBluetoothTests", "PageSnippets.swift")
    var count = 0
    for page in try Page.all(in: "Sources/CoreBluetooth/CoreBluetooth.docc", ".md") {
      for snippet in page.snippets {
        count += 1
        let body = snippet.drop { $0.hasPrefix("import") || $0.isEmpty }
        #expect(sources.contains { $0.contains(Array(body)) }, "\(page.name): \(snippet.first ?? "")")
      }
    }
    #expect(count >= 3)
  }
}
