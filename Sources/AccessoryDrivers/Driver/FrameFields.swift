// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDescriptions
import AccessoryLink
import AccessoryProtocols

// Helpers for all types that describe frames in words.

extension FrameWords {
  /// A text from the accessory, or for it, escaped and in quotes.
  package static func quoted(_ text: String, limit: Int = 48) -> String { "\"\(SafeText.escape(text, limit: limit))\"" }

  /// Bytes that may be a text, escaped and in quotes. Only as many bytes are decoded as may be shown.
  package static func quoted(_ bytes: some Collection<UInt8>, limit: Int = 48) -> String {
    let isCut = bytes.count > 4 * limit
    return quoted(String(decoding: bytes.prefix(4 * limit), as: UTF8.self), limit: limit) + (isCut ? "…" : "")
  }

  /// A Swift identifier in words: "minimumInterval" becomes "minimum interval".
  package static func spaced(_ word: some Any) -> String {
    "\(word)".reduce(into: "") { $0 += $1.isUppercase ? " " + $1.lowercased() : String($1) }
  }
}

extension [FrameRead] {
  /// The same reads, with successive runs of noise in one direction joined. For readers that get bytes in small pieces.
  package var withNoiseJoined: [FrameRead] {
    var joined: [FrameRead] = []
    for read in self {
      if case .noise(let more) = read.content, let last = joined.last, case .noise(let count) = last.content,
        last.direction == read.direction
      {
        joined[joined.count - 1].content = .noise(byteCount: count + more)
      } else {
        joined.append(read)
      }
    }
    return joined
  }
}

extension FrameField {
  package init(_ name: String, _ number: some BinaryInteger) { self.init(name, .whole(Int(clamping: number))) }
  package init(_ name: String, _ text: String) { self.init(name, .text(text)) }

  /// A number of a battery in its published unit: by the name of the vocabulary, and by the one that traces had before; nothing
  /// where it isn't known.
  package static func battery(_ field: BatteryReading.Field, _ count: (some BinaryInteger)?) -> [FrameField] {
    guard let count else { return [] }
    return [field.term.key, field.term.trace].compactMap { $0.map { FrameField($0, count) } }
  }

  /// The numbers of a battery among described values, by the names and in the units of the vocabulary.
  package static func battery(_ values: [DescribedValue]) -> [FrameField] {
    values.compactMap { value in
      guard let term = DescribedPart.ofBattery(value.name)?.term,
        case .number(let measure, _, _) = term.form, let number = value.value.asNumber,
        let count = Int(exactly: (number * measure.factor(from: value.unit)).rounded()), measure.range.contains(count),
        !values.contains(where: { $0.name == term.key })
      else { return nil }
      return FrameField(term.key, count)
    }
  }

  /// A Swift identifier in snake case: "notInitialized" becomes "not_initialized".
  package static func word(_ word: some Any) -> PlainValue {
    .text("\(word)".reduce(into: "") { $0 += $1.isUppercase ? "_" + $1.lowercased() : String($1) })
  }
}
