// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols

/// What is wrong in the text of a formula.
public struct FormulaError: Error, Sendable, Hashable {
  /// The character, from 1, at which it is wrong.
  public var column: Int
  /// What is wrong, and what was expected.
  public var message: String
}

extension ProtocolDescription.Formula {
  /// The longest text, in bytes.
  public static let textLimit = 4_096
  /// The deepest nesting of parentheses and functions.
  public static let depthLimit = 24
  /// The most parts.
  public static let partLimit = 256

  /// Reads a formula such as `(raw - 2731) / 10`. The work is bounded by the limits above.
  public init(_ text: String) throws(FormulaError) {
    guard text.utf8.count <= Self.textLimit else {
      throw FormulaError(column: 1, message: "a formula has at most \(Self.textLimit) bytes, not \(text.utf8.count)")
    }
    var parser = try FormulaParser(text)
    self.init(root: try parser.formula())
  }
}

private struct FormulaParser {
  typealias Node = ProtocolDescription.Formula.Node
  typealias Operator = ProtocolDescription.Formula.Operator

  private enum Token: Equatable {
    case number(ProtocolDescription.Fraction)
    case text(String)
    case word(String)
    case sign(String)
    case end
  }

  private var tokens: [(token: Token, column: Int)] = []
  private var place = 0
  private var depth = 0
  private var partCount = 0

  /// The encodings by their words.
  private static let encodings: [String: ProtocolDescription.NumberFormat.Encoding] = [
    "unsigned": .unsigned, "signed": .signed, "sign_magnitude": .signMagnitude, "bcd": .bcd,
  ]

  init(_ text: String) throws(FormulaError) {
    let characters = Array(text.unicodeScalars)
    var index = 0
    while index < characters.count {
      let column = index + 1
      let first = characters[index]
      if first == " " || first == "\n" {
        index += 1
      } else if first == "'" || first == "\"" {
        guard let end = characters[(index + 1)...].firstIndex(of: first) else {
          throw FormulaError(column: column, message: "the text that begins here has no end: \(first)")
        }
        tokens.append((.text(Self.string(characters[(index + 1)..<end])), column))
        index = end + 1
      } else if Self.isWord(first) {
        let end = characters[index...].firstIndex { !Self.isWord($0) && $0 != "-" } ?? characters.count
        // A number ends before a minus; a name may have one.
        let plain = characters[index...].firstIndex { !Self.isWord($0) } ?? characters.count
        if let number = Self.number(Self.string(characters[index..<plain])) {
          tokens.append((.number(number), column))
          index = plain
        } else {
          tokens.append((.word(Self.string(characters[index..<end])), column))
          index = end
        }
      } else {
        let two = Self.string(characters[index..<min(index + 2, characters.count)])
        let sign = ["==", "!=", "<=", ">="].contains(two) ? two : String(Character(first))
        guard ["+", "-", "*", "/", "(", ")", ",", "<", ">", "==", "!=", "<=", ">="].contains(sign) else {
          let advice = sign == "=" ? ": == compares" : sign == "%" ? ": / 100 is a hundredth" : ""
          throw FormulaError(column: column, message: "\(Quote.text(sign)) has no meaning in a formula\(advice)")
        }
        tokens.append((.sign(sign), column))
        index += sign.unicodeScalars.count
      }
    }
    tokens.append((.end, characters.count + 1))
  }

  private static func string(_ characters: ArraySlice<Unicode.Scalar>) -> String {
    var text = String.UnicodeScalarView()
    text.append(contentsOf: characters)
    return String(text)
  }

