// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// Writes a value as YAML, with a line for each key and each element. Reading it gives the same value, except for the positions.
package enum YAMLText {
  /// The lines with their line ends, each indented by this many blanks.
  package static func text(_ node: YAMLNode, indentation: Int) -> String {
    lines(node).map { String(repeating: " ", count: indentation) + $0 + "\n" }.joined()
  }

  private static func lines(_ node: YAMLNode) -> [String] {
    switch node.content {
    case .scalar(let text): [node.style == .plain ? text : Quoted.whole(text)]
    case .sequence(let elements): elements.isEmpty ? ["[]"] : elements.flatMap(element)
    case .mapping(let entries): entries.isEmpty ? ["{}"] : entries.flatMap(entry)
    }
  }

  private static func element(_ node: YAMLNode) -> [String] {
    lines(node).enumerated().map { ($0 == 0 ? "- " : "  ") + $1 }
  }

  private static func entry(_ entry: YAMLNode.Entry) -> [String] {
    let key = isPlain(entry.key) ? entry.key : Quoted.whole(entry.key)
    let lines = lines(entry.value)
    switch entry.value.content {
    case .scalar: return ["\(key): \(lines[0])"]
    case .sequence(let elements) where elements.isEmpty: return ["\(key): []"]
    case .mapping(let entries) where entries.isEmpty: return ["\(key): {}"]
    default: return ["\(key):"] + lines.map { "  " + $0 }
    }
  }

  /// Whether a key can be written without quotes.
  private static func isPlain(_ key: String) -> Bool {
    !key.isEmpty && key.utf8.allSatisfy { $0.isLetterOrDigit(or: "_.") }
  }
}
