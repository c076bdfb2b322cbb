// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration

/// What is known about a message while its fields are read.
struct MessageScope {
  /// The index of the message's framing.
  var framing: Int
  /// Further framings that the message may have.
  var otherFramings: [Int] = []
  /// The names of the message's fields so far.
  var fields: [String] = []
  /// The names of those fields that are whole numbers, and so can be counts.
  var counting: Set<String> = []
  /// Fields that were referred to before they were read, with the place of the reference.
  var wanted: [(name: String, mark: YAMLMark, what: String)] = []

  /// The number of groups around the current field. Inside a group, a field's values are a list.
  var groups = 0

  init(framing: Int) { self.framing = framing }
}

extension DescriptionReader {
  /// Reports references to fields that the message doesn't have.
  mutating func lookUp(_ scope: MessageScope) {
    for (name, mark, what) in scope.wanted {
      if !scope.fields.contains(name), hasBareMinus(name, mark, what) { continue }
      guard reference(name, mark, "a field of this message", among: scope.fields) != nil else { continue }
      if !scope.counting.contains(name) { report(mark, "\(what): \(name) is not a whole number") }
    }
  }

  /// Whether an unknown name looks like a difference. If so, reports it.
  mutating func hasBareMinus(_ name: String, _ mark: YAMLMark, _ what: String) -> Bool {
    let parts = name.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, parts[0] == "raw" || values[String(parts[0])] != nil else { return false }
    report(
      mark,
      "\(what): \(Quoted.text(name)) is one name: a minus needs blanks around it: \(parts[0]) - \(parts[1].prefix(40))")
    return true
  }
}
