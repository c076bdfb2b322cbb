// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import TestSupport

/// A JSON Schema of ours, and what in a document is not as it says. Stricter than the schema itself where it is asked to: the
/// schema lets later versions add fields, but a document of this version has no field that isn't described.
struct DocumentSchema {
  /// The schemas by their files. One refers to another one's definitions.
  private let roots: [String: JSON]
  private let file: String
  /// The names of the documents by the constant that each has, and the patterns: thousands of documents are compared.
  private let kinds: [JSON: [String]]
  private let patterns: [String: Regex<AnyRegexOutput>]

  /// What `--json` prints.
  static let output = "output-2.schema.json"
  /// What is published to a broker.
  static let mqtt = "mqtt-1.schema.json"

  init(_ file: String = output) throws {
    self.file = file
    var roots: [String: JSON] = [:]
    for name in Set([file, Self.output]) {
      let path = OldVersion.root + "/Documentation/schema/" + name
      roots[name] = try JSON(String(decoding: SmallFile.read(path, limit: 1 << 20), as: UTF8.self))
    }
    self.roots = roots
    var kinds: [JSON: [String]] = [:]
    for reference in (roots[file]?["oneOf"]?.elements ?? []).compactMap({ $0["$ref"]?.text }) {
      let kind = String(reference.dropFirst("#/$defs/".count))
      guard let constant = roots[file]?["$defs"]?[kind]?["properties"]?["document"]?["const"] else {
        throw Hang("\(kind) to have a constant")
      }
      kinds[constant, default: []].append(kind)
    }
    self.kinds = kinds
    var patterns: [String: Regex<AnyRegexOutput>] = [:]
    for (name, root) in roots {
      try Self.check(root["$defs"]?.fields ?? [:], isComplete: name == Self.output, &patterns)
    }
    self.patterns = patterns
  }

  /// Throws where a schema has a word that isn't looked at, which would let everything pass, or a field that may be missing: only a
  /// broker's messages leave out what isn't known of a device. Collects the patterns.
  private static func check(
    _ schemas: [String: JSON], isComplete: Bool, _ patterns: inout [String: Regex<AnyRegexOutput>]
  ) throws {
    for (name, schema) in schemas {
      guard let words = schema.fields else { throw Hang("a schema of \(name)") }
      if let word = words.keys.first(where: { !known.contains($0) }) { throw Hang("\(word) to be known in \(name)") }
      let properties = words["properties"]?.fields
      if let properties, isComplete, Set(properties.keys) != Set((words["required"]?.elements ?? []).compactMap(\.text))
      {
        throw Hang("\(name) to have all its fields required")
      }
      if let pattern = words["pattern"]?.text, patterns[pattern] == nil { patterns[pattern] = try Regex(pattern) }
      var inner = properties ?? [:]
      for (place, choice) in (words["anyOf"]?.elements ?? []).enumerated() { inner["\(name) \(place)"] = choice }
      for word in ["items", "additionalProperties"] {
        if let schema = words[word] { inner["\(name) \(word)"] = schema }
      }
      try check(inner, isComplete: isComplete, &patterns)
    }
  }

  private var root: JSON? { roots[file] }

  /// The names of all documents.
  var documents: [String] {
    (root?["oneOf"]?.elements ?? []).compactMap { $0["$ref"]?.text.map { String($0.dropFirst("#/$defs/".count)) } }
  }

  /// Whether the schema, as other programs read it, takes a document: it fits exactly one of all.
  func accepts(_ document: JSON) throws -> Bool { try kinds(of: document, isStrict: false).count == 1 }

  /// The names of the documents that this fits.
  func kinds(of document: JSON, isStrict: Bool = true) throws -> [String] {
    try (document["document"].flatMap { kinds[$0] } ?? []).filter { kind in
      let place = Place(path: kind, file: file, isStrict: isStrict, endsAtFirst: true)
      return try problems(document, ["$ref": .string("#/$defs/\(kind)")], place).isEmpty
    }
  }

  /// What is wrong with a document of one of these kinds; empty where it fits one.
  func problems(in document: JSON, asOneOf kinds: [String]) throws -> [String] {
    let all = try kinds.map { try problems(in: document, as: $0) }
    return all.min { $0.count < $1.count } ?? ["no kind is expected"]
  }

  func problems(in document: JSON, as kind: String, isStrict: Bool = true) throws -> [String] {
    try problems(document, ["$ref": .string("#/$defs/\(kind)")], Place(path: kind, file: file, isStrict: isStrict))
  }

  /// The definition that a reference of the schema in `file` names, and the file that it is in.
  func definition(_ reference: String, _ file: String) throws -> (schema: JSON, file: String) {
    let parts = reference.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
    let file = parts[0].isEmpty ? file : String(parts[0])
    guard parts.count == 2, parts[1].hasPrefix("/$defs/"),
      let definition = roots[file]?["$defs"]?[String(parts[1].dropFirst("/$defs/".count))]
    else { throw Hang("the schema to have \(reference)") }
    return (definition, file)
  }

