// SPDX-License-Identifier: Apache-2.0

// The parts of a rule: words, numbers, units and times.

extension AlarmRuleParser {
  /// Skips blanks. Returns the column of what follows; nil at the end.
  mutating func skip() -> Int? {
    while next < text.count, text[next] == " " { next += 1 }
    return next < text.count ? next + 1 : nil
  }

  func isOperator(_ character: Character) -> Bool { "<>=!≤≥≠".contains(character) }

  func isNumber(at place: Int) -> Bool {
    guard place < text.count else { return false }
    let first = text[place]
    if first.isASCII, first.isNumber { return true }
    guard "+-.".contains(first), place + 1 < text.count else { return false }
    return text[place + 1].isASCII && text[place + 1].isNumber
  }

  func peekWord() -> String? {
    let word = text[next...].prefix(while: AlarmWords.isOfWord)
    return word.isEmpty ? nil : String(word)
  }

  mutating func takeWord() throws(AlarmRuleError) -> String? {
    let column = next + 1
    guard let word = peekWord() else { return nil }
    guard word.utf8.count <= ReadingLimits.nameBytes else {
      throw error("a name has at most \(ReadingLimits.nameBytes) bytes", column)
    }
    next += word.count
    return word
  }

  /// A text in quotes, in which `\` takes the next character as it is.
  mutating func quoted() throws(AlarmRuleError) -> String {
    let column = next + 1
    next += 1
    var content = ""
    while next < text.count, text[next] != "\"" {
      if text[next] == "\\" { next += 1 }
      guard next < text.count else { break }
      content.append(text[next])
      next += 1
    }
    guard next < text.count else { throw error("the quotes aren't closed", column) }
    next += 1
    guard (1...ReadingLimits.nameBytes).contains(content.utf8.count) else {
      throw error("a name in quotes has 1 to \(ReadingLimits.nameBytes) bytes", column)
    }
    return content
  }

  mutating func number() throws(AlarmRuleError) -> AlarmNumber {
    let column = next + 1
    let start = next
    if "+-".contains(text[next]) { next += 1 }
    while next < text.count, text[next] == "." || (text[next].isASCII && text[next].isNumber) { next += 1 }
    guard let number = AlarmNumber(text: String(text[start..<next])) else {
      throw error("a number is within ±1000000000 and has up to 6 decimal places, like 20 or -3.5", column)
    }
    return number
  }

  /// The unit after a number; nil where an option or the end follows.
  mutating func unit() throws(AlarmRuleError) -> MeasurementUnit? {
    guard let column = skip() else { return nil }
    let symbol = String(text[next...].prefix { $0 != " " && $0 != "\"" && !isOperator($0) })
    guard !symbol.isEmpty, !AlarmWords.options.contains(symbol.lowercased()) else { return nil }
    guard let unit = MeasurementUnit(typed: symbol) else {
      let nearest = NearestWord.find(symbol, among: MeasurementUnit.known.map(\.rawValue))
      let advice = nearest?.question.map { $0 + " " } ?? ""
      throw error(
        "\(Self.shown(symbol)) is no unit: \(advice)without a unit the limit is in the value's own", column)
    }
    next += symbol.count
    return unit
  }

  mutating func time() throws(AlarmRuleError) -> Duration {
    guard let column = skip(), isNumber(at: next) else {
      throw error("expected a time, like 30 s or 5 min", skip() ?? text.count + 1)
    }
    let number = try number()
    _ = skip()
    let symbol = try takeWord() ?? ""
    guard let time = AlarmTime.read(number, symbol) else {
      throw error("a time is a number with ms, s, min, h or d, like 30 s or 5 min", column)
    }
    return time
  }

  // MARK: - Errors

  /// What follows, for an error.
  var rest: String { next < text.count ? Self.shown(String(text[next...])) : "the end" }

  static func shown(_ text: String) -> String { "\"" + SafeText.escape(text, limit: 32) + "\"" }

  func error(_ message: String, _ column: Int) -> AlarmRuleError {
    AlarmRuleError(column: column, message: message)
  }
}
