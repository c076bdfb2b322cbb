// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// An accessory that sends several messages in turn, of which one doesn't come.
@Suite(.timeLimit(.minutes(Patience.minutes(5)))) struct MissingRoundTests {
  /// The second block of a shunt, as in a recording.
  private static let history: [UInt8] = {
    var block = Array("\r\nH1\t-276495\r\nH4\t3\r\nH18\t16783\r\nChecksum\t".utf8)
    block.append(0 &- block.reduce(0, &+))
    return block
  }()

  /// What did not come is said in JSON and on standard error, with and without a service.
  @Test(arguments: [false, true]) func whatDidNotComeIsSaid(throughTheService: Bool) async throws {
    let shunt = try openPseudoTerminal(raw: true)
    let isOver = Watched(false)
    let sending = Task {
      while !isOver.value {
        _ = try? shunt.writeSome(Self.history)
        try? await Task.sleep(for: .milliseconds(100))
      }
    }
    try await Sandbox.with { box in
      let announcement = try Announced(shunt.path, driver: "vedirect", in: box)
      defer { announcement.end() }
      if throughTheService {
        let service = try await box.serve()
        try await service.errors(containing: "S1 is attached at")
      }
      for command in ["battery", "values"] {
        let ended = try await box.run(command, "S1", "--json")
        #expect(ended.status == 0, "\(ended.errorText)")
        let missing = try ended.json()["missing"]?.text ?? "nothing"
        #expect(missing.contains("the message with battery.voltage"), "\(command): \(ended.outputText)")
        #expect(ended.errorText.contains("note: \(missing)\n"), "\(ended.errorText)")
      }
      let shown = try await box.run("battery", "S1")
      #expect(shown.status == 0 && shown.errorText.contains("did not come"), "\(shown.errorText)")
    }
    isOver.update { $0 = true }
    await sending.value
  }
}
