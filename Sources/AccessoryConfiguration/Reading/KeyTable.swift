// SPDX-License-Identifier: Apache-2.0

/// The keys of a mapping in a file that users write: the one place that says what they are called, how their values look, and what they
/// mean. Readers check files by it, and the tests make the JSON Schema and the tables of the pages from it.
package struct KeyTable: Sendable {
  /// A key of the mapping.
  package struct Key: Sendable {
    package let name: String
    package let form: KeyForm
    /// What it means, in Markdown.
    package let meaning: String
    /// What holds without the key, in Markdown; empty if nothing does.
    package let usual: String
    /// The version in which it was new.
    package let since: String
    /// The error if the key is missing; nil if it may be.
    package fileprivate(set) var missing: String?
    /// Whether no page tells of it, because hardly any file needs it.
    package let isSeldom: Bool
    /// What the page says in place of the meaning, for neighbours with the same text together.
    package var likewise: String?

    package init(
      _ name: String, _ form: KeyForm, _ meaning: String, usual: String = "", since: String = "0.2",
      missing: String? = nil, isSeldom: Bool = false
    ) {
      (self.name, self.form, self.meaning, self.usual) = (name, form, meaning, usual)
      (self.since, self.missing, self.isSeldom) = (since, missing, isSeldom)
    }
  }

  /// Its name in the schema and the page.
  package let name: String
  /// Its name in errors: "a message".
  package let title: String
  /// The place where a key belongs that was found elsewhere.
  package let place: KnownKeys.Place
  package let keys: [Key]

  /// `lacks` is the error where a key is missing whose `missing` is empty, by the key's name.
  package init(
    _ name: String, _ title: String, place: String? = nil, lacks: (String) -> String = { "\($0) is missing" },
    _ keys: [Key]
  ) {
    (self.name, self.title) = (name, title)
    self.keys = keys.map { key in
      var key = key
      if key.missing == "" { key.missing = lacks(key.name) }
      return key
    }
    self.place = (place ?? title, keys.filter { !$0.isSeldom }.map(\.name))
  }

  package var names: [String] { keys.map(\.name) }

  package subscript(name: String) -> Key? { keys.first { $0.name == name } }

  /// Some of the keys, for another mapping that has them, too. `page` is what its page says of them.
  package func keys(_ names: [String], page: String) -> [Key] {
    names.compactMap { name in
      var key = self[name]
      key?.likewise = page
      return key
    }
  }
}

/// How the value of a key looks.
package enum KeyForm: Sendable {
  /// True or false.
  case flag
  /// A whole number in decimal.
  case whole(ClosedRange<Int>)
  /// A whole number in decimal, or in hexadecimal after 0x.
  case integer(ClosedRange<Int>)
  case words([String])
  /// A text of at most so many bytes. Errors call it by the key, if it has no other name.
  case text(limit: Int, called: String? = nil)
  /// A time with its unit.
  case time(ClosedRange<Duration>)
  /// Bytes, at most so many.
  case bytes(limit: Int)
  /// A form with a name in the schema, and how the page calls it.
  case shared(String, String)
  /// At most so many values of a form with a name in the schema: by names, in a list, or one alone or in a list.
  case named(String, limit: Int)
  case list(String, limit: Int)
  case oneOrMore(String, limit: Int)
  /// A form that the schema describes itself, and how the page calls it.
  case other(String)

  /// One of the words of an enumeration.
  package static func choice<Value: RawRepresentable<String> & CaseIterable>(_: Value.Type) -> KeyForm {
    .words(Value.allCases.map(\.rawValue))
  }

  /// A time with its unit, within a range of milliseconds.
  package static func milliseconds(_ range: ClosedRange<Int64>) -> KeyForm {
    .time(.milliseconds(range.lowerBound) ... .milliseconds(range.upperBound))
  }
}

/// The values of a mapping's keys in a file.
package struct KeyedNodes {
  package let table: KeyTable
  private var nodes: [String: YAMLNode]

  package init(_ table: KeyTable, _ nodes: [String: YAMLNode]) { (self.table, self.nodes) = (table, nodes) }

  package var count: Int { nodes.count }
  package var isEmpty: Bool { nodes.isEmpty }

  package subscript(name: String) -> YAMLNode? {
    get { nodes[name] }
    set { nodes[name] = newValue }
  }
}

// Readers of values in the form that the table of keys says. Each reports an invalid value, and returns nil for it and for a missing key.
extension ValueReader {
  /// Reads a mapping. Reports unknown keys, and required ones that are missing, these at `mark`.
  package mutating func keys(
    _ node: YAMLNode, _ table: KeyTable, called title: String? = nil, at mark: YAMLMark? = nil
  ) -> KeyedNodes? {
    guard let fields = fields(node, title ?? table.title, table.names) else { return nil }
    var told: String?
    for key in table.keys where fields[key.name] == nil {
      // Two keys may have one sentence.
      if let missing = key.missing, missing != told {
        report(mark ?? node.mark, missing)
        told = missing
      }
    }
    return KeyedNodes(table, fields)
  }

  package mutating func flag(_ keys: KeyedNodes, _ name: String) -> Bool? { keys[name].flatMap { flag($0, name) } }

  package mutating func number<Number: FixedWidthInteger>(_ keys: KeyedNodes, _ name: String) -> Number? {
    guard let node = keys[name] else { return nil }
    switch keys.table[name]?.form {
    case .whole(let range): return whole(node, name, range).flatMap { Number(exactly: $0) }
    case .integer(let range): return integer(node, name, range).flatMap { Number(exactly: $0) }
    default: return notInTable(name)
    }
  }

  package mutating func word(_ keys: KeyedNodes, _ name: String) -> String? {
    guard let node = keys[name] else { return nil }
    guard case .words(let words)? = keys.table[name]?.form else { return notInTable(name) }
    return word(node, name, among: words)
  }

  /// Reads a value of an enumeration by its raw value.
  package mutating func choice<Value: RawRepresentable<String>>(_ keys: KeyedNodes, _ name: String) -> Value? {
    word(keys, name).flatMap(Value.init(rawValue:))
  }

  package mutating func text(_ keys: KeyedNodes, _ name: String) -> String? {
    guard let node = keys[name] else { return nil }
    guard case .text(let limit, let called)? = keys.table[name]?.form else { return notInTable(name) }
    return text(node, called ?? name, limit: limit)
  }

  package mutating func time(_ keys: KeyedNodes, _ name: String) -> Duration? {
    guard let node = keys[name] else { return nil }
    guard case .time(let range)? = keys.table[name]?.form else { return notInTable(name) }
    return time(node, name, range)
  }

  /// A mistake of the program: the table has another form than its reader expects. Tests find it.
  package func notInTable<Value>(_ name: String) -> Value? {
    assertionFailure("the form of \(name) is another one")
    return nil
  }
}
