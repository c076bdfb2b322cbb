// SPDX-License-Identifier: Apache-2.0

/// Makes documents wrong, in one place at a time, and says which of these a schema still takes.
struct DocumentMutations {
  /// Something wrong in one place of a document.
  private struct Mutation {
    let path: String
    let what: String
    /// Values in that place, of which at least one must be refused.
    var wrong: [JSON]

    /// The same, seen from a value that contains the place.
    func inside(_ place: (JSON) -> JSON) -> Mutation { Mutation(path: path, what: what, wrong: wrong.map(place)) }
  }

  /// Where any number makes sense, by the end of the path.
  private static let freeNumbers = [
    ".alarm.number", ".alarms[].number", ".values[].number", ".points[].greatest", ".points[].least", ".points[].mean",
    ".samples[].value",
  ]
  /// Where any text makes sense, also an empty one.
  private static let freeTexts = [
    "console_event.text", "simulator_event.text", ".values[].text", ".sends[].text", "log.message", ".says[].text",
    ".refused[].text", ".untried[].text", "udev_rules.rules", ".results[].name", "result.id", "error.id",
    ".drivers[].description", ".kinds[].description",
  ]
  /// Where any value makes sense.
  private static let freeValues = [".values[].value", ".standard"]
  /// Objects whose fields have any names.
  private static let maps = [".fields", ".keys", ".labels", ".modem_lines", ".from_device", ".to_device"]

  /// The places of what is wrong in a document and nevertheless taken; empty where each is refused. With `hasAllFields` a
  /// document that lacks a field is wrong, too.
  static func taken(of document: JSON, by schema: DocumentSchema, hasAllFields: Bool = true) throws -> [String] {
    let kind = document["document"]?.text ?? ""
    guard try schema.accepts(document) else { return ["\(kind): the document itself isn't taken"] }
    return try mutations(of: document, kind, hasAllFields).filter { mutation in
      try mutation.wrong.allSatisfy { try schema.accepts($0) }
    }.map { "\($0.path): \($0.what)" }
  }

  /// The names of a document's fields, and which of them are null.
  static func form(_ value: JSON) -> String {
    switch value {
    case .null: "null"
    case .string, .number, .bool: "x"
    case .array(let elements): "[\(elements.first.map(form) ?? "")]"
    case .object(let fields):
      "{" + fields.sorted { $0.key < $1.key }.map { key, value in "\(key):\(form(value))" }.joined(separator: ",") + "}"
    }
  }

  private static func mutations(of value: JSON, _ path: String, _ hasAllFields: Bool) -> [Mutation] {
    if freeValues.contains(where: path.hasSuffix) { return [] }
    var found = others(than: value).map { Mutation(path: path, what: $0.what, wrong: [$0.other]) }
    switch value {
    case .null: return []
    case .bool: break
    case .number:
      if freeNumbers.contains(where: path.hasSuffix) { break }
      found += [-1e17, 1e17].map { Mutation(path: path, what: "\($0)", wrong: [.number($0)]) }
    case .string:
      if freeTexts.contains(where: path.hasSuffix) { break }
      // A person's text may be any but an empty one, and a word or digits may be none but those that are known.
      found.append(Mutation(path: path, what: "any text", wrong: ["nonsense \u{2717}", ""]))
    case .array(let elements):
      guard let first = elements.first else { break }
      let rest = elements.dropFirst()
      found += mutations(of: first, path + "[]", hasAllFields).map { mutation in
        mutation.inside { .array([$0] + rest) }
      }
    case .object(let fields):
      let isMap = maps.contains(where: path.hasSuffix)
      for (key, field) in fields {
        if hasAllFields, !isMap {
          let rest = fields.filter { $0.key != key }
          found.append(Mutation(path: "\(path).\(key)", what: "it is missing", wrong: [.object(rest)]))
        }
        // A value under any name is what the schema says of all values in this object.
        if isMap, path.hasSuffix(".fields") || path.hasSuffix(".keys") || path.hasSuffix(".labels") { continue }
        found += mutations(of: field, "\(path).\(key)", hasAllFields).map { mutation in
          mutation.inside { .object(fields.merging([key: $0]) { $1 }) }
        }
      }
    }
    return found
  }

  /// A value of each other type.
  private static func others(than value: JSON) -> [(what: String, other: JSON)] {
    ([
      ("a truth", true), ("a number", 12), ("a text", "nonsense"), ("an array", [[[true]]]),
      ("an object", ["nonsense": ["nonsense": true]]),
    ] as [(String, JSON)]).filter { other in
      switch (value, other.1) {
      case (.bool, .bool), (.number, .number), (.string, .string): false
      // An array of others, and an object of others, are wrong, too.
      default: true
      }
    }
  }
}
