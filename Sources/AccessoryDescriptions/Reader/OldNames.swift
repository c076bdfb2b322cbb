// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryCore
import AccessoryProtocols

/// Turns descriptions with the keys of earlier versions into those of today, before they are read: the reader knows only these.
///
/// Every description that was ever valid is still read, with the same meaning. Each old key is noted, with its new spelling.
struct OldNames {
  /// An old key, and how it is written today.
  struct Note: Sendable, Hashable {
    var mark: YAMLMark
    var message: String
  }

  /// The old keys, in the order in which they were found; at most `noteLimit`.
  private(set) var notes: [Note] = []
  /// The number of old keys.
  private(set) var count = 0
  /// Values of old keys that can't be read.
  private(set) var problems: [Note] = []

  private static let noteLimit = 20

  /// A description with today's keys.
  mutating func renewed(_ description: YAMLNode) -> YAMLNode {
    var node = description
    node.change("messages") { messages in
      messages.changeValues { message in
        message.change("fields") { renewSteps(&$0) }
        message.change("tags") { tags in tags.changeValues { renewSteps(&$0) } }
        for key in ["pairs", "table", "types"] {
          message.change(key) { fields in fields.changeValues { renewField(&$0) } }
        }
        renewPlaces(&message)
        message.change("columns") { columns in
          columns.changeElements { column in
            rename("optional", to: "may_be_missing", in: &column)
            renewField(&column)
          }
        }
        message.change("table") { columns in
          columns.changeValues { rename("optional", to: "may_be_missing", in: &$0) }
        }
      }
    }
    node.change("units") { units in
      rename("sent", to: "request_adds", in: &units)
      rename("received", to: "reply_adds", in: &units)
    }
    node.change("modbus") { rename("unit", to: "unit_number", in: &$0) }
    node.change("registers") { groups in
      groups.changeValues { group in group.change("fields") { fields in fields.changeElements { renewField(&$0) } } }
    }
    node.change("derived") { derived in derived.changeElements { renewDerivation(&$0) } }
    node.change("requests") { requests in
      requests.changeValues { request in
        request.change("arguments") { arguments in arguments.changeValues { renewArgument(&$0) } }
        for key in ["send", "data"] {
          request.change(key) { parts in
            rename("unit", to: "unit_number", in: &parts)
            parts.changeElements { rename("unit", to: "unit_number", in: &$0) }
          }
        }
      }
    }
    node.change("examples") { examples in
      examples.changeElements { rename("unit", to: "unit_number", in: &$0) }
    }
    return node
  }

  private mutating func note(_ key: String, _ mark: YAMLMark, _ today: String) {
    count += 1
    if notes.count < Self.noteLimit {
      notes.append(Note(mark: mark, message: "\(key) is an old spelling: write \(today)"))
    }
  }

  /// Gives a key its new name.
  private mutating func rename(_ key: String, to name: String, in node: inout YAMLNode) {
    guard let mark = node.mark(of: key), node[name] == nil else { return }
    node.rename(key, to: name)
    note(key, mark, name)
  }

  private mutating func refuse(_ node: YAMLNode, _ message: String) {
    problems.append(Note(mark: node.mark, message: message))
  }

  /// `separation: places` with `at: 16, count: 10` in each column becomes `at: 16..25`.
  private mutating func renewPlaces(_ message: inout YAMLNode) {
    guard message["separation"]?.content == .scalar("places"), let mark = message.mark(of: "separation") else { return }
    message.change("columns") { columns in
      columns.changeElements { column in
        guard let at = column["at"], let first = Self.text(at).flatMap({ WholeNumber.read($0) }),
          let count = column["count"].flatMap({ Self.text($0) }).flatMap({ WholeNumber.read($0) }),
          (0...ProtocolDescription.Limit.frame).contains(first), (1...ProtocolDescription.Limit.text).contains(count)
        else { return refuse(column, "a column needs its first and last character, like at: 0..4") }
        column.replace(
          ["at", "count"], with: "at", YAMLNode(content: .scalar("\(first)..\(first + count - 1)"), mark: at.mark))
      }
    }
    message.remove("separation")
    note("separation: places with at and count", mark, "the characters of each column, like at: 16..25")
  }

  // MARK: - Fields

  private mutating func renewSteps(_ steps: inout YAMLNode) {
    steps.changeElements { step in
      for key in ["group", "tail", "fields"] { step.change(key) { renewSteps(&$0) } }
      rename("when", to: "at_least", in: &step)
      renewField(&step)
    }
  }

