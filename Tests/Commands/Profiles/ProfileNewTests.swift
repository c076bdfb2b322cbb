// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// `profile new`, and `profile check --recording`.
@Suite(.timeLimit(.minutes(Patience.minutes(10)))) struct ProfileNewTests {
  private func recording(_ frames: [String]) -> [UInt8] {
    var text = "#accessory-bridge-recording 1 silence 0.050000000 frames none\n"
    for (index, frame) in frames.enumerated() { text += "\(index).000000000 < \(frame)\n" }
    return Array(text.utf8)
  }

  private static let frames = ["aa810101" + "83", "aa8102010286", "aa81030102038a", "aa82010285", "aa810203088e"]

  /// What is proposed describes what it was made of.
  @Test func aNewProfileIsMadeOfARecording() async throws {
    try await Sandbox.with { box in
      try box.directory.write(recording(Self.frames), to: "a.trace")
      let made = try await box.run("profile", "new", "--from", "a.trace", "--name", "lamp")
      #expect(made.status == 0 && made.errorText == "")
      #expect(made.lines.contains("protocol: lamp") && made.lines.contains("      - start: AA"))
      #expect(made.lines.contains("      - length: {type: u8, of: data}"), "\(made.outputText)")
      #expect(made.outputText.contains("algorithm: sum8"))
      try box.directory.write(made.output, to: "lamp.yaml")
      let checked = try await box.run("profile", "check", "lamp.yaml", "--recording", "a.trace")
      #expect(checked.status == 0, "\(checked.outputText)")
      #expect(checked.lines.last == "a.trace: from the accessory, 29 bytes: 5 frame")
      let document = try await box.run("profile", "new", "--from", "a.trace", "--json").json()
      #expect(document["frames"] == 5 && document["bytes"] == 29 && document["framed_bytes"] == 29)

      try box.directory.write(recording(Self.frames + ["0102", "aa8301"]), to: "b.trace")
      let bad = try await box.run("profile", "check", "lamp.yaml", "--recording", "b.trace")
      #expect(bad.status == EX_CONFIG)
      let line = "b.trace: 5 bytes in no frame, at 5.000000 s, byte 29 from the accessory: 01 02 aa 83 01"
      #expect(bad.lines.contains(line), "\(bad.outputText)")
      let json = try await box.run("profile", "check", "lamp.yaml", "--recording", "b.trace", "--json").json()
      let told = json["recording"]
      #expect(told?["fits"] == false && told?["misfit_bytes"] == 5 && told?["from_device"]?["frame"] == 5)
      #expect(told?["misfits"]?[0]?["offset"] == 29 && told?["misfits"]?[0]?["hex"] == "0102aa8301")
    }
  }

  @Test func wrongUseOfProfileNewIsAnError() async throws {
    try await Sandbox.with { box in
      try box.directory.write(recording(["0102030405"]), to: "a.trace")
      try box.directory.write(Array("name: good\nmatch: {serial: A}\n".utf8), to: "good.yaml")
      // Nobody is there to be asked.
      let alone = try await box.run("profile", "new")
      #expect(alone.status == EX_USAGE && alone.errorText.contains("--from"))
      #expect(try await box.run("profile", "new", "--from", "a.trace").status == EX_DATAERR)
      #expect(try await box.run("profile", "new", "--from", "good.yaml").status == EX_DATAERR)
      #expect(try await box.run("profile", "new", "--from", "none.trace").status == EX_NOINPUT)
      #expect(try await box.run("profile", "new", "--from", "a.trace", "--name", "A b").status == EX_USAGE)
      #expect(try await box.run("profile", "check", "good.yaml", "--recording", "a.trace").status == EX_USAGE)
    }
  }

  @Test func aQuestionIsInterrupted() async throws {
    try await Sandbox.with { box in
      let program = try box.sit("profile", "new")
      try await program.wait(for: "What is the protocol called?")
      program.signal(SIGINT)
      #expect(try await program.end() == 130)
    }
  }

  @Test func aNewProfileIsMadeOfAnswers() async throws {
    try await Sandbox.with { box in
      let program = try box.sit("profile", "new")
      try await program.wait(for: "What is the protocol called?")
      for answer in ["Bad Name", "pump", "binary", "AA 55", "3", "sum8", "0D"] { program.type(answer + "\n") }
      #expect(try await program.end() == 0)
      let text = program.state.value.text
      #expect(text.contains("not a valid answer: Bad Name"))
      #expect(text.contains("protocol: pump") && text.contains("- start: AA 55") && text.contains("- byte_2: u8"))
      #expect(text.contains("- length: {type: u8, of: data}") && text.contains("algorithm: sum8, over: start..data"))
      #expect(text.contains("- end: 0D"))
    }
  }
}
