// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// What is called otherwise on the page than here.
struct PagePlaces: Sendable {
  let home: String
  let runtime: String

  /// These lines with the page's names.
  func named(_ lines: [String]) -> [String] {
    lines.map { $0.replacing(home, with: "/home/me").replacing(runtime, with: "/run/user/1000") }
  }
}

/// A page that is run as it is printed, with what a test needs for that.
struct PageScript: Sendable, CustomTestStringConvertible {
  let page: Page
  /// The arguments of `simulate` for the accessories that the page takes for granted. A page's `/dev/ttyUSB0` is
  /// `./ttyUSB0` here, which `--link ./ttyUSB0` makes.
  var stage: [String] = []

  var testDescription: String { page.name }

  init(_ name: String) throws {
    page = try Page(name)
    stage = Self.stages[name] ?? []
  }

  /// The pages that show what commands print.
  static let all: [PageScript] = {
    let names = (try? Page.all(in: "Documentation", ".md").map(\.name)) ?? []
    return (names + ["README.md"]).compactMap { try? PageScript($0) }
      .filter { script in script.page.blocks.contains { $0.kind == "console" } }
  }()

  private static let stages = [
    "Documentation/af1.md": ["framed --serial A1 --link ./ttyACM0"],
    "Documentation/console.md": ["hm10 --link ./ttyUSB0"],
    "Documentation/sharing.md": ["framed --link ./ttyUSB0"],
    "Documentation/network.md": ["framed --link ./ttyUSB0"],
    "Documentation/mavlink.md": ["mavlink --serial R1 --link ./ttyUSB0"],
  ]

  // MARK: - What differs here

  /// A command of the page as it is typed here.
  func played(_ command: String) -> String {
    command.replacing(#//dev/(tty(?:USB|ACM)[0-9])/#) { "./\($0.output.1)" }
  }

  /// Whether these lines are the page's: `…` stands for any characters of a line, and alone for any lines.
  func doesMatch(_ printed: [String], _ shown: [Substring]) -> Bool {
    Self.doLinesMatch(printed.map(Self.timeless)[...], shown.map { Self.timeless(played(String($0))) }[...])
  }

  private static func doLinesMatch(_ printed: ArraySlice<String>, _ shown: ArraySlice<String>) -> Bool {
    guard let first = shown.first else { return printed.isEmpty }
    if first.allSatisfy({ $0 == "…" || $0 == " " }), !first.isEmpty {
      return (printed.startIndex...printed.endIndex).contains { doLinesMatch(printed[$0...], shown.dropFirst()) }
    }
    guard let line = printed.first, doesMatch(line[...], first.split(separator: "…", omittingEmptySubsequences: false))
    else { return false }
    return doLinesMatch(printed.dropFirst(), shown.dropFirst())
  }

  /// Whether these parts stand in the line in this order, the first at its beginning, the last at its end.
  private static func doesMatch(_ line: Substring, _ parts: [Substring]) -> Bool {
    guard let first = parts.first, let last = parts.last, line.hasPrefix(first) else { return false }
    if parts.count == 1 { return line == first }
    var rest = line.dropFirst(first.count)
    for part in parts.dropFirst().dropLast() where !part.isEmpty {
      guard let found = rest.firstRange(of: part) else { return false }
      rest = rest[found.upperBound...]
    }
    return rest.hasSuffix(last)
  }

  /// The lines of a trace whose frames have numbers and nonces drawn at random: of their bytes only that there are some.
  private static func isNumberedFrame(_ line: String) -> Bool { line.contains(#/TIME  [<>]  .*#[0-9]+/#) }

  /// Without what differs from run to run: times, numbers of terminals, numbers drawn at random.
  private static func timeless(_ line: String) -> String {
    let line = line.replacing(#/\b[0-9]+\.[0-9]{6}\b/#, with: "TIME")
      .replacing(#/\b[0-9]{2}:[0-9]{2}:[0-9]{2}\b/#, with: "TIME")
      .replacing(#/\b[0-9]{10}\.[0-9]{1,3}\b/#, with: "TIME").replacing(#//dev/pts/[0-9]+/#, with: "TERMINAL")
      .replacing(#/ +TIME/#, with: " TIME")
    guard isNumberedFrame(line) else { return line }
    return line.replacing(#/#[0-9]+/#, with: "#NUMBER").replacing(#/\b[0-9a-f]{6,}\b/#, with: "BYTES")
  }
}