  /// A document of this kind with all its fields, none of them null, and one element in each array.
  func sample(_ kind: String) throws -> JSON { try sample(["$ref": .string("#/$defs/\(kind)")], file, depth: 0) }

  private func sample(_ schema: JSON, _ file: String, depth: Int) throws -> JSON {
    guard depth < 40, let words = schema.fields else { throw Hang("a schema that ends") }
    if let reference = words["$ref"]?.text {
      let (definition, file) = try definition(reference, file)
      return try sample(definition, file, depth: depth + 1)
    }
    if let constant = words["const"] { return constant }
    if let first = words["enum"]?.elements.first { return first }
    if let first = words["anyOf"]?.elements.first { return try sample(first, file, depth: depth + 1) }
    switch words["type"]?.names.first {
    case "boolean": return true
    case "number", "integer": return .number(words["minimum"]?.double ?? 7)
    case "array": return .array([try sample(words["items"] ?? nil, file, depth: depth + 1)])
    case "object":
      var fields = words["properties"]?.fields ?? [:]
      if let others = words["additionalProperties"] { fields["a"] = others }
      return .object(try fields.mapValues { try sample($0, file, depth: depth + 1) })
    case "string":
      let texts = [
        "text", "00ff", "2026-11-27", String(repeating: "0", count: 8), String(repeating: "0", count: 32),
      ]
      guard let pattern = words["pattern"]?.text else { return .string(texts[0]) }
      let form = try Regex(pattern)
      guard let text = texts.first(where: { $0.firstMatch(of: form) != nil }) else {
        throw Hang("a text for \(pattern)")
      }
      return .string(text)
    default: throw Hang("a type in \(words)")
    }
  }

  /// Where in a document a value is, and how it is looked at.
  private struct Place {
    var path: String
    var file: String
    var isStrict: Bool
    /// Whether one problem is enough, wherever it is.
    var endsAtFirst = false

    func at(_ more: @autoclosure () -> String) -> Place {
      endsAtFirst ? self : Place(path: path + more(), file: file, isStrict: isStrict)
    }
  }

  private static let known: Set = [
    "description", "type", "properties", "required", "additionalProperties", "items", "enum", "const", "anyOf", "$ref",
    "pattern", "minimum", "maximum", "minLength",
  ]

  private func problems(_ value: JSON, _ schema: JSON, _ place: Place) throws -> [String] {
    let path = place.path
    guard let words = schema.fields else { throw Hang("a schema at \(path)") }
    if let reference = words["$ref"]?.text {
      let (definition, file) = try definition(reference, place.file)
      var place = place
      place.file = file
      return try problems(value, definition, place)
    }
    if case .array(let choices)? = words["anyOf"] {
      var best: [String]?
      for choice in choices {
        let found = try problems(value, choice, place)
        if found.isEmpty { return [] }
        if found.count < best?.count ?? .max { best = found }
      }
      return best ?? []
    }
    var found: [String] = []
    if let type = words["type"], !type.names.contains(where: { value.isOf($0) }) {
      return ["\(path) is no \(type.names.joined(separator: " or "))"]
    }
    if let constant = words["const"], value != constant { found.append("\(path) is another constant") }
    if case .array(let choices)? = words["enum"], !choices.contains(value) { found.append("\(path) is another word") }
    if let pattern = words["pattern"]?.text, let text = value.text, try patterns[pattern]?.firstMatch(in: text) == nil {
      found.append("\(path) is not of the form \(pattern)")
    }
    if let least = words["minimum"]?.double, let number = value.double, number < least {
      found.append("\(path) is less than \(least)")
    }
    if let most = words["maximum"]?.double, let number = value.double, number > most {
      found.append("\(path) is more than \(most)")
    }
    if let least = words["minLength"]?.double, let text = value.text, text.unicodeScalars.count < Int(least) {
      found.append("\(path) is too short")
    }
    if case .array(let elements) = value, let items = words["items"] {
      found += try elements.enumerated().flatMap { try problems($1, items, place.at("[\($0)]")) }
    }
    if let fields = value.fields { found += try problems(fields, words, place) }
    return found
  }

  private func problems(_ fields: [String: JSON], _ words: [String: JSON], _ place: Place) throws -> [String] {
    let properties = words["properties"]?.fields ?? [:]
    var found: [String] = []
    for name in words["required"]?.elements ?? [] {
      if let name = name.text, fields[name] == nil { found.append("\(place.path).\(name) is missing") }
    }
    for (key, value) in fields where found.isEmpty || !place.endsAtFirst {
      if let schema = properties[key] ?? words["additionalProperties"] {
        found += try problems(value, schema, place.at(".\(key)"))
      } else if place.isStrict {
        found.append("\(place.path).\(key) is not described")
      }
    }
    return found
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