  private mutating func renewField(_ field: inout YAMLNode) {
    if field["type"]?.content == .scalar("word") { rename("words", to: "translate", in: &field) }
    if let node = field["first"], let mark = field.mark(of: "first"), case .scalar(let end) = node.content,
      ["highest", "lowest"].contains(end)
    {
      let isLowest = end == "lowest"
      field.replace(
        ["first"], with: "lowest_first", YAMLNode(content: .scalar(isLowest ? "true" : "false"), mark: node.mark))
      note("first: \(end)", mark, "lowest_first: \(isLowest)")
    }
    let old = ["offset", "scale", "variants", "above"].filter { field[$0] != nil }
    guard let first = old.first, let mark = field.mark(of: first), let node = field[first] else { return }
    guard field["value"] == nil else { return refuse(node, "\(first) is a part of value today: leave it out") }
    var formula = scaled("raw", field)
    if let variants = field["variants"] { formula = self.variants(variants, field, formula) ?? formula }
    if let above = field["above"] { formula = self.above(above, field, formula) ?? formula }
    field.replace(old, with: "value", YAMLNode(content: .scalar(formula), mark: node.mark, style: .literal))
    note(old.joined(separator: " and "), mark, "value: \(formula)")
  }

  private mutating func renewArgument(_ argument: inout YAMLNode) {
    renewWords(&argument)
    let old = ["offset", "scale"].filter { argument[$0] != nil }
    guard let first = old.first, let mark = argument.mark(of: first), let node = argument[first] else { return }
    let formula = scaled("raw", argument)
    argument.replace(old, with: "value", YAMLNode(content: .scalar(formula), mark: node.mark, style: .literal))
    note(old.joined(separator: " and "), mark, "value: \(formula)")
  }

  /// `{on: 1, off: 0}` becomes `{1: on, 0: off}`, as in fields.
  private mutating func renewWords(_ argument: inout YAMLNode) {
    guard let node = argument["words"], let mark = argument.mark(of: "words"),
      case .mapping(let entries) = node.content
    else { return }
    let numbers = entries.map { entry in Self.text(entry.value).flatMap { WholeNumber.read($0) } }
    guard !numbers.contains(nil), entries.contains(where: { WholeNumber.read($0.key) == nil }) else { return }
    var words: [YAMLNode.Entry] = []
    for (entry, number) in zip(entries, numbers.compactMap { $0 }) {
      let word = YAMLNode(content: .scalar(entry.key), mark: entry.mark)
      guard let place = words.firstIndex(where: { $0.key == "\(number)" }) else {
        words.append(YAMLNode.Entry(key: "\(number)", mark: entry.mark, value: word))
        continue
      }
      // A number may have several words.
      let earlier = words[place].value
      if case .sequence(let list) = earlier.content {
        words[place].value.content = .sequence(list + [word])
      } else {
        words[place].value = YAMLNode(content: .sequence([earlier, word]), mark: earlier.mark)
      }
    }
    argument.replace(["words"], with: "words", YAMLNode(content: .mapping(words), mark: node.mark))
    note("words by word", mark, "words by number, like {1: on, 0: off}")
  }

  /// The formula of `offset` and `scale`, which a variant takes from its field where it has none.
  private mutating func scaled(_ variable: String, _ rule: YAMLNode, from field: YAMLNode? = nil) -> String {
    var offset = 0
    if let node = rule["offset"] ?? field?["offset"] {
      if case .scalar(let text) = node.content, let number = WholeNumber.read(text),
        DescriptionReader.widest.contains(number)
      {
        offset = number
      } else {
        refuse(node, "offset must be a whole number (write a formula in its place: value: (raw - 2731) / 10)")
      }
    }
    var scale = ProtocolDescription.Fraction(1)
    if let node = rule["scale"] ?? field?["scale"] {
      if case .scalar(let text) = node.content, let factor = DescriptionReader.fraction(text), factor.numerator != 0 {
        scale = factor
      } else {
        refuse(node, "scale must be a number other than 0 (write a formula in its place: value: raw / 100)")
      }
    }
    return Self.text(variable, offset, scale)
  }

