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
      guard reference(name, mark, "a field of this message", among: scope.fields) != nil else { continue }
      if !scope.counting.contains(name) { report(mark, "\(what): \(name) is not a whole number") }
    }
  }
}
