// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryProtocols

// Reads text patterns with values in braces, as in "{battery.voltage}V".
extension DescriptionReader {
  private enum Piece {
    case literal(String)
    case name(String)
  }

  mutating func pattern(
    _ node: YAMLNode, _ types: YAMLNode?, _ scope: inout MessageScope
  ) -> ProtocolDescription.Body {
    let kinds = types.flatMap { entries($0, "types", limit: 64) } ?? []
    guard let pieces = pieces(node) else { return .nothing }
    var parts: [ProtocolDescription.TextPattern.Part] = []
    var used: Set<String> = []
    for piece in pieces {
      switch piece {
      case .literal(let text):
        guard let bytes = Self.characters(text) else {
          report(node.mark, "a pattern has a character that is more than one byte: write its bytes as \\xNN")
          return .nothing
        }
        parts.append(.literal(bytes))
      case .name(let name):
        if case .field = parts.last {
          report(node.mark, "two values of a pattern must have a text between them that ends the first")
        }
        guard used.insert(name).inserted else {
          report(node.mark, "the value \(Quoted.text(name)) is named twice in this pattern")
          continue
        }
        guard let field = placeholder(name, node.mark, kinds.first { $0.key == name }, &scope) else { continue }
        parts.append(.field(field))
      }
    }
    for kind in kinds where !used.contains(kind.key) {
      report(kind.mark, "the pattern has no value \(Quoted.text(kind.key))")
    }
    return .pattern(ProtocolDescription.TextPattern(parts))
  }

  /// Reads the field of a value in a pattern. Its type is `number` by default.
  private mutating func placeholder(
    _ name: String, _ mark: YAMLMark, _ kind: YAMLNode.Entry?, _ scope: inout MessageScope
  ) -> ProtocolDescription.Field? {
    let table = DescriptionKeys.typeOfPattern
    let read = kind.map { keys($0.value, table) } ?? KeyedNodes(table, [:])
    guard var known = read else { return nil }
    known["name"] = YAMLNode(content: .scalar(name), mark: mark)
    if known["type"] == nil { known["type"] = YAMLNode(content: .scalar("number"), mark: mark) }
    return field(known, kind?.value.mark ?? mark, .text, &scope)
  }

  /// Splits a pattern into literal texts and names in braces. A literal brace is written twice.
  private mutating func pieces(_ node: YAMLNode) -> [Piece]? {
    guard case .scalar(let text) = node.content, !text.isEmpty, text.utf8.count <= 512 else {
      report(
        node.mark,
        "pattern must be a text of up to 512 bytes with names in braces, like \"{battery.voltage}V\", not \(kind(node))"
      )
      return nil
    }
    if node.style == .literal, text.contains("\\") {
      report(node.mark, "pattern has a backslash, which has a meaning only in double quotes: \"\\r\"")
      return nil
    }
    var pieces: [Piece] = []
    var literal = ""
    var rest = text.unicodeScalars[...]
    while let scalar = rest.popFirst() {
      guard scalar == "{" || scalar == "}" else {
        literal.unicodeScalars.append(scalar)
        continue
      }
      if rest.first == scalar {
        rest.removeFirst()
        literal.unicodeScalars.append(scalar)
        continue
      }
      guard scalar == "{", let end = rest.firstIndex(of: "}") else {
        report(
          node.mark, "pattern has a brace without its counterpart (write {{ for a brace in the text)")
        return nil
      }
      if !literal.isEmpty { pieces.append(.literal(literal)) }
      literal = ""
      pieces.append(.name(String(rest[..<end])))
      rest = rest[rest.index(after: end)...]
    }
    if !literal.isEmpty { pieces.append(.literal(literal)) }
    return withoutBlanks(pieces)
  }

  /// Removes blanks and line ends at both ends of the pattern; those of a received text are ignored as well.
  private func withoutBlanks(_ pieces: [Piece]) -> [Piece] {
    var pieces = pieces
    let isBlank = { (scalar: Unicode.Scalar) in [" ", "\t", "\r", "\n", "\0"].contains(scalar) }
    if case .literal(let text) = pieces.first {
      pieces[0] = .literal(String(text.unicodeScalars.drop(while: isBlank)))
    }
    if case .literal(let text) = pieces.last {
      var scalars = text.unicodeScalars[...]
      while scalars.last.map(isBlank) == true { scalars.removeLast() }
      pieces[pieces.count - 1] = .literal(String(scalars))
    }
    return pieces.filter { if case .literal(let text) = $0 { !text.isEmpty } else { true } }
  }
}
