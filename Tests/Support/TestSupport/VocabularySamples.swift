// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

extension ReadingTerm {
  /// A number that the quantity can be.
  package var sample: Int { measure.map { $0.places == 0 ? 42 : 12_345 } ?? 0 }

  /// Writes something that the quantity can be.
  package func fill(_ reading: inout Reading) {
    switch form {
    case .number: set(sample, in: &reading)
    case .word(let words, _, let set): set(&reading, words[0])
    case .list(_, _, _, _, let set): set(&reading, [ReadingElement(sample - 1_000), ReadingElement(sample)])
    case .names(_, let set): set(&reading, ["overheated"])
    }
  }
}

extension ReadingTerm where Reading == BatteryReading {
  /// A reading of which nothing else is known.
  package var sampleReading: BatteryReading {
    var reading = BatteryReading()
    fill(&reading)
    return reading
  }
}

extension Vocabulary {
  /// The rows of the battery but that of the tenths, which are the decimals of the charge, and are shown in its place.
  package static let ownRows = battery.indices.filter { battery[$0].key != BatteryReading.Field.percentTenths.rawValue }
}

extension BatteryReading {
  /// The fields of a battery in a document, as JSON: these, and all others of the vocabulary unknown.
  package static func document(_ known: [String: String] = [:]) -> String {
    var fields = ["derived": "[]", "level_origin": #""reported""#]
    for term in Vocabulary.battery { fields[term.key] = term.words.isEmpty ? "null" : #""unknown""# }
    let all = fields.merging(known) { $1 }.sorted { $0.key < $1.key }
    return "{" + all.map { #""\#($0.key)":\#($0.value)"# }.joined(separator: ",") + "}"
  }
}
