// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// The commands and calls of version 0.1, made again: what they answered then is in what they answer now.
@Suite(.timeLimit(.minutes(Patience.minutes(5)))) struct OldStepsTests {
  /// Every document that a command prints with --json still has all its keys, with the same types.
  @Test(arguments: OldVersion.names(in: "commands", ending: ".jsonl"))
  func documentsStillHaveAllTheirKeys(name: String) async throws { try await replay("commands/\(name).jsonl") }

  /// Every call on the control socket is still taken, and its answers have all that they had.
  @Test(arguments: OldVersion.names(in: "service", ending: ".jsonl"))
  func callsAreStillAnswered(name: String) async throws { try await replay("service/\(name).jsonl") }

  /// Files whose commands are for an accessory that takes its time, and need nothing of each other. A Bluno is waited for
  /// after each opening, as it then starts anew.
  private static let independent: Set = ["commands/bluno.jsonl"]

  private func replay(_ file: String) async throws {
    let old = try OldVersion.values(file)
    let new = Self.independent.contains(file) ? try await Replay.runEach(old) : try await Replay.run(old)
    if OldVersion.isRecording { return try OldVersion.write(new, to: file) }
    var losses: [String] = []
    for (old, new) in zip(old, new) {
      let words = (old["run"] ?? old["start"] ?? old["simulate"] ?? old["call"] ?? old["on"]).map { Growth.text($0) }
      let name = words ?? ""
      if let status = old["status"], status != new["status"] {
        losses.append("\(name): status \(Growth.text(status)) is now \(Growth.text(new["status"] ?? .null))")
      }
      for results in ["documents", "replies"] {
        guard var documents = old[results]?.elements else { continue }
        if results == "documents" { documents = documents.map(SchemaChange.document) }
        let found = Growth.losses(documents, new[results]?.elements ?? [], hasNulls: results == "documents")
        losses += found.map { "\(name): \($0)" }
      }
    }
    IntendedDifference.report(losses, in: file)
  }

  // MARK: - The comparison itself

  private func losses(_ old: String, _ new: String) throws -> [String] {
    Growth.losses([try Wire(Array(old.utf8))], [try Wire(Array(new.utf8))])
  }

  @Test(arguments: [
    (#"{"a":1}"#, #"{"a":2,"b":null}"#), (#"{"a":null}"#, #"{"a":"x"}"#),
    (#"{"a":[{"b":1}]}"#, #"{"a":[{"b":2},7]}"#), (#"{"a":[]}"#, #"{"a":[1]}"#),
    (#"{"level":"low"}"#, #"{"level":"low","x":1}"#),
  ])
  func growthIsNoLoss(old: String, new: String) throws { #expect(try losses(old, new) == []) }

  /// Where null isn't written, it is the same as no key.
  @Test func aKeyWithoutValueIsNoKey() throws {
    let old = try Wire(Array(#"{"a":null}"#.utf8))
    #expect(Growth.losses([old], [.object([:])], hasNulls: false) == [])
  }

  @Test(arguments: [
    (#"{"a":1}"#, "{}", "a is gone"), (#"{"a":null}"#, "{}", "a is gone"),
    (#"{"a":{"b":1}}"#, #"{"a":{}}"#, "a.b is gone"),
    (#"{"a":1}"#, #"{"a":"1"}"#, "a was a number and is a text"),
    (#"{"a":1}"#, #"{"a":null}"#, "a was a number and is null"), (#"{"a":[1]}"#, #"{"a":[]}"#, "a is empty"),
    (#"{"a":[{"b":1}]}"#, #"{"a":[{}]}"#, "a[0].b is gone"),
    (#"{"d":{"level":"low"}}"#, #"{"d":{"level":"high"}}"#, #"d.level was "low" and is "high""#),
    (#"{"error":{"kind":"busy"}}"#, #"{"error":{"kind":"refused"}}"#, "there is no error busy"),
    (#"{"event":"ready"}"#, #"{"event":"present"}"#, "there is no event ready"),
  ])
  func lossesOfOldKeysAreFound(old: String, new: String, loss: String) throws {
    let found = try losses(old, new)
    #expect(found.contains { $0.hasPrefix(loss) }, "\(found)")
  }
}
