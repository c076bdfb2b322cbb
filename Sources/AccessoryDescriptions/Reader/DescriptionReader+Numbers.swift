// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryProtocols

// Reads numbers, fractions and bits.
extension DescriptionReader {
  /// The range of all numbers in a description, so that calculations with them don't overflow.
  static let widest = -1_000_000_000_000...1_000_000_000_000

  /// Reads a whole number that is a key.
  mutating func integer(_ entry: YAMLNode.Entry, _ what: String, _ range: ClosedRange<Int>) -> Int? {
    integer(YAMLNode(content: .scalar(entry.key), mark: entry.mark), what, range)
  }

  /// Reads a mapping from numbers, such as words, flags or tags. Reports a repeated number, also in different
  /// notations.
  mutating func numbered<Value>(
    _ node: YAMLNode, _ what: String, _ range: ClosedRange<Int>, limit: Int = 256,
    _ read: (inout Self, YAMLNode) -> Value?
  ) -> [Int: Value] {
    var values: [Int: Value] = [:]
    for entry in entries(node, what, limit: limit) ?? [] {
      guard let number = integer(entry, "a number of \(what)", range) else { continue }
      guard values[number] == nil else {
        report(entry.mark, "the number \(number) is given twice")
        continue
      }
      values[number] = read(&self, entry.value)
    }
    return values
  }

  /// Parses a decimal number or a fraction, in lowest terms; nil when it is neither, or has too many digits.
  package static func fraction(_ text: String) -> ProtocolDescription.Fraction? {
    let isNegative = text.utf8.first == UInt8(ascii: "-")
    let amount = isNegative ? text.dropFirst() : text[...]
    let separator: Character = amount.contains("/") ? "/" : "."
    let parts = amount.split(separator: separator, maxSplits: 2, omittingEmptySubsequences: false)
    let numbers = parts.map { digits(of: $0, limit: 9) }
    var (numerator, denominator) = (0, 1)
    switch (numbers.count, numbers.first ?? nil) {
    case (1, let whole?): numerator = whole
    case (2, let first?):
      guard let second = numbers[1] else { return nil }
      if separator == "/" {
        (numerator, denominator) = (first, second)
      } else {
        for _ in parts[1] { denominator *= 10 }
        numerator = first * denominator + second
      }
    default: return nil
    }
    guard denominator > 0 else { return nil }
    let divisor = commonDivisor(numerator, denominator)
    return ProtocolDescription.Fraction(
      (isNegative ? -numerator : numerator) / divisor, over: denominator / divisor)
  }

  private static func digits(of text: Substring, limit: Int) -> Int? {
    guard (1...limit).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
      return nil
    }
    return Int(text)
  }

  private static func commonDivisor(_ first: Int, _ second: Int) -> Int {
    var (first, second) = (first, second)
    while second != 0 { (first, second) = (second, first % second) }
    return max(1, first)
  }

  /// Reads a selection from `count` bits: "3" or "0..3".
  mutating func bits(_ node: YAMLNode, of count: Int, stays: Bool) -> ProtocolDescription.Bits? {
    if case .scalar(let text) = node.content, let range = Self.range(text), range.upperBound < count {
      return ProtocolDescription.Bits(lowest: range.lowerBound, count: range.count, staysHere: stays)
    }
    report(
      node.mark, "bits must be one of 0 to \(count - 1), or a range like 0..3, the lowest first, not \(kind(node))")
    return nil
  }

  /// Parses "3" or "0..3".
  package static func range(_ text: some StringProtocol) -> ClosedRange<Int>? {
    let ends = ends(of: text)
    let numbers = ends.map { digits(of: Substring($0), limit: 4) }
    guard let first = numbers[0], let last = numbers[numbers.count - 1], first <= last else { return nil }
    return first...last
  }

  /// The text before and after ".."; the whole text when it has none.
  static func ends(of text: some StringProtocol) -> [String] {
    let bytes = Array(text.utf8)
    let dots = [UInt8(ascii: "."), UInt8(ascii: ".")]
    guard let place = bytes.indices.dropLast().first(where: { Array(bytes[$0...($0 + 1)]) == dots }) else {
      return [String(text)]
    }
    return [String(decoding: bytes[..<place], as: UTF8.self), String(decoding: bytes[(place + 2)...], as: UTF8.self)]
  }
}
