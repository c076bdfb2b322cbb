// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import Glibc
import TestSupport
import Testing

/// The manual's pages that the command makes of itself.
@Suite(.timeLimit(.minutes(Patience.minutes(10)))) struct ManualTests {
  private static let judge = "/usr/bin/mandoc"

  @Test func everyCommandHasAManualPage() async throws {
    try await Sandbox.with { box in
      // Twice: pages that are there are replaced; and with the same date, to the byte.
      var made: [String: [UInt8]] = [:]
      for round in 1...2 {
        let ended = try await box.run(["--generate-manual", "man"], environment: ["SOURCE_DATE_EPOCH": "86400"])
        #expect(ended.status == 0 && ended.outputText == "" && ended.errorText == "", "\(ended.errorText)")
        for file in box.directory.names(in: "man") {
          let page = try SmallFile.read(box.directory.path + "/man/" + file, limit: 1 << 20)
          if round == 2 { #expect(made[file] == page) }
          made[file] = page
        }
      }
      let pages = made.mapValues { String(decoding: $0, as: UTF8.self) }
      for file in [
        "bridge-cli.1", "bridge-cli-battery.1", "bridge-cli-check.1", "bridge-cli-line.1", "bridge-cli-simulate-ev3.1",
      ] {
        #expect(pages[file] != nil, "\(file)")
      }
      for (file, page) in pages {
        #expect(page.hasPrefix(".Dd January 2, 1970\n.Dt \(file.dropLast(2).uppercased()) 1\n"), "\(file)")
        let titles = page.split(separator: "\n").filter { $0.hasPrefix(".Sh ") }
        #expect(Set(titles).count == titles.count, "a section twice in \(file)")
        #expect(titles.contains(".Sh EXIT STATUS") && titles.contains(".Sh EXAMPLES"), "\(file)")
      }
      // The options of lines have a page of their own.
      let line = try #require(pages["bridge-cli-line.1"])
      #expect(line.contains("\n.It Fl p , Fl \\-parity Ar parity\n"))
      #expect(line.contains("\nValues: none, odd, even, mark, space.\n"))
      let battery = try #require(pages["bridge-cli-battery.1"])
      #expect(battery.contains("\n.It Fl \\-driver Ar name\n") && !battery.contains("parity"))
      // Every page is named where somebody looks for it.
      for file in pages.keys where file != "bridge-cli.1" {
        let name = String(file.dropLast(2))
        #expect(pages.values.contains { $0.contains(".It Xr \(name) 1\n") }, "\(file)")
      }
    }
  }

  @Test(.enabled(if: access(judge, X_OK) == 0, "mandoc is installed with the tests' packages"))
  func mandocFindsNoFaultInTheManual() async throws {
    try await Sandbox.with { box in
      #expect(try await box.run("--generate-manual", "man").status == 0)
      let pages = box.directory.names(in: "man").map { "man/" + $0 }
      let judged = try await Program(
        [Self.judge, "-T", "lint", "-W", "warning"] + pages, environment: ["PATH": "/usr/bin:/bin"],
        directory: box.directory.path
      ).end()
      #expect(judged.status == 0 && judged.outputText == "", "\(judged.outputText)")
    }
  }

  @Test func anImpossibleManualsFolderIsAnError() async throws {
    try await Sandbox.with { box in
      let ended = try await box.run("--generate-manual", "no/such/folder")
      #expect(ended.status != 0 && ended.errorText.contains("making no/such/folder"), "\(ended.errorText)")
    }
  }
}
