// SPDX-License-Identifier: Apache-2.0

import AccessoryLink
import TestSupport
import Testing

/// Recordings that version 0.1 made of sessions with faults, and how it decoded them.
@Suite(.timeLimit(.minutes(Patience.minutes(3)))) struct OldRecordingsTests {
  private static let names = OldVersion.names(in: "recordings", ending: ".trace")

  @Test func thereIsOneOfEachFamily() { #expect(Self.names == ["bluno", "ev3", "framed", "hm10", "hm1x"]) }

  /// Every record reads, in pieces of any size, and is written as it was.
  @Test(arguments: names) func oldRecordingsAreReadAndWrittenTheSame(name: String) throws {
    let bytes = try OldVersion.bytes("recordings/\(name).trace")
    for size in [1, 7, bytes.count] {
      var reader = RecordingReader()
      var lines: [Recording.Line] = []
      var rest = bytes[...]
      while !rest.isEmpty {
        try reader.read(rest.prefix(size), into: &lines)
        rest = rest.dropFirst(size)
      }
      let written = lines.map { line in
        switch line {
        case .start(let silence, let framing): Recording.start(silence: silence, framing: framing)
        case .record(let record): Recording.line(record)
        case .began, .unplugged, .plugged, .comment: ""
        }
      }.joined()
      let whole = String(decoding: bytes, as: UTF8.self)
      #expect(whole.hasPrefix(written) && !whole.dropFirst(written.utf8.count).contains("\n"))
      #expect(reader.isCutOff == (written.utf8.count < bytes.count))
      #expect(lines.contains { if case .record = $0 { true } else { false } })
    }
  }

  /// `trace FILE` prints what it printed then: the same entries in the same order, each with all that it had.
  @Test(arguments: names) func recordingsDecodeToTheSame(name: String) async throws {
    try await Sandbox.with { box in
      let old = try OldVersion.values("recordings/\(name).jsonl")
      let ended = try await box.run("trace", OldVersion.folder + "/recordings/\(name).trace", "--json", "--full")
      #expect(ended.status == 0, "\(ended.errorText)")
      let new = try ended.lines.map { try Wire(Array($0.utf8)) }
      var losses = old.count == new.count ? [] : ["\(old.count) entries are now \(new.count)"]
      for (index, (old, new)) in zip(old, new).enumerated() {
        let was = SchemaChange.document(old).fields ?? [:]
        for (key, value) in was where value != .null && !(new[key].map { SchemaChange.isSame(value, $0) } ?? false) {
          losses.append(
            "entry \(index): \(key) was \(Growth.text(value)) and is \(new[key].map { Growth.text($0) } ?? "gone")")
        }
      }
      IntendedDifference.report(losses, in: "recordings/\(name).jsonl")
    }
  }
}
