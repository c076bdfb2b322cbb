// SPDX-License-Identifier: Apache-2.0

/// Finds the known word that a mistyped word probably means.
package struct NearestWord: Sendable, Hashable {
  /// The known word.
  package let word: String
  /// How many letters differ.
  package let distance: Int
  /// Whether the known word is probably meant: at most two letters or a third of them differ, or the mistyped word is
  /// its beginning.
  package let isLikely: Bool

  /// Finds the known word with the fewest differing letters, the first one if there are several. Returns nil if `words`
  /// is empty.
  package static func find(_ text: String, among words: [String]) -> NearestWord? {
    let all = words.map { (word: $0, distance: distance(text, $0)) }
    guard let nearest = all.min(by: { $0.distance < $1.distance }) else { return nil }
    let isLikely = nearest.distance <= max(2, text.count / 3) || nearest.word.hasPrefix(text)
    return NearestWord(word: nearest.word, distance: nearest.distance, isLikely: isLikely)
  }

  /// The number of letters to insert, remove, replace, or swap with their neighbour to turn one word into the other.
  /// Only the first 64 letters of each word count.
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
