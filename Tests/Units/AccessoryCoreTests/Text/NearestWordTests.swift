// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import AccessoryCore

/// Which known word is meant by a mistyped one.
struct NearestWordTests {
  @Test(
    arguments: [
      ("jdb", ["ej", "jbd", "jk"], "did you mean jbd?"),
      ("JBD", ["ej", "jbd"], "did you mean jbd?"),
      // Two letters that both differ say nothing.
      ("xx", ["ej", "jk"], nil),
      ("A2", ["A1", "A3", "B7"], "did you mean A1 or A3?"),
      ("A2", ["B2", "A1"], "did you mean A1 or B2?"),
      ("SIM0", ["SIM0001", "SIM0002", "SIM0003", "SIM0004"], "did you mean SIM0001, SIM0002 or SIM0003?"),
      // The beginning of a word, though another is more similar.
      ("hist", ["list", "history"], "did you mean list or history?"),
      ("prof", ["top", "profile"], "did you mean profile?"),
      ("nothing-like-it", ["jbd", "daly"], nil),
      ("batery", ["battery", "batteries"], "did you mean battery?"),
      ("twice", ["twice-a", "twice-a"], "did you mean twice-a?"),
      ("x", [], nil),
    ] as [(String, [String], String?)])
  func theQuestionNamesWhatIsProbablyMeant(text: String, words: [String], question: String?) {
    #expect(NearestWord.find(text, among: words)?.question == question)
    #expect(NearestWord.advice(text, among: words, otherwise: "else") == question ?? "else")
  }
}