  /// (variable + offset) · scale, as a person writes it: `raw / 100`, `(2731 - raw) / 10`.
  static func text(_ variable: String, _ offset: Int, _ scale: ProtocolDescription.Fraction) -> String {
    let isNegative = scale.numerator < 0
    var text = isNegative ? "-\(variable)" : variable
    if offset != 0 {
      let amount = offset.magnitude
      text =
        isNegative
        ? "\(offset < 0 ? "" : "-")\(amount) - \(variable)" : "\(variable) \(offset < 0 ? "-" : "+") \(amount)"
      if scale.numerator.magnitude != 1 || scale.denominator != 1 { text = "(\(text))" }
    }
    if scale.numerator.magnitude != 1 { text += " * \(scale.numerator.magnitude)" }
    if scale.denominator != 1 { text += " / \(scale.denominator)" }
    return text
  }

  /// `{by: FIELD, 1: {encoding: …, offset: …, scale: …}}`: other rules by the number of another field.
  private mutating func variants(_ node: YAMLNode, _ field: YAMLNode, _ formula: String) -> String? {
    guard case .mapping(let entries) = node.content, case .scalar(let name)? = node["by"]?.content, entries.count > 1
    else {
      refuse(
        node,
        "variants must be {by: FIELD, 1: {offset: …, scale: …}} (write a formula in their place: if(FIELD == 1, …, …))")
      return nil
    }
    return entries.filter { $0.key != "by" }.reversed().reduce(formula) { formula, entry in
      guard WholeNumber.read(entry.key) != nil, case .mapping = entry.value.content else {
        refuse(entry.value, "a variant must be a number with a rule, like 1: {offset: -100}")
        return formula
      }
      return "if(\(name) == \(entry.key), \(rule(entry.value, field)), \(formula))"
    }
  }

  /// `{100: {offset: …, scale: …}}`: other rules for larger numbers.
  private mutating func above(_ node: YAMLNode, _ field: YAMLNode, _ formula: String) -> String? {
    guard case .mapping(let entries) = node.content, entries.count == 1, WholeNumber.read(entries[0].key) != nil,
      case .mapping = entries[0].value.content
    else {
      refuse(node, "above must be a number with a rule (write a formula in its place: if(raw > 100, 100 - raw, raw))")
      return nil
    }
    return "if(raw > \(entries[0].key), \(rule(entries[0].value, field, mayHaveEncoding: false)), \(formula))"
  }

  private mutating func rule(_ node: YAMLNode, _ field: YAMLNode, mayHaveEncoding: Bool = true) -> String {
    var variable = "raw"
    if let encoding = node["encoding"] {
      let known = ["unsigned": "unsigned", "signed": "signed", "sign-magnitude": "sign_magnitude", "bcd": "bcd"]
      if case .scalar(let word) = encoding.content, let name = known[word] {
        if mayHaveEncoding { variable = name }
      } else {
        refuse(encoding, "encoding must be unsigned, signed, sign-magnitude or bcd")
      }
    }
    return scaled(variable, node, from: field)
  }

  // MARK: - Derived values

  private mutating func renewDerivation(_ derivation: inout YAMLNode) {
    guard let rule = derivation["rule"], let mark = derivation.mark(of: "rule"), let of = derivation["of"],
      derivation["value"] == nil
    else { return }
    guard let formula = formula(rule, of, derivation) else { return }
    var old = ["rule", "of", "dead_band", "contains", "word", "from", "to"]
    if rule.content == .scalar("words"), derivation["words"] != nil { derivation.rename("words", to: "translate") }
    old = old.filter { derivation[$0] != nil }
    // A name that isn't defined stands in `of`.
    derivation.replace(old, with: "value", YAMLNode(content: .scalar(formula), mark: of.mark, style: .literal))
    note("rule and of", mark, "value: \(formula)\(derivation["translate"] == nil ? "" : " and translate")")
  }

  /// The number of values of each rule.
  private static let counts: [String: ClosedRange<Int>] = [
    "first": 2...16, "percent": 2...2, "percent-of-range": 3...3, "difference": 2...2, "product": 2...2, "sum": 1...16,
    "least": 1...1, "greatest": 1...1, "negated": 1...1, "if": 2...2, "unless": 2...2, "within": 1...1,
    "charge-by-sign": 1...1, "word": 1...1, "words": 1...1, "number": 1...1,
  ]

