// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import TestSupport

/// The part of a JSON Schema that says which keys a mapping has. JSON is YAML, so the nodes are those of our reader.
struct KeySchema {
  /// The schema. What isn't said by tables, like the forms with names, stays as it is.
  private(set) var schema: YAMLNode

  /// Makes the properties of a mapping anew. The mapping of the whole file has no name.
  mutating func renew(_ table: KeyTable, at name: String?) {
    let path = name.map { ["$defs", $0, "properties"] } ?? ["properties"]
    schema.change(path[...]) { old in
      let known = Dictionary(uniqueKeysWithValues: old.entries.map { ($0.key, $0.value) })
      old = .object(
        table.keys.filter { !$0.isSeldom }.map { key in
          (key.name, Self.property(key, known[key.name]))
        })
    }
  }

  private static func property(_ key: KeyTable.Key, _ old: YAMLNode?) -> YAMLNode {
    var pairs: [(String, YAMLNode)] = [("description", .text(SchemaText.plain(key.meaning)))]
    switch key.form {
    case .flag: pairs.append(("type", .text("boolean")))
    case .whole(let range): pairs += [("type", .text("integer"))] + bounds(range)
    case .integer(let range): pairs += [SchemaText.reference("integer")] + bounds(range)
    case .words(let words): pairs.append(("enum", .list(words.map(YAMLNode.text))))
    case .text(let limit, _): pairs += [("type", .text("string")), ("maxLength", .number(limit))]
    case .time: pairs.append(SchemaText.reference("time"))
    case .bytes: pairs.append(SchemaText.reference("bytes"))
    case .shared(let name, _): pairs.append(SchemaText.reference(name))
    case .named(let name, let limit):
      pairs += [
        ("type", .text("object")), ("propertyNames", .object([SchemaText.reference("name")])),
        ("minProperties", .number(1)),
        ("maxProperties", .number(limit)), ("additionalProperties", .object([SchemaText.reference(name)])),
      ]
    case .list(let name, let limit): pairs += several(name, limit)
    case .oneOrMore(let name, let limit):
      pairs.append(("anyOf", .list([.object([SchemaText.reference(name)]), .object(several(name, limit))])))
    case .other:
      pairs += (old?.entries ?? []).filter { $0.key != "description" }.map { ($0.key, $0.value) }
    }
    if let usual = usual(key) { pairs.append(("default", usual)) }
    return .object(pairs)
  }

  /// The value that holds without the key, if it is one.
  private static func usual(_ key: KeyTable.Key) -> YAMLNode? {
    let word = key.usual.dropFirst().dropLast()
    guard key.usual == "`\(word)`", !word.contains("`") else { return nil }
    switch key.form {
    case .flag, .whole, .integer: return .word(String(word))
    case .words(let words): return words.contains(String(word)) ? .text(String(word)) : nil
    default: return nil
    }
  }

  private static func several(_ name: String, _ limit: Int) -> [(String, YAMLNode)] {
    [
      ("type", .text("array")), ("items", .object([SchemaText.reference(name)])), ("minItems", .number(1)),
      ("maxItems", .number(limit)),
    ]
  }

  private static func bounds(_ range: ClosedRange<Int>) -> [(String, YAMLNode)] {
    [("minimum", .number(range.lowerBound)), ("maximum", .number(range.upperBound))]
  }

  init(_ schema: YAMLNode) { self.schema = schema }
}
