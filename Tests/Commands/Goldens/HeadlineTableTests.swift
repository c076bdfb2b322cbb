// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// The table of headlines in `Documentation/values.md` is made from the goldens: `ACCESSORY_BRIDGE_GOLDENS=renew` writes it.
@Suite struct HeadlineTableTests {
  private static let page = "Documentation/values.md"
  private static let (begin, end) = ("<!-- headlines: begin -->", "<!-- headlines: end -->")

  @Test func thePageHasTheHeadlineOfEveryKind() throws {
    var kinds: [String: [String]] = [:]
    for kind in GoldenKind.all {
      let lines = try Page("Tests/Data/Goldens/\(kind.name).txt").lines.map(String.init)
      let place = try #require(lines.firstIndex(of: "$ \(GoldenTests.headline)"), "\(kind.name) has no headline")
      kinds[lines[place + 1], default: []].append("`\(kind.name)`")
    }
    let rows = kinds.map { headline, kinds in
      (
        headline.isEmpty ? "nothing that it reports itself" : headline,
        kinds.sorted().joined(separator: ", ")
      )
    }
    let table =
      [Self.begin, "", "| first at a glance | kinds |", "|---|---|"]
      + rows.sorted { $0.0 < $1.0 }.map { "| \($0) | \($1) |" } + ["", Self.end]
    var lines = try Page(Self.page).lines.map(String.init)
    let first = try #require(lines.firstIndex(of: Self.begin))
    let last = try #require(lines.firstIndex(of: Self.end))
    if getenv("ACCESSORY_BRIDGE_GOLDENS").map({ String(cString: $0) }) == "renew" {
      lines.replaceSubrange(first...last, with: table)
      try Page.write(lines.joined(separator: "\n"), to: Self.page)
    } else {
      #expect(Array(lines[first...last]) == table)
    }
  }
}
