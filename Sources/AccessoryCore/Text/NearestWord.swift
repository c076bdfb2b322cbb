// SPDX-License-Identifier: Apache-2.0

/// Finds the known words that a mistyped word probably means. All advice on mistyped words comes from here.
package struct NearestWord: Sendable, Hashable {
  /// The most similar known word, the first one if there are several.
  package let word: String
  /// How many letters of `word` differ, whatever their case.
  package let distance: Int
  /// The words that are probably meant, at most three. Empty where none is.
  package let likely: [String]

  /// Whether `word` is probably meant: at most two letters or a third of them differ, one of a short word, or the
  /// mistyped word is its beginning.
  package var isLikely: Bool { !likely.isEmpty }

  /// "did you mean jbd?"; with several words "did you mean A1, A3 or B1?". Nil where none is likely.
  package var question: String? {
    likely.isEmpty ? nil : "did you mean \(NameWords.list(likely, "or"))?"
  }

  /// Compares a word with the known ones. Returns nil if `words` is empty.
  package static func find(_ text: String, among words: [String]) -> NearestWord? {
    let lowered = text.lowercased()
    let limit = lowered.count < 4 ? 1 : max(2, lowered.count / 3)
    var (best, likely): ((word: String, distance: Int)?, [(word: String, distance: Int, isBegun: Bool)]) = (nil, [])
    for word in words {
      let known = word.lowercased()
      let distance = distance(lowered, known)
      if best.map({ distance < $0.distance }) ?? true { best = (word, distance) }
      let isBegun = known.hasPrefix(lowered)
      guard distance <= limit || isBegun, !likely.contains(where: { $0.word == word }) else { continue }
      likely.append((word, distance, isBegun))
    }
    guard let best else { return nil }
    // Words that begin so are meant besides the most similar ones, unless one of these is itself the beginning's.
    let nearest = likely.map(\.distance).min() ?? 0
    let similar = likely.filter { $0.distance == nearest }
    let isBegun = similar.contains { $0.isBegun }
    var meant = isBegun ? similar : similar + likely.filter { $0.isBegun }
    // One letter is like any other.
    if lowered.count == 1 { meant = Array(meant.prefix(1)) }
    // First letters are seldom wrong.
    func order(_ one: (word: String, distance: Int, isBegun: Bool)) -> Int {
      one.distance > limit ? 2 : one.word.lowercased().first == lowered.first ? 0 : 1
    }
    let ordered = (0...2).flatMap { place in meant.filter { order($0) == place } }
    return NearestWord(word: best.word, distance: best.distance, likely: ordered.prefix(3).map(\.word))
  }

  /// The question which known word is meant, or else other advice.
  package static func advice(_ text: String, among words: [String], otherwise: @autoclosure () -> String) -> String {
    find(text, among: words)?.question ?? otherwise()
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
