// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// `request`: any command to an accessory.
@Suite(.timeLimit(.minutes(Patience.minutes(10)))) struct RequestTests {
  @Test(arguments: [
    ["request", "./acc", "echo", "68656c6c6f"], ["request", "./acc", "0x7E", "68656c6c6f"],
    ["request", "echo", "68656c6c6f"], ["request", "0x7e", "--text", "hello"], ["request", "ECHO", "0x68:65 6C6c 6f"],
  ])
  func echoIsRequestedInEveryNotation(arguments: [String]) async throws {
    try await Sandbox.with { box in
      _ = try await box.simulate("--link", "acc")
      let request = try await box.run(arguments)
      #expect(request.outputText == "68656c6c6f\n")
      #expect(request.errorText == "")
      #expect(request.status == 0)
    }
  }

  /// Nothing of an earlier process's answers is taken for one's own.
  @Test func eachRunGetsItsOwnAnswer() async throws {
    try await Sandbox.with { box in
      _ = try await box.simulate()
      for payload in ["01", "02", "0102030405", "", "01"] {
        #expect(try await box.run("request", "echo", payload).outputText == payload + "\n")
      }
    }
  }

  @Test func aReplyIsPrintedAsADocument() async throws {
    try await Sandbox.with { box in
      let simulator = try await box.simulate()
      #expect(
        try await box.run("request", "echo", "00ff", "--json").json() == [
          "schema": "accessory-bridge/2", "document": "request", "device": BatteryTests.device(at: simulator.path),
          "command": "echo",
          "command_byte": 126, "reply": ["hex": "00ff", "size_bytes": 2, "fields": nil],
        ])
    }
  }

  /// A reply of a form that is known is shown in words, by the command's name and by its number.
  @Test func repliesAreShownInWords() async throws {
    try await Sandbox.with { box in
      _ = try await box.simulate("--percent", "57", "--voltage", "3712", "--name", "Lamp \u{1B}[31m")
      for battery in ["battery", "0x03"] {
        #expect(try await box.run("request", battery).outputText == "normal, 57 %, 3712 mV, discharging\n")
      }
      #expect(try await box.run("request", "status").outputText == "idle, fault 0\n")
      let identity = try await box.run("request", "identify")
      #expect(identity.outputText == "Accessory Bridge, Lamp \\u{1b}[31m, AF1-SIM, SIM0001\n")
      let reply = try await box.run("request", "battery", "--json").json()["reply"]
      #expect(
        reply == [
          "hex": "0239800e02", "size_bytes": 5,
          "fields": [
            "level": "normal", "percent": 57, "voltage_mv": 3712, "millivolts": 3712, "charge": "discharging",
          ],
        ])
    }
  }

  /// A reply that isn't as it should be is shown as it is.
  @Test func anEmptyReplyIsShownAsItIs() async throws {
    try await Sandbox.with { box in
      _ = try await box.simulate("--battery-payload", "")
      #expect(try await box.run("request", "battery").outputText == "\n")
      let reply = try await box.run("request", "battery", "--json").json()["reply"]
      #expect(reply == ["hex": "", "size_bytes": 0, "fields": nil])
    }
  }

  @Test func aPayloadBeyondTheAccessorysLimitIsRefused() async throws {
    try await Sandbox.with { box in
      _ = try await box.simulate()
      let most = String(repeating: "5a", count: 4_096)
      #expect(try await box.run("request", "echo", most).outputText == most + "\n")
      let more = try await box.run("request", "echo", most + "5a")
      #expect(more.status == EX_USAGE)
      #expect(more.errorText.contains("at most 4096"))
    }
  }

  @Test func aRefusalIsToldWithItsReason() async throws {
    try await Sandbox.with { box in
      let simulator = try await box.simulate()
      let request = try await box.run("request", "0x55")
      #expect(request.status == EX_PROTOCOL)
      #expect(request.outputText == "")
      #expect(request.errorText == "bridge-cli: \(simulator.path) refuses 55: unknown command\n")
      let document = try await box.run("request", "0x55", "--json")
      #expect(document.status == EX_PROTOCOL)
      #expect(document.errorText == "")
      #expect(
        try document.json() == [
          "schema": "accessory-bridge/2", "document": "error",
          "error": [
            "kind": "refused", "message": "\(simulator.path) refuses 55: unknown command", "errno": nil, "libusb": nil,
            "refusal": 3,
            "exit_status": 76,
          ],
        ])
    }
  }

  /// 0x40 counts how often it was run, and the count outlives restarts: the second request restarts the accessory
  /// after running it, so the third must be told 3. A retry would have made that 4.
  @Test func aRequestThatMayNotBeRepeatedIsNot() async throws {
    try await Sandbox.with { box in
      let simulator = try await box.simulate("--reboot-after", "2")
      #expect(try await box.run("request", "0x40").outputText == "01000000\n")
      let interrupted = try await box.run("request", "0x40", "--json")
      #expect(interrupted.status == EX_UNAVAILABLE)
      #expect(try interrupted.json()["error"]?["kind"] == "disconnected")
      #expect(try interrupted.json()["error"]?["message"]?.text?.contains("restarted during the request") == true)
      try await simulator.program.line(containing: "restarted")
      #expect(try await box.run("request", "0x40").outputText == "03000000\n")
    }
  }

  /// An idempotent one is simply asked again.
  @Test func aRestartDuringAnIdempotentRequestGoesUnnoticed() async throws {
    try await Sandbox.with { box in
      let simulator = try await box.simulate("--reboot-after", "1")
      #expect(try await box.run("request", "echo", "aa").outputText == "aa\n")
      try await simulator.program.line(containing: "restarted")
    }
  }
}
