// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// What the pages show for programs with `ExternalAccessory` is compiled with the tests, to the letter.
@Suite struct PageTests {
  @Test func everySnippetIsCompiled() throws {
    let sources = try Page.all(in: "Tests/Units/ExternalAccessoryTests/Pages", ".swift")
    let articles = try Page.all(in: "Sources/ExternalAccessory/ExternalAccessory.docc", ".md")
    var count = 0
    for page in try articles + [Page("README.md")] + Page.all(in: "Documentation", ".md") {
      for snippet in page.snippets where page.name.contains(".docc/") || snippet.contains("import ExternalAccessory") {
        count += 1
        #expect(sources.contains { $0.contains(snippet) }, "\(page.name): \(snippet.first ?? "")")
      }
    }
    #expect(count >= 5)
  }
}
