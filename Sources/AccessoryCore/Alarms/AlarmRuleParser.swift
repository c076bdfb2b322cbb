// SPDX-License-Identifier: Apache-2.0

/// Parses the text of a rule:
///
/// ```text
/// rule       = [name ":"] condition {option}
/// condition  = subject comparison limit
///            | ("fault" | "warning") [name]
///            | "silent" "for" time
/// subject    = part | ["value"] name
/// comparison = "<" | "<=" | ">" | ">=" | "=" | "!="
/// limit      = number [unit] | word
/// option     = "for" time | "hysteresis" number [unit]
/// ```
struct AlarmRuleParser {
  let text: [Character]
  /// The index of the next character.
  var next = 0

  private init(_ text: String) { self.text = Array(text) }

  /// Parses a whole rule. With `name` the text has no name of its own.
  static func parse(_ text: String, name: String? = nil) throws(AlarmRuleError) -> AlarmRule {
    guard text.utf8.count <= AlarmRule.textLimit else {
      throw AlarmRuleError(column: 1, message: "a rule has at most \(AlarmRule.textLimit) bytes")
    }
    var parser = AlarmRuleParser(text)
    if let place = parser.text.firstIndex(where: { !$0.unicodeScalars.allSatisfy(SafeText.isHarmless) }) {
      throw AlarmRuleError(column: place + 1, message: "a rule has no control characters and no invisible ones")
    }
    if let name {
      try check(name, column: 1)
      return try parser.rule(name)
    }
    return try parser.rule(try parser.ownName())
  }

  private mutating func rule(_ name: String?) throws(AlarmRuleError) -> AlarmRule {
    var rule = AlarmRule(try condition(), name: name)
    while let column = skip() {
      switch peekWord()?.lowercased() {
      case "for": try delay(&rule, column)
      case "hysteresis": try hysteresis(&rule, column)
      default: throw error("expected for TIME, hysteresis NUMBER, or the end, not \(rest)", column)
      }
    }
    return rule
  }

  // MARK: - The name

  /// The name before the first colon that isn't in quotes.
  private mutating func ownName() throws(AlarmRuleError) -> String? {
    var isQuoted = false
    for place in text.indices {
      // A quoted name may have escaped quotes.
      if text[place] == "\"", !(isQuoted && place > 0 && text[place - 1] == "\\") { isQuoted.toggle() }
      guard text[place] == ":", !isQuoted else { continue }
      let start = text[..<place].firstIndex { $0 != " " } ?? place
      let end = text[start..<place].lastIndex { $0 != " " }.map { $0 + 1 } ?? start
      let name = String(text[start..<end])
      try Self.check(name, column: start + 1)
      next = place + 1
      return name
    }
    return nil
  }

  /// Throws when a rule can't have this name.
  private static func check(_ name: String, column: Int) throws(AlarmRuleError) {
    guard (1...AlarmRule.nameLimit).contains(name.utf8.count) else {
      throw AlarmRuleError(column: column, message: "a name before the colon has 1 to \(AlarmRule.nameLimit) bytes")
    }
    guard name.unicodeScalars.allSatisfy(SafeText.isHarmless), name.first != " ", name.last != " ",
      !name.contains(where: { "\":<>=!\\".contains($0) })
    else {
      throw AlarmRuleError(
        column: column, message: "a name before the colon has no quotes, colons or comparisons, and no blanks around it"
      )
    }
  }

  // MARK: - Conditions

  private mutating func condition() throws(AlarmRuleError) -> AlarmRule.Condition {
    guard let column = skip() else {
      throw error("a condition is missing, like battery < 20 %, fault, or silent for 5 min", text.count + 1)
    }
    switch peekWord()?.lowercased() {
    case "fault": return .fault(try event("fault", column))
    case "warning": return .warning(try event("warning", column))
    case "silent": return .silence(try silence())
    default: break
    }
    let subject = try subject(column)
    let comparison = try comparison(after: subject)
    return try limit(subject, comparison)
  }

