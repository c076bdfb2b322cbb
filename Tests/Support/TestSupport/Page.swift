// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import SystemPackage

/// A file of this package as lines: a page of the documentation, or a source that is compiled with the tests.
public struct Page: Sendable {
  /// Its name from the root of the package on ("Documentation/trace.md").
  public let name: String
  /// What is in it.
  public let lines: [Substring]

  private static let root = ProjectFolder.path

  /// Reads the file of this name.
  public init(_ name: String) throws {
    self.name = name
    let text = String(decoding: try SmallFile.read("\(Self.root)/\(name)", limit: 1 << 20), as: UTF8.self)
    lines = text.split(separator: "\n", omittingEmptySubsequences: false)
  }

  /// Writes a file of the package that a test has been told to renew.
  public static func write(_ text: String, to name: String) throws {
    let file = try FileDescriptor.open(
      "\(root)/\(name)", .writeOnly, options: [.create, .truncate],
      permissions: [.ownerReadWrite, .groupRead, .otherRead])
    try file.closeAfter { _ = try file.writeAll(text.utf8) }
  }

  /// The files in a folder of the package whose names end so.
  public static func all(in folder: String, _ end: String) throws -> [Page] {
    try Directory.names(in: "\(root)/\(folder)").filter { $0.hasSuffix(end) }.sorted().map {
      try Page("\(folder)/\($0)")
    }
  }

  /// The Swift that a page shows, block by block.
  public var snippets: [[Substring]] {
    var snippets: [[Substring]] = []
    var rest = lines[...]
    while let begin = rest.firstIndex(of: "```swift") {
      let snippet = rest[(begin + 1)...].prefix { $0 != "```" }
      snippets.append(Array(snippet))
      rest = rest[snippet.endIndex...]
    }
    return snippets
  }

  /// A block of a page that stands between fences.
  public struct Block: Sendable {
    /// What the fence calls it: "yaml", "console".
    public let kind: String
    /// Its lines.
    public let lines: [Substring]
  }

  /// All blocks between fences, in their order.
  public var blocks: [Block] {
    var blocks: [Block] = []
    var rest = lines[...]
    while let begin = rest.firstIndex(where: { $0.drop { $0 == " " }.hasPrefix("```") }) {
      // In a list the whole block is indented.
      let indent = rest[begin].prefix { $0 == " " }
      let content = rest[(begin + 1)...].prefix { $0 != indent + "```" }
      let kind = rest[begin].dropFirst(indent.count + 3)
      blocks.append(Block(kind: String(kind), lines: content.map { $0.dropFirst(indent.count) }))
      rest = rest[content.endIndex...].dropFirst()
    }
    return blocks
  }

  /// Whether these lines stand in it, to the letter and one behind another, however far they are indented together; what
  /// they import may stand anywhere.
  public func contains(_ snippet: [Substring]) -> Bool {
    let imports = snippet.prefix { $0.isEmpty || $0.hasPrefix("import ") || $0.hasPrefix("@testable import ") }
    let code = snippet[imports.endIndex...]
    guard let first = code.first, imports.allSatisfy(lines.contains) else { return false }
    return lines.indices.contains { begin in
      guard begin + code.count <= lines.count, lines[begin].hasSuffix(first) else { return false }
      let indent = lines[begin].dropLast(first.count)
      guard indent.allSatisfy({ $0 == " " }) else { return false }
      return zip(code, lines[begin...]).allSatisfy { shown, written in
        shown.isEmpty ? written.isEmpty : written == indent + shown
      }
    }
  }
}
