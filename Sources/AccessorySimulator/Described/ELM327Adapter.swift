// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// What an ELM327 does beside the requests of its description: it takes lines, has settings that AT commands change, and
/// writes the car's answers as they say.
///
/// The simulated car has one controller, on a CAN bus with 11-bit identifiers at 500 kbit/s.
struct ELM327Adapter: Sendable, Hashable {
  /// The description's name.
  static let protocolName = "elm327"
  /// The number that the adapter has for the car's bus, and its name.
  private static let bus = (number: "6", name: "ISO 15765-4 (CAN 11/500)")
  /// The identifier of the controller that answers.
  private static let controller = "7E8"
  /// Characters of the longest line.
  private static let longestLine = 254

  /// Whether each line is sent back.
  private(set) var isEchoing = true
  private var hasLineFeeds = false
  private var hasSpaces = true
  private var hasHeaders = false
  /// The number of the bus that is set, `0` while none was found; and whether it is looked for.
  private var bus = Self.bus.number
  private var isSearching = true

  private var line: [UInt8] = []
  private var lastCommand = ""

  // MARK: - Lines

  /// Adds a byte. Returns the line that it ends; nil when the line goes on.
  mutating func line(adding byte: UInt8) -> [UInt8]? {
    guard byte == 0x0D else {
      // Zero bytes and line feeds are ignored.
      if byte != 0, byte != 0x0A, line.count <= Self.longestLine { line.append(byte) }
      return nil
    }
    defer { line = [] }
    return line
  }

  /// The command in a line: without blanks, in capital letters. An empty line repeats the last command.
  mutating func command(_ line: [UInt8]) -> String {
    // The end of a line that is too long is lost, and the rest is no command.
    if line.count > Self.longestLine { return "" }
    let text = String(decoding: line.filter { $0 != 0x20 }, as: UTF8.self).uppercased()
    if !text.isEmpty { lastCommand = text }
    // The digit behind a request says how many answers are waited for.
    let isCounted = Self.isForTheCar(lastCommand) && lastCommand.utf8.count % 2 == 1
    return isCounted ? String(lastCommand.dropLast()) : lastCommand
  }

  /// The line as it is sent back.
  func echo(_ line: [UInt8]) -> [UInt8] { line + lineEnd }

  /// The bytes of an answer, with the prompt.
  func answer(_ lines: [String]) -> [UInt8] {
    lines.flatMap { Array($0.utf8) + lineEnd } + lineEnd + [UInt8(ascii: ">")]
  }

  private var lineEnd: [UInt8] { hasLineFeeds ? [0x0D, 0x0A] : [0x0D] }

  // MARK: - Settings

  /// Carries out a command for the adapter itself. Returns what it answers; nil for a command that it doesn't know.
  mutating func carryOut(_ command: String) -> String? {
    guard command.hasPrefix("AT") else { return nil }
    let word = command.dropFirst(2)
    switch word {
    case "Z", "WS", "D":
      (isEchoing, hasLineFeeds, hasSpaces, hasHeaders) = (true, false, true, false)
      return "OK"
    case "E0", "E1": isEchoing = word == "E1"
    case "L0", "L1": hasLineFeeds = word == "L1"
    case "S0", "S1": hasSpaces = word == "S1"
    case "H0", "H1": hasHeaders = word == "H1"
    case "DPN": return isSearching ? "A\(bus)" : bus
    case "DP":
      let name = bus == Self.bus.number ? Self.bus.name : bus == "0" ? "" : "USER"
      return [isSearching ? "AUTO" : "", name].filter { !$0.isEmpty }.joined(separator: ", ")
    case "AL", "NL", "AT0", "AT1", "AT2", "CAF0", "CAF1", "CFC0", "CFC1", "M0", "M1", "PC", "R0", "R1": break
    default:
      if word.hasPrefix("SP") || word.hasPrefix("TP") { return select(word.dropFirst(2)) ? "OK" : nil }
      guard Self.isNumber(word, after: "ST", digits: [2]) || Self.isNumber(word, after: "SH", digits: [3, 6]) else {
        return nil
      }
    }
    return "OK"
  }

  /// Chooses the bus: `6`, or `A6` for one that is tried before others, or `0` to look for it.
  private mutating func select(_ word: Substring) -> Bool {
    let isAutomatic = word.utf8.count == 2 && (word.hasPrefix("A") || word.hasPrefix("0")) || word == "0"
    guard let number = word.last, word.utf8.count == (isAutomatic && word != "0" ? 2 : 1),
      "0123456789ABC".contains(number)
    else { return false }
    (isSearching, bus) = (isAutomatic, String(number))
    return true
  }

  private static func isNumber(_ word: Substring, after name: String, digits: Set<Int>) -> Bool {
    let number = word.dropFirst(name.utf8.count)
    return word.hasPrefix(name) && digits.contains(number.utf8.count) && number.allSatisfy(\.isHexDigit)
  }

  // MARK: - The car

  /// Whether a command is a request for the car: hexadecimal digits.
  static func isForTheCar(_ command: String) -> Bool {
    command.utf8.count >= 2 && command.allSatisfy { $0.isASCII && $0.isHexDigit }
  }

  /// The lines that are sent before the car's answer while its bus is looked for; nil when the car isn't at the bus that
  /// is set.
  mutating func connect() -> [String]? {
    if bus == Self.bus.number { return [] }
    guard isSearching else { return nil }
    bus = Self.bus.number
    return ["SEARCHING..."]
  }

  /// The car's answer, as the settings say.
  func carLine(_ bytes: [UInt8]) -> String {
    // Behind the identifier is the byte that counts the others, as on the bus.
    let shown = hasHeaders ? [UInt8(truncatingIfNeeded: bytes.count)] + bytes : bytes
    let pieces = (hasHeaders ? [Self.controller] : []) + shown.map { Hexadecimal.string([$0]).uppercased() }
    return hasSpaces ? pieces.map { $0 + " " }.joined() : pieces.joined()
  }

  /// The answer to the question which of the next 32 values a car knows: one bit for each, the highest the first. `known`
  /// are the numbers of all values. Nil where it knows none from there on.
  static func knownValues(_ known: Set<UInt8>, from first: UInt8) -> [UInt8]? {
    guard first % 0x20 == 0, first == 0 || known.contains(where: { $0 > first }) else { return nil }
    var bits: UInt32 = 0
    for number in known where number > first {
      // The last bit says that there are more behind these.
      bits |= 1 << UInt32(max(0, 32 - (Int(number) - Int(first))))
    }
    return [0x41, first] + (0..<4).map { UInt8(truncatingIfNeeded: bits >> (24 - 8 * $0)) }
  }
}
