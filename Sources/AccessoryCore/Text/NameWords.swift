// SPDX-License-Identifier: Apache-2.0

/// Names of values and commands, for people.
package enum NameWords {
  /// A name of the kind `port_4` as a title: "Port 4". Not escaped.
  package static func title(_ name: String) -> String {
    let words = name.split { $0 == "_" || $0 == "-" || $0 == " " }.joined(separator: " ")
    guard let first = words.first else { return name.isEmpty ? "Value" : name }
    return first.uppercased() + words.dropFirst()
  }

  /// The names in a sentence, with a word in front of the last: "a, b or c".
  package static func list(_ names: [String], _ word: String) -> String {
    guard let last = names.last, names.count > 1 else { return names.first ?? "" }
    return "\(names.dropLast().joined(separator: ", ")) \(word) \(last)"
  }
}