  /// The name of a fault or a warning; nil for any.
  private mutating func event(_ word: String, _ column: Int) throws(AlarmRuleError) -> String? {
    _ = try takeWord()
    guard let place = skip() else { return nil }
    if isOperator(text[next]) {
      throw error("\(word) takes no comparison; for a value of this name write value \(word)", place)
    }
    if text[next] == "\"" { return try quoted() }
    guard let name = peekWord() else {
      throw error("expected the name of a \(word), for TIME, or the end, not \(rest)", place)
    }
    return AlarmWords.options.contains(name.lowercased()) ? nil : try takeWord()
  }

  private mutating func silence() throws(AlarmRuleError) -> Duration {
    _ = try takeWord()
    let column = skip() ?? text.count + 1
    guard peekWord()?.lowercased() == "for" else {
      throw error("silent needs a time: silent for 5 min", column)
    }
    _ = try takeWord()
    let place = skip() ?? text.count + 1
    let time = try time()
    let limits = AlarmRule.silenceLimits
    guard limits.contains(time) else {
      throw error(
        "a time of silence is from \(AlarmTime.text(limits.lowerBound)) to \(AlarmTime.text(limits.upperBound))", place)
    }
    return time
  }

  private mutating func subject(_ column: Int) throws(AlarmRuleError) -> AlarmSubject {
    if text[next] == "\"" { return .value(try quoted()) }
    guard let first = try takeWord() else {
      throw error("expected what is watched, like battery or temperature, not \(rest)", column)
    }
    if first.lowercased() == "value" {
      guard let place = skip(), !isOperator(text[next]) else {
        throw error("expected the name of a value after value", next + 1)
      }
      if text[next] == "\"" { return .value(try quoted()) }
      guard let name = try takeWord() else { throw error("expected the name of a value, not \(rest)", place) }
      return .value(name)
    }
    var words = [first]
    while skip() != nil, let word = peekWord() {
      if AlarmWords.options.contains(word.lowercased()) { break }
      words.append(try takeWord() ?? word)
    }
    let phrase = words.joined(separator: " ").lowercased()
    if let part = AlarmSubject.Part(rawValue: phrase) { return .part(part) }
    if words.count == 1 { return .value(first) }
    let parts = AlarmSubject.Part.allCases.map(\.rawValue)
    let advice = NearestWord.advice(phrase, among: parts, otherwise: "known are \(parts.joined(separator: ", "))")
    throw error(
      "there is no \(Self.shown(phrase)): \(advice); a value whose name has blanks needs quotes", column)
  }

  private mutating func comparison(after subject: AlarmSubject) throws(AlarmRuleError) -> AlarmComparison {
    guard let column = skip() else {
      throw error("expected <, <=, >, >=, = or != after \(subject)", text.count + 1)
    }
    let start = next
    while next < text.count, isOperator(text[next]) { next += 1 }
    switch String(text[start..<next]) {
    case "<": return .less
    case "<=", "≤", "=<": return .lessOrEqual
    case ">": return .greater
    case ">=", "≥", "=>": return .greaterOrEqual
    case "=", "==": return .equal
    case "!=", "≠", "<>": return .notEqual
    default:
      next = start
      throw error("expected <, <=, >, >=, = or != after \(subject), not \(rest)", column)
    }
  }

  // MARK: - Limits

  private mutating func limit(
    _ subject: AlarmSubject, _ comparison: AlarmComparison
  ) throws(AlarmRuleError) -> AlarmRule.Condition {
    guard let column = skip() else {
      throw error("a limit is missing after \(comparison.rawValue)", text.count + 1)
    }
    if case .part(let part) = subject, let words = part.words {
      let word = text[next] == "\"" ? try quoted() : try takeWord()
      guard let word = word?.lowercased(), words.contains(word) else {
        throw error("\(subject) is \(NameWords.list(words, "or"))", column)
      }
      guard part.isOrdered || comparison.isEquality else {
        throw error("\(subject) is a word, and can only be compared by = and !=", column)
      }
      return .word(subject, comparison, word)
    }
    guard text[next] != "\"", isNumber(at: next) else { return try word(subject, comparison, column) }
    let number = try number()
    return .number(subject, comparison, number, try unit(of: subject))
  }