  private static func isWord(_ scalar: Unicode.Scalar) -> Bool {
    ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar) || ("0"..."9").contains(scalar) || scalar == "_"
      || scalar == "."
  }

  /// A whole number of up to 12 digits, one in hexadecimal of up to 12, or one with up to nine digits behind its point.
  private static func number(_ text: String) -> ProtocolDescription.Fraction? {
    if text.hasPrefix("0x") || text.hasPrefix("0X") {
      let digits = text.utf8.dropFirst(2)
      guard (1...12).contains(digits.count) else { return nil }
      return Int(String(text.dropFirst(2)), radix: 16).map { .init($0) }
    }
    let parts = text.split(separator: ".", maxSplits: 2, omittingEmptySubsequences: false)
    guard (1...2).contains(parts.count),
      parts.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }),
      parts[0].utf8.count <= 12
    else { return nil }
    if parts.count == 1 { return Int(parts[0]).map { .init($0) } }
    guard parts[0].utf8.count <= 9, parts[1].utf8.count <= 9, let whole = Int(parts[0]), let rest = Int(parts[1]) else {
      return nil
    }
    let divisor = parts[1].utf8.reduce(1) { power, _ in power * 10 }
    return .reduced(whole * divisor + rest, over: divisor)
  }

  // MARK: - Grammar

  private var token: Token { tokens[place].token }

  private func error(_ message: String) -> FormulaError { FormulaError(column: tokens[place].column, message: message) }

  /// The next token in an error message.
  private var found: String {
    switch token {
    case .number: "a number"
    case .text(let text): "the text \(Quote.text(text))"
    case .word(let word): Quote.text(word)
    case .sign(let sign): Quote.text(sign)
    case .end: "the end"
    }
  }

  mutating func formula() throws(FormulaError) -> Node {
    let node = try whole()
    guard token == .end else {
      throw error("an operator, like + or *, was expected, not \(found)")
    }
    return node
  }

  /// The operators that bind equally, from the weakest.
  private static let levels: [[Operator]] = [
    [.or], [.and], [.equals, .differs, .less, .lessOrEqual, .greater, .greaterOrEqual, .isIn], [.plus, .minus],
    [.times, .dividedBy],
  ]

  private mutating func whole() throws(FormulaError) -> Node {
    depth += 1
    defer { depth -= 1 }
    guard depth <= ProtocolDescription.Formula.depthLimit else {
      throw error("a formula is nested at most \(ProtocolDescription.Formula.depthLimit) deep")
    }
    return try binary(0)
  }

  private mutating func binary(_ level: Int) throws(FormulaError) -> Node {
    guard level < Self.levels.count else { return try unary() }
    // `not` covers a comparison: not a == b.
    if level == 2, token == .word("not") {
      place += 1
      return try counted(.not(try nested { parser throws(FormulaError) in try parser.binary(2) }))
    }
    var left = try binary(level + 1)
    var isComparison = false
    while let sign = binaryOperator(level) {
      if isComparison { throw error("only two values can be compared: join comparisons by and") }
      isComparison = level == 2
      place += 1
      let column = tokens[place].column
      let right = try binary(level + 1)
      if sign == .dividedBy, case .number(let number) = right, number.numerator == 0 {
        throw FormulaError(column: column, message: "nothing can be divided by 0")
      }
      left = try counted(.operation(sign, left, right))
    }
    return left
  }

  private func binaryOperator(_ level: Int) -> Operator? {
    let text: String
    switch token {
    case .sign(let sign): text = sign
    case .word(let word): text = word
    default: return nil
    }
    return Operator(rawValue: text).flatMap { Self.levels[level].contains($0) ? $0 : nil }
  }

  private mutating func unary() throws(FormulaError) -> Node {
    guard token == .sign("-") else { return try single() }
    place += 1
    return try counted(.negated(try nested { parser throws(FormulaError) in try parser.unary() }))
  }

  /// Runs `read` one level deeper, so that a row of signs is no deeper than parentheses.
  private mutating func nested(
    _ read: (inout Self) throws(FormulaError) -> Node
  ) throws(FormulaError) -> Node {
    depth += 1
    defer { depth -= 1 }
    guard depth <= ProtocolDescription.Formula.depthLimit else {
      throw error("a formula is nested at most \(ProtocolDescription.Formula.depthLimit) deep")
    }
    return try read(&self)
  }

  private mutating func single() throws(FormulaError) -> Node {
    switch token {
    case .number(let number):
      place += 1
      return try counted(.number(number))
    case .text(let text):
      place += 1
      return try counted(.text(text))
    case .word(let word): return try named(word)
    case .sign("("):
      place += 1
      let node = try whole()
      guard token == .sign(")") else { throw error("a ) was expected, not \(found)") }
      place += 1
      return node
    default: throw error("a number, a name or a ( was expected, not \(found)")
    }
  }

  private mutating func named(_ word: String) throws(FormulaError) -> Node {
    if tokens[place + 1].token == .sign("(") { return try call(word) }
    if ["and", "or", "not", "in"].contains(word) { throw error("a value was expected, not \(Quote.text(word))") }
    if let first = word.utf8.first, (0x30...0x39).contains(first), word.utf8.allSatisfy({ $0 <= 0x39 && $0 != 0x2D }) {
      throw error("a number has at most 12 digits, or with a point nine on each side of it")
    }
    place += 1
    if word == "raw" { return try counted(.raw(nil)) }
    if let encoding = Self.encodings[word] { return try counted(.raw(encoding)) }
    return try counted(.name(word))
  }

  private mutating func call(_ name: String) throws(FormulaError) -> Node {
    guard let function = ProtocolDescription.Formula.Function(rawValue: name) else {
      let known = ProtocolDescription.Formula.Function.allCases.map(\.rawValue).joined(separator: ", ")
      throw error("\(Quote.text(name)) is not a function: there are \(known)")
    }
    let start = place
    place += 2
    var parts: [Node] = []
    if token != .sign(")") {
      parts.append(try whole())
      while token == .sign(",") {
        place += 1
        parts.append(try whole())
      }
    }
    guard token == .sign(")") else { throw error("a ) or a comma was expected, not \(found)") }
    guard function.counts.contains(parts.count) else {
      place = start
      let counts = function.counts
      let wanted = counts.count == 1 ? "\(counts.lowerBound)" : "\(counts.lowerBound) to \(counts.upperBound)"
      throw error("\(name) needs \(wanted) value\(counts == 1...1 ? "" : "s"), not \(parts.count)")
    }
    if function == .number, case .name = parts[0] {
    } else if function == .number {
      place = start
      throw error("number needs the name of a value")
    }
    place += 1
    return try counted(.call(function, parts))
  }

  /// Counts a part.
  private mutating func counted(_ node: Node) throws(FormulaError) -> Node {
    partCount += 1
    guard partCount <= ProtocolDescription.Formula.partLimit else {
      throw error("a formula has at most \(ProtocolDescription.Formula.partLimit) parts")
    }
    return node
  }
}

/// Quotes a piece of a formula in an error message.
private enum Quote {
  static func text(_ text: String) -> String { "\"" + SafeText.escape(text, limit: 40) + "\"" }
}
