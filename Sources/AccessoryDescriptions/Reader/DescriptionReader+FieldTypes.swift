// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryCore
import AccessoryProtocols

// Reads the type of a field.
extension DescriptionReader {
  private static let byteTypes =
    numberTypes.map(\.name) + ["date16", "scattered", "number", "text", "text0", "ptext", "hex"]
  private static let textTypes = ["number", "hexnumber", "bitstring", "word", "text"]
  /// Keys that are valid only with some types.
  private static let options: [(key: String, types: [String])] = [
    ("bytes", ["text", "hex", "number"]), ("padding", ["text"]), ("places", ["scattered"]), ("sign", ["scattered"]),
    ("suffix", ["number"]), ("lowest_first", ["bitstring"]), ("as", ["hexnumber"]), ("translate", ["word"]),
    ("form", ["number", "hexnumber", "bitstring"]),
  ]

  mutating func fieldType(
    _ node: YAMLNode, _ keys: KeyedNodes, _ place: FieldPlace
  ) -> ProtocolDescription.FieldType? {
    guard case .scalar(let name) = node.content, !name.isEmpty else {
      report(
        node.mark, "the type of a field was expected, like \(place == .bytes ? "u16" : "number"), not \(kind(node))")
      return nil
    }
    for (key, types) in Self.options where !types.contains(name) {
      if let node = keys[key] {
        report(node.mark, "\(key) is only for the type \(NameWords.list(types, "or")), not for \(Quoted.text(name))")
      }
    }
    switch place {
    case .bytes: return byteType(name, node, keys)
    case .text: return textType(name, node, keys)
    }
  }

  private mutating func byteType(
    _ name: String, _ node: YAMLNode, _ keys: KeyedNodes
  ) -> ProtocolDescription.FieldType? {
    if let format = numberFormat(name) { return .number(format) }
    switch name {
    case "date16": return .packedDate(order)
    case "date16le": return .packedDate(.littleEndian)
    case "date16be": return .packedDate(.bigEndian)
    case "text0": return .terminatedText
    case "ptext": return .prefixedText
    case "text":
      let padding = bytes(keys, "padding") ?? Array("\0 ".utf8)
      guard keys["bytes"] != nil else { return .restOfText(padding: padding) }
      return number(keys, "bytes").map { .text(count: $0, padding: padding) }
    case "hex":
      if keys["bytes"] == nil { report(node.mark, "bytes is missing for type: hex: the number of bytes") }
      return number(keys, "bytes").map { .bytes($0) }
    case "number":
      if keys["bytes"] == nil {
        report(node.mark, "bytes is missing for type: number: the number of bytes that it takes")
      }
      return number(keys, "bytes").map { .digits($0) }
    case "scattered": return scattered(node, keys)
    default:
      report(name, node, Self.byteTypes, Self.textTypes, "fields and tags", "columns, pairs and patterns")
      return nil
    }
  }

  private mutating func textType(
    _ name: String, _ node: YAMLNode, _ keys: KeyedNodes
  ) -> ProtocolDescription.FieldType? {
    switch name {
    case "number":
      if let node = keys["bytes"] { report(node.mark, "bytes is only for numbers in bytes, not for those in text") }
      return .decimal(suffix: text(keys, "suffix") ?? "")
    case "hexnumber":
      guard let node = keys["as"] else { return .hexadecimal }
      guard let format = number(node, "as") else { return nil }
      guard format.encoding != .float else {
        report(node.mark, "as must be a type of whole number, not of a number with a fraction")
        return nil
      }
      if let form = keys["form"] {
        report(form.mark, "form can't be combined with as, which says how many digits there are")
      }
      return .hexadecimalBytes(format)
    case "bitstring":
      return .bitText(firstIsHighest: flag(keys, "lowest_first") != true)
    case "text": return .plainText
    case "word":
      guard let words = keys["translate"] else {
        report(node.mark, "translate is missing for type: word, like {ON: 1, OFF: 0}")
        return nil
      }
      return .word(wordNumbers(words))
    default:
      report(name, node, Self.textTypes, Self.byteTypes, "columns, pairs and patterns", "fields and tags")
      return nil
    }
  }

  private mutating func report(
    _ name: String, _ node: YAMLNode, _ known: [String], _ others: [String], _ here: String, _ there: String
  ) {
    guard problems.count < Self.problemLimit else { return }
    if others.contains(name) {
      report(
        node.mark, "\(name) is a type for \(there); for \(here) there are \(known.suffix(6).joined(separator: ", "))")
    } else {
      report(node.mark, "\(Quoted.text(name)) is not a type for \(here): \(KnownKeys.advice(name, among: known))")
    }
  }

