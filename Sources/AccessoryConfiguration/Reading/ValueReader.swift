// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// A reader of values in a YAML text, for profiles and protocol descriptions. Collects the errors.
package protocol ValueReader {
  /// The file's name in errors.
  var file: String { get }
  /// The errors so far.
  var problems: [ProfileProblem] { get set }
  /// The keys of each mapping, for advice about a misplaced key.
  static var places: [KnownKeys.Place] { get }
}

extension ValueReader {
  /// The most errors that are collected.
  package static var problemLimit: Int { 20 }

  /// Adds an error, unless there are too many.
  package mutating func report(_ mark: YAMLMark, _ message: String) {
    guard problems.count < Self.problemLimit else { return }
    problems.append(ProfileProblem(file: file, line: mark.line, column: mark.column, message: message))
  }

  /// The errors, in the order of their positions.
  package var sortedProblems: [ProfileProblem] {
    problems.sorted { ($0.line ?? 0, $0.column ?? 0) < ($1.line ?? 0, $1.column ?? 0) }
  }

  /// Reads a YAML text of up to 64 KiB by `body`. Throws its errors, up to 20, where there are some or `body` returns nil.
  package mutating func read<Value>(
    yaml bytes: [UInt8], _ body: (inout Self, YAMLNode) -> Value?
  ) throws(ProfileProblems) -> Value {
    do throws(YAMLError) {
      if let value = body(&self, try YAMLReader.read(bytes)), problems.isEmpty { return value }
    } catch {
      report(error.mark, error.message)
    }
    throw ProfileProblems(problems: sortedProblems)
  }

  /// Sets a variable, if a value was read.
  package func set<Value>(_ variable: inout Value, _ value: Value?) {
    if let value { variable = value }
  }
}

// Readers of single values. Each reports an invalid value and then returns nil.
extension ValueReader {
  /// Reads a mapping with known keys. Reports unknown keys.
  package mutating func fields(_ node: YAMLNode, _ what: String, _ known: [String]) -> [String: YAMLNode]? {
    guard case .mapping(let entries) = node.content else {
      report(node.mark, "\(what) must be keys with values (\(known[0]): …), not \(kind(node))")
      return nil
    }
    var fields: [String: YAMLNode] = [:]
    for entry in entries {
      if known.contains(entry.key) {
        fields[entry.key] = entry.value
      } else if problems.count < Self.problemLimit {
        let advice = KnownKeys.advice(entry.key, among: known, places: Self.places)
        report(entry.mark, "unknown key \(Quoted.text(entry.key)): \(advice)")
      }
    }
    return fields
  }

  /// Reads a sequence of 1 to `limit` values.
  package mutating func list(_ node: YAMLNode, _ what: String, limit: Int) -> [YAMLNode]? {
    guard case .sequence(let elements) = node.content else {
      report(node.mark, "\(what) must be a list ([…], or lines that begin with -), not \(kind(node))")
      return nil
    }
    guard (1...limit).contains(elements.count) else {
      report(node.mark, "\(what) must have 1 to \(limit) entries, not \(elements.count)")
      return nil
    }
    return elements
  }

  /// Reads a text that isn't empty and has no control characters.
  package mutating func text(_ node: YAMLNode, _ what: String, limit: Int) -> String? {
    guard case .scalar(let text) = node.content, !text.isEmpty else {
      report(node.mark, "\(what) was expected, not \(kind(node))")
      return nil
    }
    guard text.utf8.count <= limit else {
      report(node.mark, "\(what) has at most \(limit) bytes, not \(text.utf8.count)")
      return nil
    }
    let hasControls = text.unicodeScalars.contains { scalar in
      switch scalar.properties.generalCategory {
      case .control, .lineSeparator, .paragraphSeparator: true
      default: false
      }
    }
    guard !hasControls else {
      report(node.mark, "\(what) has control characters or more than one line")
      return nil
    }
    return text
  }

  package mutating func word(_ node: YAMLNode, _ what: String, among words: [String]) -> String? {
    if case .scalar(let text) = node.content, words.contains(text) { return text }
    report(node.mark, "\(what) must be \(NameWords.list(words, "or")), not \(kind(node))")
    return nil
  }

  /// Reads `true` or `false`.
  package mutating func flag(_ node: YAMLNode, _ what: String) -> Bool? {
    word(node, what, among: ["true", "false"]).map { $0 == "true" }
  }

  /// Reads a whole number in decimal.
  package mutating func whole<Number: FixedWidthInteger>(
    _ node: YAMLNode, _ what: String, _ range: ClosedRange<Number>
  ) -> Number? {
    if case .scalar(let text) = node.content, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
      let number = Number(text), range.contains(number)
    {
      return number
    }
    report(
      node.mark, "\(what) must be a whole number from \(range.lowerBound) to \(range.upperBound), not \(kind(node))")
    return nil
  }

  /// Reads a whole number in decimal, or in hexadecimal after 0x.
  package mutating func integer(_ node: YAMLNode, _ what: String, _ range: ClosedRange<Int>) -> Int? {
    if case .scalar(let text) = node.content, let number = WholeNumber.read(text), range.contains(number) {
      return number
    }
    report(
      node.mark, "\(what) must be a whole number from \(range.lowerBound) to \(range.upperBound), not \(kind(node))")
    return nil
  }

  /// Reads a hexadecimal number, with or without 0x.
  package mutating func hexadecimal<Number: FixedWidthInteger & UnsignedInteger>(
    _ node: YAMLNode, _ what: String, _: Number.Type = Number.self
  ) -> Number? {
    if case .scalar(let text) = node.content, let number: Number = HexNumber.read(text) { return number }
    let digits = Number.bitWidth / 4
    report(
      node.mark, "\(what) must be a number of up to \(digits) hexadecimal digits, as lsusb shows it, not \(kind(node))")
    return nil
  }

  /// Reads a time with its unit.
  package mutating func time(_ node: YAMLNode, _ what: String, _ range: ClosedRange<Duration>) -> Duration? {
    if case .scalar(let text) = node.content, let time = TimeText.read(text), range.contains(time) { return time }
    let bounds = "from \(TimeText.text(range.lowerBound)) to \(TimeText.text(range.upperBound))"
    report(node.mark, "\(what) must be a time with its unit, like 500ms or 2s, \(bounds), not \(kind(node))")
    return nil
  }

  /// The node in an error message.
  package func kind(_ node: YAMLNode) -> String {
    switch node.content {
    case .scalar(""): "nothing"
    case .scalar(let text): Quoted.text(text)
    case .sequence: "a list"
    case .mapping: "keys with values"
    }
  }
}
