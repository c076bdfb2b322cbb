// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration

/// The part of a JSON Schema that says which keys a mapping has. JSON is YAML, so the nodes are those of our reader.
struct KeySchema {
  /// The schema. What isn't said by tables, like the forms with names, stays as it is.
  private(set) var schema: YAMLNode

  /// Makes the properties of a mapping anew. The mapping of the whole file has no name.
  mutating func renew(_ table: KeyTable, at name: String?) {
    let path = name.map { ["$defs", $0, "properties"] } ?? ["properties"]
    schema.change(path[...]) { old in
      let known = Dictionary(uniqueKeysWithValues: old.entries.map { ($0.key, $0.value) })
      old = Self.object(
        table.keys.filter { !$0.isSeldom }.map { key in
          (key.name, Self.property(key, known[key.name]))
        })
    }
  }

  private static func property(_ key: KeyTable.Key, _ old: YAMLNode?) -> YAMLNode {
    var pairs: [(String, YAMLNode)] = [("description", text(plain(key.meaning)))]
    switch key.form {
    case .flag: pairs.append(("type", text("boolean")))
    case .whole(let range): pairs += [("type", text("integer"))] + bounds(range)
    case .integer(let range): pairs += [reference("integer")] + bounds(range)
    case .words(let words): pairs.append(("enum", list(words.map(text))))
    case .text(let limit, _): pairs += [("type", text("string")), ("maxLength", number(limit))]
    case .time: pairs.append(reference("time"))
    case .bytes: pairs.append(reference("bytes"))
    case .shared(let name, _): pairs.append(reference(name))
    case .named(let name, let limit):
      pairs += [
        ("type", text("object")), ("propertyNames", object([reference("name")])), ("minProperties", number(1)),
        ("maxProperties", number(limit)), ("additionalProperties", object([reference(name)])),
      ]
    case .list(let name, let limit): pairs += several(name, limit)
    case .oneOrMore(let name, let limit):
      pairs.append(("anyOf", list([object([reference(name)]), object(several(name, limit))])))
    case .other:
      pairs += (old?.entries ?? []).filter { $0.key != "description" }.map { ($0.key, $0.value) }
    }
    if let usual = usual(key) { pairs.append(("default", usual)) }
    return object(pairs)
  }

  /// The value that holds without the key, if it is one.
  private static func usual(_ key: KeyTable.Key) -> YAMLNode? {
    let word = key.usual.dropFirst().dropLast()
    guard key.usual == "`\(word)`", !word.contains("`") else { return nil }
    switch key.form {
    case .flag, .whole, .integer: return YAMLNode(content: .scalar(String(word)), mark: nowhere)
    case .words(let words): return words.contains(String(word)) ? text(String(word)) : nil
    default: return nil
    }
  }

  private static func several(_ name: String, _ limit: Int) -> [(String, YAMLNode)] {
    [
      ("type", text("array")), ("items", object([reference(name)])), ("minItems", number(1)),
      ("maxItems", number(limit)),
    ]
  }

  private static func bounds(_ range: ClosedRange<Int>) -> [(String, YAMLNode)] {
    [("minimum", number(range.lowerBound)), ("maximum", number(range.upperBound))]
  }

  /// Markdown without code and links.
  private static func plain(_ markdown: String) -> String {
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

  // MARK: - Nodes

  private static let nowhere = YAMLMark(line: 1, column: 1)

  private static func object(_ pairs: [(String, YAMLNode)]) -> YAMLNode {
    YAMLNode(content: .mapping(pairs.map { .init(key: $0.0, mark: nowhere, value: $0.1) }), mark: nowhere)
  }
  private static func list(_ nodes: [YAMLNode]) -> YAMLNode { YAMLNode(content: .sequence(nodes), mark: nowhere) }
  private static func text(_ text: String) -> YAMLNode {
    YAMLNode(content: .scalar(text), mark: nowhere, style: .doubleQuoted)
  }
  private static func number(_ number: Int) -> YAMLNode { YAMLNode(content: .scalar("\(number)"), mark: nowhere) }
  private static func reference(_ name: String) -> (String, YAMLNode) { ("$ref", text("#/$defs/\(name)")) }

  // MARK: - Text

  /// The schema as text: what fits in a line is in one.
  var text: String { Self.text(schema, indentation: 0, room: 0) + "\n" }

  private static func text(_ node: YAMLNode, indentation: Int, room: Int) -> String {
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

  init(_ schema: YAMLNode) { self.schema = schema }
}

extension YAMLNode {
  fileprivate var entries: [Entry] { if case .mapping(let entries) = content { entries } else { [] } }

  /// Changes the value at a path, if there is one.
  fileprivate mutating func change(_ path: ArraySlice<String>, _ body: (inout YAMLNode) -> Void) {
    guard let key = path.first else { return body(&self) }
    guard case .mapping(var entries) = content, let place = entries.firstIndex(where: { $0.key == key }) else { return }
    entries[place].value.change(path.dropFirst(), body)
    content = .mapping(entries)
  }
}