  private mutating func scattered(
    _ node: YAMLNode, _ keys: KeyedNodes
  ) -> ProtocolDescription.FieldType? {
    guard let places = keys["places"] else {
      report(
        node.mark, "places are missing for type: scattered, like [0.2, 1.0..6], the most significant bits first")
      return nil
    }
    let bits = oneOrMore(places, "places", limit: 64).map { bitPlace($0) }
    let sign = keys["sign"].map { bitPlace($0) }
    guard !bits.contains(where: { $0 == nil }), sign.map({ $0 != nil }) ?? true else { return nil }
    let whole = bits.compactMap { $0 }
    guard whole.reduce(0, { $0 + $1.count }) <= 63 else {
      report(places.mark, "places are at most 63 bits together")
      return nil
    }
    if let sign = sign ?? nil, sign.count != 1 { report(keys["sign"]?.mark ?? node.mark, "sign is one bit") }
    return .scattered(whole, sign: sign ?? nil)
  }

  /// Reads bits of a byte of the body: "1.6" is bit 6 of byte 1, "1.0..6" its bits 0 to 6.
  private mutating func bitPlace(_ node: YAMLNode) -> ProtocolDescription.BitPlace? {
    if case .scalar(let text) = node.content {
      let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
      if parts.count == 2, let byte = Self.range(parts[0]), byte.count == 1, byte.lowerBound < 4_096,
        let bits = Self.range(parts[1]), bits.upperBound < 8
      {
        return ProtocolDescription.BitPlace(byte: byte.lowerBound, lowest: bits.lowerBound, count: bits.count)
      }
    }
    report(
      node.mark,
      "bits of a byte must be BYTE.BIT or BYTE.LOWEST..HIGHEST, like 1.0..6, with bits 0 to 7, not \(kind(node))")
    return nil
  }

  /// Reads the format of a number in text: a zero for each digit, as in 000.0 or 0x0000.
  mutating func textForm(_ node: YAMLNode, _ type: ProtocolDescription.FieldType) -> ProtocolDescription.TextForm? {
    if case .scalar(let whole) = node.content {
      let isPrefixed = type == .hexadecimal && whole.hasPrefix("0x")
      let text = isPrefixed ? whole.dropFirst(2) : whole[...]
      let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
      let areZeros = parts.allSatisfy { part in part.utf8.allSatisfy { $0 == UInt8(ascii: "0") } }
      let digits = parts[0].utf8.count
      let decimals = parts.count == 2 ? parts[1].utf8.count : 0
      let isDecimal = if case .decimal = type { true } else { false }
      if areZeros, (1...62).contains(digits), decimals <= 9, parts.count == 1 || decimals > 0 && isDecimal {
        var form = ProtocolDescription.TextForm(digits: digits, decimals: decimals)
        form.isPrefixed = isPrefixed
        return form
      }
    }
    report(node.mark, "form must have a zero for each digit that is sent, like 000.0, not \(kind(node))")
    return nil
  }

  // MARK: - Words in text

  /// Reads the raw number of each word in text: the number that the file gives it or, when the file gives words, the
  /// position of the entry.
  private mutating func wordNumbers(_ node: YAMLNode) -> [String: Int] {
    let entries = entries(node, "translate", limit: 256) ?? []
    let numbers = entries.map { whole($0.value) }
    var words: [String: Int] = [:]
    for (place, entry) in entries.enumerated() {
      if !isSent(entry) { continue }
      words[entry.key] = numbers[place] ?? place
    }
    if numbers.contains(nil), numbers.contains(where: { $0 != nil }) {
      report(
        node.mark, "translate must give all numbers, like {ON: 1, OFF: 0}, or all words, like {L: line, B: battery}")
    }
    return words
  }

  /// Reads the words that replace the words in text, by their raw numbers; empty when the file gives numbers.
  mutating func wordTexts(_ node: YAMLNode) -> [Int: String] {
    guard case .mapping(let entries) = node.content else { return [:] }
    var words: [Int: String] = [:]
    for (place, entry) in entries.enumerated() where whole(entry.value) == nil {
      words[place] = text(entry.value, "a word", limit: 64)
    }
    return words
  }

  private func whole(_ node: YAMLNode) -> Int? {
    guard case .scalar(let text) = node.content, node.style == .plain else { return nil }
    return WholeNumber.read(text).flatMap { $0 >= 0 && $0 < 1 << 32 ? $0 : nil }
  }

  private mutating func isSent(_ entry: YAMLNode.Entry) -> Bool {
    text(YAMLNode(content: .scalar(entry.key), mark: entry.mark), "a word", limit: 64) != nil
  }
}
