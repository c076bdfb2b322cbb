// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import TestSupport

/// The JSON Schema of what `--json` prints, and what in a document is not as it says. Stricter than the schema itself, which
/// lets later versions add fields: a document of this version has no field that isn't described.
struct DocumentSchema {
  private let root: JSON

  static let path = OldVersion.root + "/Documentation/schema/output-2.schema.json"

  init() throws {
    root = try JSON(String(decoding: SmallFile.read(Self.path, limit: 1 << 20), as: UTF8.self))
  }

  /// The names of all documents.
  var documents: [String] {
    (root["anyOf"]?.elements ?? []).compactMap { $0["$ref"]?.text.map { String($0.dropFirst("#/$defs/".count)) } }
  }

  /// The names of all documents and of their parts, with the fields of each but for `schema`, in alphabetical order.
  var definitions: [String: [String]] {
    (root["$defs"]?.fields ?? [:]).mapValues {
      ($0["properties"]?.fields ?? [:]).keys.filter { $0 != "schema" }.sorted()
    }
  }

  /// The names of the documents that this fits.
  func kinds(of document: JSON) throws -> [String] {
    try documents.filter { try problems(in: document, as: $0).isEmpty }
  }

  /// What is wrong with a document of one of these kinds; empty where it fits one.
  func problems(in document: JSON, asOneOf kinds: [String]) throws -> [String] {
    let all = try kinds.map { try problems(in: document, as: $0) }
    return all.min { $0.count < $1.count } ?? ["no kind is expected"]
  }

  func problems(in document: JSON, as kind: String) throws -> [String] {
    guard let definition = root["$defs"]?[kind] else { throw Hang("the schema to have \(kind)") }
    return try problems(document, definition, kind)
  }

  private static let known: Set = [
    "description", "type", "properties", "required", "additionalProperties", "items", "enum", "const", "anyOf", "$ref",
    "pattern", "minimum",
  ]

  private func problems(_ value: JSON, _ schema: JSON, _ path: String) throws -> [String] {
    guard let words = schema.fields else { throw Hang("a schema at \(path)") }
    // A word that isn't looked at would let everything pass.
    if let word = words.keys.first(where: { !Self.known.contains($0) }) { throw Hang("\(word) to be known at \(path)") }
    if let reference = words["$ref"]?.text {
      let name = String(reference.dropFirst("#/$defs/".count))
      guard let definition = root["$defs"]?[name] else { throw Hang("the schema to have \(reference)") }
      return try problems(value, definition, path)
    }
    if case .array(let choices)? = words["anyOf"] {
      let all = try choices.map { try problems(value, $0, path) }
      return all.min { $0.count < $1.count } ?? []
    }
    var found: [String] = []
    if let type = words["type"], !type.names.contains(where: { value.isOf($0) }) {
      return ["\(path) is no \(type.names.joined(separator: " or "))"]
    }
    if let constant = words["const"], value != constant { found.append("\(path) is another constant") }
    if case .array(let choices)? = words["enum"], !choices.contains(value) { found.append("\(path) is another word") }
    if let pattern = words["pattern"]?.text, let text = value.text, try Regex(pattern).firstMatch(in: text) == nil {
      found.append("\(path) is not of the form \(pattern)")
    }
    if let least = words["minimum"]?.double, let number = value.double, number < least {
      found.append("\(path) is less than \(least)")
    }
    if case .array(let elements) = value, let items = words["items"] {
      found += try elements.enumerated().flatMap { try problems($1, items, "\(path)[\($0)]") }
    }
    if let fields = value.fields { found += try problems(fields, words, path) }
    return found
  }

  private func problems(_ fields: [String: JSON], _ words: [String: JSON], _ path: String) throws -> [String] {
    let properties = words["properties"]?.fields ?? [:]
    let required = Set((words["required"]?.elements ?? []).compactMap(\.text))
    if words["properties"] != nil, Set(properties.keys) != required {
      throw Hang("\(path) to have all its fields required")
    }
    return try required.filter { fields[$0] == nil }.map { "\(path).\($0) is missing" }
      + fields.flatMap { key, value in
        if let schema = properties[key] ?? words["additionalProperties"] {
          return try problems(value, schema, "\(path).\(key)")
        }
        return ["\(path).\(key) is not described"]
      }
  }
}

extension JSON {
  /// The fields of an object.
  var fields: [String: JSON]? { if case .object(let fields) = self { fields } else { nil } }

  /// The elements of an array.
  var elements: [JSON] { if case .array(let elements) = self { elements } else { [] } }

  /// A text, or several.
  fileprivate var names: [String] { text.map { [$0] } ?? elements.compactMap(\.text) }

  fileprivate func isOf(_ type: String) -> Bool {
    switch (self, type) {
    case (.null, "null"), (.bool, "boolean"), (.number, "number"), (.string, "string"), (.array, "array"),
      (.object, "object"):
      true
    case (.number(let number), "integer"): number.rounded() == number
    default: false
    }
  }
}
