// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols

/// Writes values as text.
enum TextWriting {
  /// The text that the field has for a value.
  static func text(_ field: ProtocolDescription.Field, _ value: PlainValue?) -> [UInt8] {
    switch value {
    case nil, .nothing?:
      if let unknown = field.unknownTexts.first { return Array(unknown.utf8) }
      if field.dashesMeanUnknown { return field.type == .plainText ? [] : dashes(field.form) }
      if field.unknownNumbers.isEmpty, case .plainText = field.type { return [] }
    default: break
    }
    switch field.type {
    case .decimal(let suffix): return Array((decimal(field, value) + suffix).utf8)
    case .hexadecimalBytes(let format):
      let digits = format.bytes(of: format.nearest(to: field.raw(for: value) ?? 0)).map { Hexadecimal.string($0) } ?? ""
      return Array(digits.uppercased().utf8)
    case .hexadecimal:
      let digits = String(UInt(bitPattern: field.raw(for: value) ?? 0), radix: 16, uppercase: true)
      let padding = String(repeating: "0", count: max(0, (field.form?.digits ?? 0) - digits.count))
      return Array(((field.form?.isPrefixed ?? true ? "0x" : "") + padding + digits).utf8)
    case .bitText(let firstIsHighest):
      let lowest = min(62, field.bits?.lowest ?? 0)
      let raw = UInt64(truncatingIfNeeded: field.raw(for: value) ?? 0) << UInt64(lowest)
      let count = min(62, max(field.form?.digits ?? 0, (field.flags.keys.max() ?? lowest) + 1))
      return (0..<count).map { place in
        let bit = UInt64(firstIsHighest ? count - 1 - place : place)
        return raw >> bit & 1 == 1 ? UInt8(ascii: "1") : UInt8(ascii: "0")
      }
    case .word(let words):
      if case .text(let word)? = value, words[word] != nil { return Array(word.utf8) }
      let raw = field.raw(for: value)
      // If several words have the number, the first in alphabetical order is used, so that the result is always the
      // same.
      if let word = words.filter({ $0.value == raw }).keys.sorted().first { return Array(word.utf8) }
      // A word that isn't described is sent as it was received.
      if case .text(let word)? = value { return Array(word.utf8.prefix(ProtocolDescription.Limit.text)) }
      return []
    default:
      if case .text(let text)? = value { return Array(text.utf8.prefix(ProtocolDescription.Limit.text)) }
      return []
    }
  }

  /// A dash in place of each digit.
  private static func dashes(_ form: ProtocolDescription.TextForm?) -> [UInt8] {
    guard let form else { return Array("---".utf8) }
    let dashes = [UInt8](repeating: UInt8(ascii: "-"), count: form.digits)
    let behind = [UInt8](repeating: UInt8(ascii: "-"), count: form.decimals)
    return behind.isEmpty ? dashes : dashes + [UInt8(ascii: ".")] + behind
  }

  /// A decimal number: with the digits of the field's form, or without a form as exact as the value. A number with more digits in front of
  /// the point has fewer behind it, so that the field keeps its width: others find what follows by its place.
  private static func decimal(_ field: ProtocolDescription.Field, _ value: PlainValue?) -> String {
    guard let form = field.form else {
      if let raw = field.raw(for: value), isWhole(field, value, raw) { return String(raw) }
      guard let number = value?.asNumber else { return "0" }
      return "\(field.formula.linear?.inverse(number) ?? 0)"
    }
    let number = field.formula.linear?.inverse(value?.asNumber ?? 0) ?? 0
    let width = form.digits + form.decimals + (form.decimals == 0 ? 0 : 1)
    var text = "0"
    for decimals in (0...min(form.decimals, 9)).reversed() {
      let factor = (0..<decimals).reduce(1.0) { power, _ in power * 10 }
      guard let whole = Int(exactly: (number * factor).rounded()) else { continue }
      let digits = String(whole.magnitude)
      // Without a point there is room for one more digit.
      let count = decimals == 0 ? width : width - 1
      let padded = String(repeating: "0", count: max(0, count - digits.count)) + digits
      let point = decimals == 0 ? "" : ".\(padded.suffix(decimals))"
      text = "\(whole < 0 ? "-" : "")\(padded.dropLast(decimals))\(point)"
      if padded.count <= count { break }
    }
    return text
  }

  private static func isWhole(_ field: ProtocolDescription.Field, _ value: PlainValue?, _ raw: Int) -> Bool {
    // A number that stands for a word is sent as it is.
    guard field.words.isEmpty, let number = value?.asNumber else { return true }
    return field.meaning(of: raw).asNumber == number
  }

  /// Combines the bits of several fields in one column: a bit is 1 if it is 1 in either text.
  private static func joined(_ first: [UInt8], _ second: [UInt8], _ firstIsHighest: Bool) -> [UInt8] {
    let count = max(first.count, second.count)
    func filled(_ bits: [UInt8]) -> [UInt8] {
      let zeros = [UInt8](repeating: 0x30, count: count - bits.count)
      return firstIsHighest ? zeros + bits : bits + zeros
    }
    return zip(filled(first), filled(second)).map { max($0, $1) }
  }

  /// The text in exactly as many characters as a column has: numbers with leading zeros, other texts with blanks behind
  /// them.
  private static func filled(_ piece: [UInt8], _ column: ProtocolDescription.Column) -> [UInt8] {
    let missing = max(0, column.count - piece.count)
    switch column.field.type {
    case .decimal, .hexadecimal, .hexadecimalBytes, .bitText:
      // The sign stays in front of the zeros. Dashes, which mean "unknown", are padded with dashes.
      let sign = piece.first == UInt8(ascii: "-") && !piece.areDashes ? piece.prefix(1) : []
      let padding = [UInt8](repeating: piece.areDashes ? UInt8(ascii: "-") : 0x30, count: missing)
      return Array((sign + padding + piece.dropFirst(sign.count)).suffix(column.count))
    default: return Array((piece + [UInt8](repeating: 0x20, count: missing)).prefix(column.count))
    }
  }

  /// Columns side by side. A column that isn't described is sent as 0.
  static func columns(_ columns: ProtocolDescription.Columns, _ values: [String: PlainValue]) -> [UInt8] {
    var text: [UInt8] = []
    var pieces: [Int: [UInt8]] = [:]
    for column in columns.columns where !column.isOptional || values[column.field.name] != nil {
      let piece = self.text(column.field, values[column.field.name])
      if columns.separation == .places {
        let end = column.place + column.count
        if text.count < end { text += [UInt8](repeating: 0x20, count: end - text.count) }
        text.replaceSubrange(column.place..<end, with: filled(piece, column))
      } else if case .bitText(let firstIsHighest) = column.field.type, let other = pieces[column.place] {
        pieces[column.place] = joined(other, piece, firstIsHighest)
      } else {
        pieces[column.place] = piece
      }
    }
    guard columns.separation != .places, let last = pieces.keys.max() else { return text }
    var separator = UInt8(ascii: " ")
    if case .byte(let byte) = columns.separation { separator = byte }
    for place in 0...last { text += (place == 0 ? [] : [separator]) + (pieces[place] ?? [0x30]) }
    return text
  }
}
