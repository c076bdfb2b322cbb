// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import Glibc
import TestSupport
import Testing

/// `export home-assistant` as a process.
@Suite(.timeLimit(.minutes(Patience.minutes(5)))) struct HomeAssistantTests {
  private func start(_ box: Sandbox, _ arguments: String...) async throws -> (Program, port: String) {
    let program = try box.start(
      ["export", "home-assistant", "--socket", box.runtime.path + "/accessory-bridge/readings.socket"] + arguments,
      limit: Sandbox.longLife)
    let line = try await program.line(containing: " is open")
    #expect(line.hasPrefix("esphome://127.0.0.1:"))
    return (program, String(line.dropLast(" is open".count).split(separator: ":").last ?? ""))
  }

  /// What a client that says hello, asks for entities and states, and then sends `more`, gets within two seconds: printable characters.
  private func talk(to port: String, _ more: String = "") async throws -> String {
    let words =
      #"exec 3<>/dev/tcp/127.0.0.1/\#(port); printf '\0\0\1\0\0\13\0\0\24\#(more)' >&3; timeout 2 cat <&3 | tr -c '[:print:]' '\n'"#
    return try await Program(["/bin/bash", "-c", words], environment: ["PATH": "/usr/bin:/bin"], directory: "/").end()
      .outputText
  }

  @Test func aClientIsToldOfTheServicesAccessories() async throws {
    try await Sandbox.with { box in
      let simulator = try await box.simulate("--percent", "57")
      _ = try await box.serve()
      let (program, port) = try await start(box, "--plain", "--listen", "0")
      try await eventually("a client is told of the battery", within: .seconds(60)) {
        let text = try await talk(to: port)
        return text.contains("Battery voltage") && text.contains("Connected") && text.contains("Attached accessories")
      }
      // A restart tells of it, though it is gone.
      try await simulator.stop()
      program.signal(SIGTERM)
      #expect(try await program.end().status == 0)
      let (again, newPort) = try await start(box, "--plain", "--listen", "0")
      #expect(try await talk(to: newPort).contains("Battery voltage"))
      again.signal(SIGTERM)
      try await again.end()
    }
  }

  /// The key is made once, for its owner alone, and is the same afterwards.
  @Test func theKeyIsMadeOnceAndShown() async throws {
    try await Sandbox.with { box in
      let none = try await box.run("export", "home-assistant", "--show-key")
      #expect(none.status == EX_NOINPUT && none.errorText.contains("it is made at the first start"))
      let (program, port) = try await start(box, "--listen", "127.0.0.1:0")
      _ = try await program.transcript.wait { $0.errorText.contains("a new key was made") }
      let key = try await box.run("export", "home-assistant", "--show-key")
      #expect(key.status == 0 && key.lines.first?.count == 44)
      #expect(!program.transcript.value.errorText.contains(key.lines.first ?? ""), "a log isn't for secrets")
      // Who doesn't encrypt is told no name of an accessory.
      #expect(try await talk(to: port).contains("Attached") == false)
      // Two would have one identity.
      let second = try await box.run("export", "home-assistant", "--listen", "0")
      #expect(second.status == EX_UNAVAILABLE, "\(second.errorText)")
      program.signal(SIGTERM)
      #expect(try await program.end().status == 0)
      let (next, _) = try await start(box, "--listen", "127.0.0.1:0")
      #expect(try await box.run("export", "home-assistant", "--show-key").lines == key.lines)
      next.signal(SIGTERM)
      #expect(try await next.end().errorText.contains("a new key") == false)
    }
  }

  @Test func wrongUsesAreTold() async throws {
    try await Sandbox.with { box in
      for (arguments, text) in [
        (["--plain", "--listen", "0.0.0.0:0"], "--plain is for this machine alone"),
        (["--name", "Bridge"], "can't be a name in the network"), (["--state", ""], "--state needs a folder"),
        (["--allow", "home"], "a network or an address"),
      ] {
        let ended = try await box.run(["export", "home-assistant"] + arguments)
        #expect(ended.status == EX_USAGE && ended.errorText.contains(text), "\(ended.errorText)")
      }
    }
  }
}
