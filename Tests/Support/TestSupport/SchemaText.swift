// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration

// JSON Schemas as trees. JSON is YAML, so the nodes are those of our reader.

extension YAMLNode {
  private static let nowhere = YAMLMark(line: 1, column: 1)

  package static func object(_ pairs: [(String, YAMLNode)]) -> YAMLNode {
    YAMLNode(content: .mapping(pairs.map { .init(key: $0.0, mark: nowhere, value: $0.1) }), mark: nowhere)
  }
  package static func list(_ nodes: [YAMLNode]) -> YAMLNode { YAMLNode(content: .sequence(nodes), mark: nowhere) }
  package static func text(_ text: String) -> YAMLNode {
    YAMLNode(content: .scalar(text), mark: nowhere, style: .doubleQuoted)
  }
  /// A word without quotes: null, true.
  package static func word(_ word: String) -> YAMLNode { YAMLNode(content: .scalar(word), mark: nowhere) }
  package static func number(_ number: Int) -> YAMLNode { word("\(number)") }

  /// The fields of an object; empty for others.
  package var entries: [Entry] { if case .mapping(let entries) = content { entries } else { [] } }

  /// The text of a scalar.
  package var scalar: String? { if case .scalar(let text) = content { text } else { nil } }

  /// The value of a field.
  package subscript(key: String) -> YAMLNode? {
    get { entries.first { $0.key == key }?.value }
    set {
      guard case .mapping(var entries) = content, let newValue else { return }
      if let place = entries.firstIndex(where: { $0.key == key }) {
        entries[place].value = newValue
      } else {
        entries.append(Entry(key: key, mark: Self.nowhere, value: newValue))
      }
      content = .mapping(entries)
    }
  }

  /// Changes the value at a path, if there is one.
  package mutating func change(_ path: ArraySlice<String>, _ body: (inout YAMLNode) -> Void) {
    guard let key = path.first else { return body(&self) }
    guard var value = self[key] else { return }
    value.change(path.dropFirst(), body)
    self[key] = value
  }
}

/// The texts of schemas and of what describes them.
package enum SchemaText {
  package static func reference(_ name: String) -> (String, YAMLNode) { ("$ref", .text("#/$defs/\(name)")) }

  /// Markdown without code and links.
  package static func plain(_ markdown: some StringProtocol) -> String {
    var text = ""
    var rest = markdown[...]
    while let letter = rest.popFirst() {
      if letter == "]", rest.first == "(", let end = rest.firstIndex(of: ")") {
        rest = rest[rest.index(after: end)...]
      } else if letter != "`", letter != "[" || !rest.contains("](") {
        text.append(letter)
      }
    }
    return text
  }

  /// The schema as text: what fits in a line is in one.
  package static func text(_ schema: YAMLNode) -> String { text(schema, indentation: 0) + "\n" }

  /// A part of it, behind so many blanks, and `room` letters in front of it.
  package static func text(_ node: YAMLNode, indentation: Int, room: Int = 0) -> String {
    let line = line(node)
    if indentation > 0, indentation + room + line.count <= 120 { return line }
    let inner = String(repeating: " ", count: indentation + 2)
    let parts: [String]
    let ends: (String, String)
    switch node.content {
    case .scalar: return line
    case .sequence(let nodes) where nodes.allSatisfy({ if case .scalar = $0.content { true } else { false } }):
      return "[\n" + filled(nodes.map(Self.line), inner) + "\n" + String(repeating: " ", count: indentation) + "]"
    case .sequence(let nodes):
      parts = nodes.map { inner + text($0, indentation: indentation + 2, room: 1) }
      ends = ("[", "]")
    case .mapping(let entries):
      parts = entries.map { entry in
        let key = quoted(entry.key) + ": "
        return inner + key + text(entry.value, indentation: indentation + 2, room: key.count + 1)
      }
      ends = ("{", "}")
    }
    return ends.0 + "\n" + parts.joined(separator: ",\n") + "\n" + String(repeating: " ", count: indentation) + ends.1
  }

  /// Words in lines, as many as fit.
  private static func filled(_ words: [String], _ inner: String) -> String {
    var lines = [inner + words[0]]
    for word in words.dropFirst() {
      let line = lines[lines.count - 1]
      if line.count + word.count + 3 <= 120 {
        lines[lines.count - 1] = line + ", " + word
      } else {
        lines[lines.count - 1] = line + ","
        lines.append(inner + word)
      }
    }
    return lines.joined(separator: "\n")
  }

  private static func line(_ node: YAMLNode) -> String {
    switch node.content {
    case .scalar(let text): node.style == .plain ? text : quoted(text)
    case .sequence(let nodes): "[" + nodes.map(line).joined(separator: ", ") + "]"
    case .mapping(let entries):
      "{" + entries.map { "\(quoted($0.key)): \(line($0.value))" }.joined(separator: ", ") + "}"
    }
  }

  private static func quoted(_ text: String) -> String {
    var quoted = "\""
    for letter in text {
      if letter == "\"" || letter == "\\" { quoted.append("\\") }
      quoted.append(letter)
    }
    return quoted + "\""
  }
}