  private mutating func word(
    _ subject: AlarmSubject, _ comparison: AlarmComparison, _ column: Int
  ) throws(AlarmRuleError) -> AlarmRule.Condition {
    guard case .value(let name) = subject else {
      throw error("the limit of \(subject) is a number\(Self.example(subject)), not \(rest)", column)
    }
    guard comparison.isEquality else {
      throw error(
        "the limit must be a number, not \(rest); words can only be compared by = and !=", column)
    }
    let word = text[next] == "\"" ? try quoted() : try takeWord()
    guard let word else { throw error("expected a number or a word to compare \(name) with, not \(rest)", column) }
    return .word(subject, comparison, word)
  }

  private static func example(_ subject: AlarmSubject) -> String {
    guard case .part(let part) = subject, let unit = part.unit else { return "" }
    return ", in \(unit) for example"
  }

  /// The unit after a limit. Throws for one that the subject isn't measured in.
  private mutating func unit(of subject: AlarmSubject) throws(AlarmRuleError) -> MeasurementUnit? {
    let column = skip() ?? text.count + 1
    guard let unit = try unit() else {
      guard case .part(let part) = subject, let own = part.unit else { return nil }
      guard part.needsNoUnit else {
        throw error("the limit of \(subject) needs a unit: \(Self.units(like: own))", column)
      }
      return own
    }
    if case .part(let part) = subject {
      guard let own = part.unit else { throw error("\(subject) has no unit", column) }
      guard own.measuresLike(unit) else {
        throw error("\(subject) is measured in \(Self.units(like: own)), not in \(unit)", column)
      }
    }
    return unit
  }

  private static func units(like unit: MeasurementUnit) -> String {
    NameWords.list(MeasurementUnit.known.filter { $0.measuresLike(unit) }.map(\.rawValue), "or")
  }

  // MARK: - Options

  private mutating func delay(_ rule: inout AlarmRule, _ column: Int) throws(AlarmRuleError) {
    if case .silence = rule.condition { throw error("silent has its time already", column) }
    guard rule.delay == .zero else { throw error("for is given twice", column) }
    _ = try takeWord()
    let place = skip() ?? text.count + 1
    let time = try time()
    guard time > .zero, time <= AlarmRule.delayLimit else {
      throw error("the time after for is from 1 ms to \(AlarmTime.text(AlarmRule.delayLimit))", place)
    }
    rule.delay = time
  }

  private mutating func hysteresis(_ rule: inout AlarmRule, _ column: Int) throws(AlarmRuleError) {
    guard case .number(_, let comparison, _, let limitUnit) = rule.condition, !comparison.isEquality else {
      throw error("hysteresis is for a limit: battery < 20 % hysteresis 5 %", column)
    }
    guard rule.hysteresis == nil else { throw error("hysteresis is given twice", column) }
    _ = try takeWord()
    guard let place = skip(), isNumber(at: next) else {
      throw error("expected how far a reading must be beyond the limit, like hysteresis 5 %", skip() ?? text.count + 1)
    }
    let number = try number()
    guard number.millionths >= 0 else { throw error("hysteresis is a distance, and not negative", place) }
    let unitColumn = skip() ?? text.count + 1
    let unit = try unit()
    if let unit {
      guard let limitUnit else { throw error("the limit has no unit, so hysteresis has none", unitColumn) }
      guard limitUnit.measuresLike(unit) else {
        throw error("hysteresis must be in \(Self.units(like: limitUnit)), like the limit", unitColumn)
      }
    }
    rule.hysteresis = .init(distance: number, unit: unit == limitUnit ? nil : unit)
  }
}