  private mutating func formula(_ rule: YAMLNode, _ of: YAMLNode, _ derivation: YAMLNode) -> String? {
    guard case .scalar(let word) = rule.content, let count = Self.counts[word] else {
      refuse(rule, "there is no such rule (write a formula in its place: value: a - b)")
      return nil
    }
    let names = Self.texts(of)
    guard let names, count.contains(names.count) else {
      refuse(of, "\(word) needs \(Amount.of(count.lowerBound, "value"))")
      return nil
    }
    let list = names.joined(separator: ", ")
    switch word {
    case "first": return "first(\(list))"
    case "percent", "percent-of-range": return "percent(\(list))"
    case "difference": return "\(names[0]) - \(names[1])"
    case "product": return "\(names[0]) * \(names[1])"
    case "sum": return "sum(\(list))"
    case "least": return "min(\(list))"
    case "greatest": return "max(\(list))"
    case "negated": return "-\(names[0])"
    case "if": return "if(\(names[1]), \(names[0]))"
    case "unless": return "if(not \(names[1]), \(names[0]))"
    case "within":
      let bounds = [("from", ">="), ("to", "<=")].compactMap { key, sign in
        derivation[key].flatMap { Self.text($0) }.map { "\(names[0]) \(sign) \($0)" }
      }
      guard !bounds.isEmpty else {
        refuse(rule, "within needs from or to (write a formula in its place: if(a <= 3.5, a))")
        return nil
      }
      return "if(\(bounds.joined(separator: " and ")), \(names[0]))"
    case "charge-by-sign":
      return "charging(\(list)\(derivation["dead_band"].flatMap { Self.text($0) }.map { ", \($0)" } ?? ""))"
    case "word":
      guard let word = derivation["word"].flatMap({ Self.text($0) }) else {
        refuse(rule, "word is missing (write a formula in its place: if(flag, 'word'))")
        return nil
      }
      let contains = derivation["contains"].flatMap { Self.text($0) }
      return "if(\(contains.map { Self.quoted($0) + " in " } ?? "")\(names[0]), \(Self.quoted(word)))"
    case "words": return names[0]
    default: return "number(\(names[0]))"
    }
  }

  private static func quoted(_ text: String) -> String { text.contains("'") ? "\"\(text)\"" : "'\(text)'" }

  private static func text(_ node: YAMLNode) -> String? {
    if case .scalar(let text) = node.content { text } else { nil }
  }

  /// One text, or several; nil if there is anything else.
  private static func texts(_ node: YAMLNode) -> [String]? {
    guard case .sequence(let elements) = node.content else { return text(node).map { [$0] } }
    let texts = elements.compactMap { text($0) }
    return texts.count == elements.count ? texts : nil
  }
}

extension YAMLNode {
  /// The value of a key; nil where there is none.
  fileprivate subscript(key: String) -> YAMLNode? {
    guard case .mapping(let entries) = content else { return nil }
    return entries.first { $0.key == key }?.value
  }

  /// The place of a key.
  fileprivate func mark(of key: String) -> YAMLMark? {
    guard case .mapping(let entries) = content else { return nil }
    return entries.first { $0.key == key }?.mark
  }

  /// Changes the value of a key, if it is present.
  fileprivate mutating func change(_ key: String, _ change: (inout YAMLNode) -> Void) {
    guard case .mapping(var entries) = content, let place = entries.firstIndex(where: { $0.key == key }) else { return }
    change(&entries[place].value)
    content = .mapping(entries)
  }

  /// Changes the value of each key.
  fileprivate mutating func changeValues(_ change: (inout YAMLNode) -> Void) {
    guard case .mapping(var entries) = content else { return }
    for place in entries.indices { change(&entries[place].value) }
    content = .mapping(entries)
  }

  /// Changes each element of a list.
  fileprivate mutating func changeElements(_ change: (inout YAMLNode) -> Void) {
    guard case .sequence(var elements) = content else { return }
    for place in elements.indices { change(&elements[place]) }
    content = .sequence(elements)
  }

  fileprivate mutating func rename(_ key: String, to name: String) {
    guard case .mapping(var entries) = content, let place = entries.firstIndex(where: { $0.key == key }) else { return }
    entries[place].key = name
    content = .mapping(entries)
  }

  fileprivate mutating func remove(_ key: String) {
    if case .mapping(let entries) = content { content = .mapping(entries.filter { $0.key != key }) }
  }

  /// Replaces several keys by one, at the place of the first.
  fileprivate mutating func replace(_ keys: [String], with name: String, _ value: YAMLNode) {
    guard case .mapping(let entries) = content, let first = entries.first(where: { keys.contains($0.key) }) else {
      return
    }
    var changed: [Entry] = []
    for entry in entries {
      if entry.key == first.key {
        changed.append(Entry(key: name, mark: entry.mark, value: value))
      } else if !keys.contains(entry.key) {
        changed.append(entry)
      }
    }
    content = .mapping(changed)
  }
}
