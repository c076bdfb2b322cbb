// SPDX-License-Identifier: Apache-2.0

/// Finds the known word that a mistyped word probably means.
package struct NearestWord: Sendable, Hashable {
  /// The word.
  package let word: String
  /// How many letters differ.
  package let distance: Int
  /// Whether it is near enough to be what was meant: a third of the letters may be wrong, and a beginning is as good.
  package let isLikely: Bool

  /// The word with the fewest changes; of several the first. Nil where none is known.
  package static func find(_ text: String, among words: [String]) -> NearestWord? {
    let all = words.map { (word: $0, distance: distance(text, $0)) }
    guard let nearest = all.min(by: { $0.distance < $1.distance }) else { return nil }
    let isLikely = nearest.distance <= max(2, text.count / 3) || nearest.word.hasPrefix(text)
    return NearestWord(word: nearest.word, distance: nearest.distance, isLikely: isLikely)
  }

  /// Letters to insert, remove, replace, or swap with their neighbour, to make one word of the other. Of long words the
  /// first 64 letters count.
  package static func distance(_ first: String, _ second: String) -> Int {
    let (first, second) = (Array(first.unicodeScalars.prefix(64)), Array(second.unicodeScalars.prefix(64)))
    var beforeLast: [Int] = []
    var last = Array(0...second.count)
    for row in 0..<first.count {
      var current = [row + 1]
      for column in 0..<second.count {
        var best = min(last[column + 1] + 1, current[column] + 1, last[column] + (first[row] == second[column] ? 0 : 1))
        if row > 0, column > 0, first[row] == second[column - 1], first[row - 1] == second[column] {
          best = min(best, beforeLast[column - 1] + 1)
        }
        current.append(best)
      }
      (beforeLast, last) = (last, current)
    }
    return last[second.count]
  }
}
