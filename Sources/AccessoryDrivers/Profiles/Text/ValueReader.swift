// SPDX-License-Identifier: Apache-2.0

/// What reads values of a YAML text, for profiles and for descriptions of protocols, and keeps what is wrong with them.
protocol ValueReader {
  /// What the text is called in what is wrong with it.
  var file: String { get }
  /// What is wrong so far.
  var problems: [ProfileProblem] { get set }
  /// The keys by the mapping they stand in, for who writes one in the wrong place.
  static var places: [KnownKeys.Place] { get }
}

extension ValueReader {
  /// Problems of a text that are kept.
  static var problemLimit: Int { 20 }

  /// Keeps what is wrong.
  mutating func report(_ mark: YAMLMark, _ message: String) {
    guard problems.count < Self.problemLimit else { return }
    problems.append(ProfileProblem(file: file, line: mark.line, column: mark.column, message: message))
  }

  /// What is wrong, in the order of the text.
  var sortedProblems: [ProfileProblem] {
    problems.sorted { ($0.line ?? 0, $0.column ?? 0) < ($1.line ?? 0, $1.column ?? 0) }
  }

  /// Sets what was read.
  func set<Value>(_ variable: inout Value, _ value: Value?) {
    if let value { variable = value }
  }
}

// Values of a kind. Each says what is wrong, and is nil then.
extension ValueReader {
  /// The values of a mapping by their keys.
  mutating func fields(_ node: YAMLNode, _ what: String, _ known: [String]) -> [String: YAMLNode]? {
    guard case .mapping(let entries) = node.content else {
      report(node.mark, "\(what) is keys with values (\(known[0]): …), not \(kind(node))")
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

  /// The values of a sequence, of which there is at least one.
  mutating func list(_ node: YAMLNode, _ what: String, limit: Int) -> [YAMLNode]? {
    guard case .sequence(let elements) = node.content else {
      report(node.mark, "\(what) are a list ([…], or lines that begin with -), not \(kind(node))")
      return nil
    }
    guard (1...limit).contains(elements.count) else {
      report(node.mark, "\(what) are 1 to \(limit), not \(elements.count)")
      return nil
    }
    return elements
  }

  /// Text that isn't empty and has no control characters.
  mutating func text(_ node: YAMLNode, _ what: String, limit: Int) -> String? {
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

  /// One of these words.
  mutating func word(_ node: YAMLNode, _ what: String, among words: [String]) -> String? {
    if case .scalar(let text) = node.content, words.contains(text) { return text }
    report(node.mark, "\(what) is \(Self.either(words)), not \(kind(node))")
    return nil
  }

  /// A value of an enumeration, by its name.
  mutating func choice<Value: RawRepresentable<String> & CaseIterable>(
    _ node: YAMLNode, _ what: String, _: Value.Type = Value.self
  ) -> Value? {
    word(node, what, among: Value.allCases.map(\.rawValue)).flatMap(Value.init(rawValue:))
  }

  /// True or false.
  mutating func flag(_ node: YAMLNode, _ what: String) -> Bool? {
    word(node, what, among: ["true", "false"]).map { $0 == "true" }
  }

  /// A whole number, in decimal.
  mutating func whole<Number: FixedWidthInteger>(
    _ node: YAMLNode, _ what: String, _ range: ClosedRange<Number>
  ) -> Number? {
    if case .scalar(let text) = node.content, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
      let number = Number(text), range.contains(number)
    {
      return number
    }
    report(node.mark, "\(what) is a whole number from \(range.lowerBound) to \(range.upperBound), not \(kind(node))")
    return nil
  }

  /// A number in hexadecimal, with or without 0x.
  mutating func hexadecimal<Number: FixedWidthInteger & UnsignedInteger>(
    _ node: YAMLNode, _ what: String, _: Number.Type = Number.self
  ) -> Number? {
    if case .scalar(let text) = node.content, let number: Number = HexNumber.read(text) { return number }
    let digits = Number.bitWidth / 4
    report(
      node.mark, "\(what) is a number of up to \(digits) hexadecimal digits, as lsusb shows it, not \(kind(node))")
    return nil
  }

  /// A time with its unit.
  mutating func time(_ node: YAMLNode, _ what: String, _ range: ClosedRange<Duration>) -> Duration? {
    if case .scalar(let text) = node.content, let time = TimeText.read(text), range.contains(time) { return time }
    let bounds = "from \(TimeText.text(range.lowerBound)) to \(TimeText.text(range.upperBound))"
    report(node.mark, "\(what) is a time with its unit, like 500ms or 2s, \(bounds), not \(kind(node))")
    return nil
  }

  /// What is there instead, for people.
  func kind(_ node: YAMLNode) -> String {
    switch node.content {
    case .scalar(""): "nothing"
    case .scalar(let text): Quoted.text(text)
    case .sequence: "a list"
    case .mapping: "keys with values"
    }
  }

  /// "a, b or c".
  static func either(_ words: [String]) -> String {
    words.count < 2 ? words.joined() : words.dropLast().joined(separator: ", ") + " or " + words[words.count - 1]
  }
}
