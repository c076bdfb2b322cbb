// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// A line that loses and damages frames.
@Suite(.timeLimit(.minutes(Patience.minutes(10)))) struct FaultTests {
  /// Whatever gets lost, what is printed is right. A request may fail, when all of its tries are lost; with this seed
  /// hardly any does.
  @Test func answersAreRightOverABadLine() async throws {
    try await Sandbox.with { box in
      let simulator = try await box.simulate("--drop", "0.2", "--corrupt", "0.2", "--seed", "11")
      var answered = 0
      for number in 0..<12 {
        let payload = String(repeating: "0\(String(number, radix: 16))", count: 1 + number * 7)
        let request = try await box.run("request", "echo", payload)
        if request.status == 0 {
          #expect(request.outputText == payload + "\n")
          answered += 1
        } else {
          #expect(request.status == EX_TEMPFAIL)
          #expect(request.outputText == "")
        }
      }
      #expect(answered >= 9)
      #expect(simulator.program.transcript.value.lines.contains("seed 11"))
    }
  }

  /// Nothing arrives: that is silence, not a wrong answer.
  @Test(arguments: ["--drop", "--corrupt"]) func aLineThatLosesEverythingTimesOut(fault: String) async throws {
    try await Sandbox.with { box in
      _ = try await box.simulate(fault, "1")
      let request = try await box.run("request", "echo", "aa")
      #expect(request.status == EX_TEMPFAIL)
      #expect(request.outputText == "")
    }
  }

  @Test func theSeedDecidesWhatIsRandom() async throws {
    func bootID(_ seed: String) async throws -> String? {
      let result = Watched<String?>(nil)
      try await Sandbox.with { box in
        _ = try await box.simulate("--seed", seed)
        let info = try await box.run("info", "--json")
        #expect(info.status == 0, "\(info.outputText)\(info.errorText)")
        let id = try info.json()["protocol"]?["boot_id"]?.text
        result.update { $0 = id }
      }
      return result.value
    }
    let first = try await bootID("5")
    #expect(first != nil)
    #expect(try await bootID("5") == first)
    #expect(try await bootID("6") != first)
  }

  @Test func slowAnswersAreStillAnswers() async throws {
    try await Sandbox.with { box in
      _ = try await box.simulate("--delay", "100ms")
      #expect(try await box.run("request", "echo", "aa").outputText == "aa\n")
    }
  }
}
