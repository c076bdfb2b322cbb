// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// Pretended robots and cars, the user's remote control, and the commands that speak with them, each a process of its own.
@Suite(.timeLimit(.minutes(Patience.minutes(10)))) struct RemoteControlTests {
  private func configuration(_ box: Sandbox) -> [String: String] { ["XDG_CONFIG_HOME": box.directory.path + "/config"] }

  @Test func aRobotIsDrivenByRequests() async throws {
    try await Sandbox.with { box in
      let robot = try await box.simulate(kind: "bluno", "--link", "./robot")
      let sent = try await box.run(
        ["request", "./robot", "task", "task=Patrol", "+", "key", "key=up", "+", "drive-speed", "speed=128"],
        environment: configuration(box))
      #expect(sent.status == 0 && sent.outputText == "", "\(sent.errorText)")
      for line in ["task 2", "key up", "speed 128"] { try await robot.program.line(containing: line) }
      let radio = try await box.run("request", "./robot", "version", "+", "power")
      #expect(radio.lines == ["V1.97", "0 dBm"])
      let status = try await box.run("status", "./robot", "--json").json()
      #expect(status["identity"]?["name"] == "Bluno" && status["status"]?["state"] == .null)
      let battery = try await box.run("battery", "./robot")
      #expect(battery.status == 69 && battery.errorText.contains("doesn't report its battery"))
      let nobody = try await box.run("request", "./robot", "task", "task=dance")
      #expect(nobody.status == 64 && nobody.errorText.contains("bridge-cli bluetooth remote show"))
      try await robot.stop()
    }
  }

  /// The user's tasks and keys are kept, and hold for what is sent.
  @Test func tasksAndKeysOfTheRemoteAreKept() async throws {
    try await Sandbox.with { box in
      let environment = configuration(box)
      func remote(_ arguments: String...) async throws -> Program.Transcript {
        try await box.run(["remote"] + arguments, environment: environment)
      }
      #expect(try await remote("show").lines.contains { $0.hasSuffix("Avoid IR") })
      #expect(try await remote("add-task", "Sing \u{1B}[31m").status == 0)
      #expect(try await remote("move-task", "5", "1").lines[1] == "1  5     5      Sing \\u{1b}[31m")
      #expect(try await remote("rename-task", "5", "Sing").status == 0)
      #expect(try await remote("remove-task", "0").status == 0)
      #expect(try await remote("set-key", "up", "u").status == 0)
      #expect(try await remote("end-lines", "on").status == 0)
      let json = try await remote("show", "--json").json()
      #expect(
        json["tasks"]?[0] == ["number": 5, "name": "Sing"] && json["keys"]?["up"] == "u" && json["ends_lines"] == true)
      let robot = try await box.simulate(kind: "bluno", "--lines")
      _ = try await box.run(["request", "task", "task=sing", "+", "key", "key=up"], environment: environment)
      try await robot.program.line(containing: "task 5")
      try await robot.program.line(containing: "text u")
      try await robot.stop()
      for wrong in [
        ["set-key", "up", "b"], ["set-key", "up", "<"], ["remove-task", "77"], ["add-task", "x", "--number", "5"],
      ] {
        #expect(try await box.run(["remote"] + wrong, environment: environment).status == 64, "\(wrong)")
      }
      #expect(try await remote("reset", "--keys", "--json").json()["keys"]?["up"] == "f")
      let all = try await remote("reset", "--json").json()
      #expect(all["tasks"]?[0]?["name"] == "Status" && all["ends_lines"] == false)
      try box.directory.write(Array("{".utf8), to: "config/accessory-bridge/bluno.json")
      let broken = try await remote("show")
      #expect(broken.status == 78 && broken.errorText.contains("correct or remove the file"))
    }
  }

  @Test func aCarIsDrivenByRequests() async throws {
    try await Sandbox.with { box in
      let car = try await box.simulate(kind: "hm1x")
      let sent = try await box.run(
        "request", "CAR0001", "headlights", "on=yes", "+", "drive", "steering=-40", "acceleration=200", "time=200")
      #expect(sent.status == 0, "\(sent.errorText)")
      try await car.program.line(containing: "steering -40, acceleration 200, headlights")
      try await car.program.line(containing: "steering 0, acceleration 0, headlights")
      #expect(try await box.run("request", "CAR0001", "drive", "steering=256").status == 64)
      #expect(try await box.run("info", car.path, "--driver", "hm1x", "--json").json()["line"]?["baud"] == 9_600)
      try await car.stop()
    }
  }
}
