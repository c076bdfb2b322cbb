// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import Glibc
import TestSupport
import Testing

/// Commands that go on until they are told to end also end when nobody reads them any more, without a further line.
@Suite(.timeLimit(.minutes(Patience.minutes(10)))) struct OutputEndTests {
  private static let commands = [
    ["watch"], ["watch", "--json"], ["battery", "--watch"], ["battery", "--watch", "--json"], ["trace", "--ask"],
    ["trace", "--ask", "--json"],
  ]

  @Test(arguments: commands, [false, true]) func aCommandEndsWithItsReader(
    words: [String], throughTheService: Bool
  ) async throws {
    try await Sandbox.with { box in
      _ = try await box.simulate()
      if throughTheService {
        let service = try await box.serve()
        try await service.errors(containing: "SIM0001 is attached at")
      }
      // The shell waits for both, and tells the command's own status.
      let ended = try await box.run(
        words, prefix: ["/bin/sh", "-c", "{ \"$0\" \"$@\"; echo $? > status; } | head -n 1"])
      #expect(ended.lines.count == 1)
      #expect(ended.errorText == "")
      let status = try String(decoding: SmallFile.read(box.directory.path + "/status", limit: 16), as: UTF8.self)
      // Also as the signal's, when it was just about to write.
      #expect(["0\n", "141\n"].contains(status))
    }
  }

  /// What can't be written is told, also of help.
  @Test(arguments: [
    ["battery"], ["list", "--json"], ["--help"], ["battery", "--help"], ["--version"], ["help", "list"],
    ["--generate-completion-script", "bash"], ["profile", "show", "framed"], ["demo"], ["request", "--list"],
  ])
  func aFullOutputIsAnError(words: [String]) async throws {
    try await Sandbox.with { box in
      _ = try await box.simulate()
      let ended = try await box.run(words, prefix: ["/bin/sh", "-c", "exec \"$0\" \"$@\" > /dev/full"])
      #expect(ended.status == EX_IOERR)
      #expect(ended.errorText == "bridge-cli: writing standard output: No space left on device\n")
    }
  }
}
