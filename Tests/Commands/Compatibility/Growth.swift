// SPDX-License-Identifier: Apache-2.0

/// Finds what a JSON document has lost since an older version wrote it. More keys are no loss, nor is a value in the place
/// of null. Of values only words are compared that programs decide by.
enum Growth {
  /// Fields whose texts and numbers programs decide by.
  private static let words: Set<String> = [
    "schema", "event", "kind", "error", "exit_status", "refusal", "source", "direction", "outcome", "level",
    "level_origin", "charge", "parity", "flow_control", "state", "severity", "subject", "driver", "profile", "command",
    "command_byte", "unit", "form", "standard", "continues", "was_attached", "ok", "protocols", "ways",
  ]

  /// What a quick transfer is over too soon to tell.
  private static let timed = ["progress.bytes_per_second", "progress.seconds_left"]

  /// What `new` lacks of `old`. With `mayBeNull` a value in `new` may be null that was none: it still has its key. With
  /// `hasNulls` null is written, and a key that was null mustn't be left out.
  static func losses(
    _ old: Wire, _ new: Wire?, at path: String = "", mayBeNull: Bool = false, hasNulls: Bool = false
  ) -> [String] {
    let name = path.isEmpty ? "the document" : path
    guard let new else { return old == .null && !hasNulls ? [] : ["\(name) is gone"] }
    switch (old, new) {
    case (.null, _): return []
    case (_, .null) where mayBeNull || timed.contains { path.hasSuffix($0) }: return []
    case (.object(let fields), .object(let others)):
      // A battery that drains has another level at another percent: how soon it is asked is not compared.
      let isDrained = fields["percent"] != others["percent"]
      return fields.sorted { $0.key < $1.key }.flatMap { key, value in
        losses(
          value, others[key], at: path.isEmpty ? key : "\(path).\(key)", mayBeNull: mayBeNull, hasNulls: hasNulls)
          + (words.contains(key) && !mayBeNull && !(key == "level" && isDrained)
            ? changes(value, others[key], at: "\(path).\(key)") : [])
      }
    case (.array(let elements), .array(let others)):
      if others.isEmpty, !elements.isEmpty { return mayBeNull ? [] : ["\(name) is empty"] }
      return elements.enumerated().flatMap { index, element in
        let same = identity(element).flatMap { id in others.first { identity($0) == id } }
        guard let other = same ?? (others.indices.contains(index) ? others[index] : nil) else { return [String]() }
        return losses(element, other, at: "\(path)[\(index)]", mayBeNull: mayBeNull, hasNulls: hasNulls)
      }
    case (.string, .string), (.number, .number), (.bool, .bool): return []
    case (.string, .object) where SchemaChange.isSame(old, new): return []
    default: return ["\(name) was \(type(old)) and is \(type(new))"]
    }
  }

  /// What an element of an array is about, where it says so: devices come in any order.
  private static func identity(_ element: Wire) -> String? {
    (element["id"] ?? element["device"]?["id"] ?? element["name"])?.text
  }

  private static func changes(_ old: Wire, _ new: Wire?, at path: String) -> [String] {
    switch (old, new) {
    case (.string, .string?), (.number, .number?), (.bool, .bool?):
      old == new ? [] : ["\(path) was \(text(old)) and is \(text(new ?? .null))"]
    default: []
    }
  }

  /// What a command or a method that answers with several documents no longer has. Each old document needs a new one of
  /// its sort that has all of it. Where null is written and not left out (`hasNulls`), every new document of that sort
  /// needs its keys.
  static func losses(_ old: [Wire], _ new: [Wire], hasNulls: Bool = true) -> [String] {
    var found: [String] = []
    for document in old {
      let same = new.filter { sort($0) == sort(document) }
      guard let best = same.map({ losses(document, $0, hasNulls: hasNulls) }).min(by: { $0.count < $1.count }) else {
        found.append("there is no \(sort(document)): there is \(new.map { text($0).prefix(300) })")
        continue
      }
      found += best
      for other in same where hasNulls { found += losses(document, other, mayBeNull: true, hasNulls: true) }
    }
    return Array(Set(found)).sorted()
  }

  /// What a document tells of: an event, an error, a frame.
  static func sort(_ document: Wire) -> String {
    let inner = document["parameters"] ?? document
    let parts = ["event", "kind", "outcome", "driver"].compactMap { name in inner[name]?.text.map { "\(name) \($0)" } }
    let error = document["error"].flatMap { $0.text ?? $0["kind"]?.text }.map { "error \($0)" }
    let progress = document["progress"].map { _ in "progress" }
    let all = parts + [error, progress].compactMap { $0 }
    return all.isEmpty ? "document" : all.joined(separator: ", ")
  }

  /// One document of each sort and form: a long stream has the same again and again.
  static func examples(_ documents: [Wire]) -> [Wire] {
    var seen: Set<String> = []
    return documents.filter { seen.insert(sort($0) + form($0)).inserted }
  }

  /// The keys and types of a document.
  private static func form(_ value: Wire) -> String {
    switch value {
    case .object(let fields):
      "{" + fields.sorted { $0.key < $1.key }.map { $0.key + ":" + form($0.value) }.joined(separator: ",") + "}"
    case .array(let elements): "[" + elements.map(form).joined(separator: ",") + "]"
    default: type(value)
    }
  }

  private static func type(_ value: Wire) -> String {
    switch value {
    case .null: "null"
    case .bool: "true or false"
    case .number: "a number"
    case .string: "a text"
    case .array: "an array"
    case .object: "an object"
    }
  }

  static func text(_ value: Wire) -> String { String(decoding: value.bytes, as: UTF8.self) }
}
