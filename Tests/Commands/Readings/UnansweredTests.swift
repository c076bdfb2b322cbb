// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// What commands show of an accessory that leaves one request unanswered, opened by themselves and through a service.
@Suite(.timeLimit(.minutes(Patience.minutes(3)))) struct UnansweredTests {
  private static func check(_ box: Sandbox, _ path: String) async throws {
    let battery = try await box.run("battery", path)
    #expect(battery.status == 0 && battery.outputText.contains("%"), "\(battery.outputText)\(battery.errorText)")
    #expect(battery.errorText.contains("does not answer capacity"))
    let json = try await box.run("battery", path, "--json")
    #expect(json.status == 0 && json.outputText.contains("does not answer capacity"))
    let values = try await box.run("values", path)
    #expect(values.status == 0 && !values.errorText.contains("capacity"), "no value comes with it")
  }

  @Test func whatCameIsShownWithANote() async throws {
    try await Sandbox.with { box in
      let pack = try await box.simulate(kind: "--profile", "cbt", "--unanswered", "capacity", "--serial", "P1")
      try await Self.check(box, pack.path)
      let service = try await box.serve()
      try await eventually("the service to say what is missing", within: .seconds(60)) {
        try await box.run("list", "--json").outputText.contains("does not answer capacity")
      }
      try await Self.check(box, "P1")
      service.signal(SIGTERM)
      #expect(try await service.end().status == 0)
    }
  }

  /// Nothing came, so that is the error.
  @Test func withoutAnyAnswerItIsAnError() async throws {
    try await Sandbox.with { box in
      let pack = try await box.simulate(kind: "--profile", "litime", "--unanswered", "state")
      #expect(try await box.run("battery", pack.path).status == 75)
    }
  }
}
