// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// Documentation/power.md as it is printed: with its profiles and its pretended accessories, a shell prints what the page
/// shows.
@Suite(.timeLimit(.minutes(5))) struct PowerPageTests {
  @Test func thePageIsTrue() async throws {
    let page = try Page("Documentation/power.md")
    let first = try #require(page.blocks.first { $0.kind == "console" })
    try await Sandbox.with { box in
      #expect(mkdir(box.directory.path + "/profiles", 0o700) == 0)
      for block in page.blocks where block.kind == "yaml" {
        let name = try #require(block.lines.first?.dropFirst(2).prefix { $0 != ":" })
        try box.directory.write(Array(block.lines.joined(separator: "\n").utf8), to: "profiles/\(name)")
      }
      let pretended = page.lines.filter { $0.hasPrefix("$ bridge-cli simulate ") }
      #expect(pretended.count == 3)
      for line in pretended {
        let words = line.split(separator: " ").dropFirst(2).dropLast().map(String.init)
        try await box.start(words, limit: Sandbox.longLife).line(containing: " is plugged in at ")
      }
      let script = try #require(first.lines.first?.dropFirst(2)).replacing("bridge-cli", with: "\"$0\"")
      let ended = try await box.run([], prefix: ["/bin/sh", "-c", String(script)])
      #expect(ended.lines == first.lines.dropFirst().map(String.init), "\(ended.errorText)")
    }
  }
}
