// SPDX-License-Identifier: Apache-2.0

/// What is known of a message while its fields are read.
struct MessageScope {
  /// The framing of its frames, by its place.
  var framing: Int
  /// Others that its frames may have.
  var otherFramings: [Int] = []
  /// The names of its fields so far.
  var fields: [String] = []
  /// Those of them that are whole numbers, and can say how many of something there are.
  var counting: Set<String> = []
  /// Fields that are named before they must be there, with what names them.
  var wanted: [(name: String, mark: YAMLMark, what: String)] = []

  /// Groups around the field that is read; within one its values are a list.
  var groups = 0

  init(framing: Int) { self.framing = framing }
}

extension DescriptionReader {
  /// Says which of the fields that were named are not there.
  mutating func lookUp(_ scope: MessageScope) {
    for (name, mark, what) in scope.wanted {
      guard reference(name, mark, "a field of this message", among: scope.fields) != nil else { continue }
      if !scope.counting.contains(name) { report(mark, "\(what): \(name) is no whole number") }
    }
  }
}
