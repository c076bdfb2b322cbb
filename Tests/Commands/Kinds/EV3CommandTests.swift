// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import AccessoryProtocols
import Glibc
import TestSupport
import Testing

/// A pretended brick and the commands that speak with it, each a process of its own.
@Suite(.timeLimit(.minutes(Patience.minutes(10)))) struct EV3CommandTests {
  private func simulate(_ box: Sandbox, _ arguments: String...) async throws -> Sandbox.Simulator {
    let program = try box.start(["simulate", "ev3"] + arguments)
    let line = try await program.line(containing: " is plugged in at ")
    let place = line.split(separator: " is plugged in at ").last ?? ""
    return Sandbox.Simulator(program: program, path: String(place.prefix { $0 != "," }))
  }

  @Test(arguments: [["--link", "./ev3"], ["--tcp", "127.0.0.1:0"]])
  func theCommonCommandsWorkWithABrick(way: [String]) async throws {
    try await Sandbox.with { box in
      let brick = try await simulate(box, way[0], way[1], "--percent", "57")
      let list = try await box.run("list", "--json")
      let device = try #require(try list.json()["devices"]?[0])
      #expect(device["driver"] == "ev3" && device["serial"] == "001653000001")
      #expect(device["ways"]?[0] == (JSON.string(way[0] == "--tcp" ? "tcp" : "tty")))
      #expect(try await box.run("list").lines[1].contains(" free "))
      #expect(try await box.run("doctor", brick.path).status == 0)
      // By nothing, by name, by serial number, by path.
      for name in [[], ["EV3"], ["001653000001"], [brick.path]] {
        let battery = try await box.run(["battery"] + name + ["--json"])
        #expect(battery.status == 0, "\(battery.errorText)")
        #expect(try battery.json()["battery"]?["percent"] == 57)
        #expect(try battery.json()["battery"]?["voltage_mv"] == 6_941)
      }
      let status = try await box.run("status", "--json")
      #expect(try status.json()["identity"]?["firmware"] == "V1.09H")
      #expect(try await box.run("info").status == 0)
      try await brick.stop()
    }
  }

  @Test func namedCommandsOfABrickArePerformed() async throws {
    try await Sandbox.with { box in
      let brick = try await simulate(box, "--link", "./ev3")
      let motors = try await box.run(
        "request", "./ev3", "motor-speed", "ports=A,B", "speed=-50", "+", "motor-start", "ports=A,B")
      #expect(motors.status == 0 && motors.outputText == "")
      let reading = try await box.run("request", "EV3", "motor-read", "port=A", "--json").json()
      #expect(reading["replies"]?[0]?["command"] == "motor-read")
      #expect(reading["replies"]?[0]?["values"]?[0]?["value"] == -50)
      #expect(reading["replies"]?[0]?["values"]?[0]?["unit"] == "%")
      let many = try await box.run("request", "battery-percent", "+", "sensor-si", "port=4", "+", "power")
      #expect(many.lines == ["100 %", "50.0", "voltage: 7.5 V, current: 0.18 A, internal: 0.18 A, motors: 0.0 A"])
      #expect(try await box.run("request", "led", "pattern=red", "--no-reply").status == 0)
      // What is wrong is told before anything is sent; what the brick refuses, afterwards.
      let wrong = try await box.run("request", "EV3", "motor-speed", "ports=E", "speed=1")
      #expect(wrong.status == 64 && wrong.errorText.contains("ports must be one or more of A,B,C,D"))
      let refused = try await box.run("request", "EV3", "motor-start", "ports=A", "layer=1")
      #expect(refused.status == 76 && refused.errorText.contains("refuses"))
      let af1 = try await box.run("request", "EV3", "echo", "00")
      #expect(af1.status == 69 && af1.errorText.contains("takes no requests by number"))
      try await brick.stop()
    }
  }

  @Test func theListNamesEveryCommand() async throws {
    try await Sandbox.with { box in
      let all = try await box.run("request", "--list")
      #expect(all.status == 0)
      #expect(all.lines.contains { $0.hasPrefix("framed") } && all.lines.contains { $0.hasPrefix("ev3") })
      let speed = "  motor-speed ports=A,B,C,D speed=-100…100 (%) [layer=0…3]"
      #expect(all.lines.contains(speed))
      let brick = try await simulate(box, "--link", "./ev3")
      let own = try await box.run("request", "EV3", "--list")
      #expect(own.lines.contains(speed) && !own.lines.contains { $0.hasPrefix("framed") })
      let json = try await box.run("request", "EV3", "--list", "--json").json()
      #expect(json["driver"] == "ev3" && json["commands"]?[0]?["name"] == "nothing")
      try await brick.stop()
    }
  }

  /// Commands by name are for AF1's accessories, too.
  @Test func namedCommandsWorkForAF1Too() async throws {
    try await Sandbox.with { box in
      let accessory = try await box.simulate("--link", "./acc")
      let echo = try await box.run("request", "./acc", "echo", "payload=0102", "+", "command", "number=64")
      #expect(echo.lines == ["0102", "01000000"])
      try await accessory.stop()
    }
  }

  // MARK: - Files

  private static let bytes = (0..<50_000).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 8) }

  @Test func foldersAndFilesOfABrickAreMoved() async throws {
    try await Sandbox.with { box in
      let brick = try await simulate(box, "--link", "./ev3")
      try box.directory.write(Self.bytes, to: "data.bin")
      #expect(try await box.run("mkdir", "EV3", "../prjs/x").status == 0)
      let sent = try await box.run("send-file", "EV3", "data.bin", "../prjs/x/data.bin")
      #expect(sent.lines == ["data.bin: 50000 bytes, MD5 \(MD5.hexadecimal(Self.bytes))"])
      let nowhere = try await box.run("send-file", "EV3", "data.bin")
      #expect(nowhere.status == 78 && nowhere.errorText.contains("the path of the file on"))
      let kind = try await box.run("send-file", "EV3", "data.bin", "../prjs/x/y", "--kind", "image")
      #expect(kind.status == 78 && kind.errorText.contains("has no kinds of files"))
      let list = try await box.run("ls", "EV3", "../prjs/x", "--json").json()
      #expect(list["entries"]?[0]?["name"] == "data.bin" && list["entries"]?[0]?["size_bytes"] == 50_000)
      #expect(try await box.run("ls", "EV3", "../prjs/x").lines == ["     50000 data.bin"])
      #expect(try await box.run("get-file", "EV3", "../prjs/x/data.bin", "back.bin").status == 0)
      #expect(try SmallFile.read(box.directory.path + "/back.bin", limit: 1 << 20) == Self.bytes)
      let again = try await box.run("get-file", "EV3", "../prjs/x/data.bin", "back.bin")
      #expect(again.status == EX_CANTCREAT && again.errorText.contains("back.bin exists"))
      #expect(try await box.run("get-file", "EV3", "../prjs/x/data.bin", "back.bin", "--force").status == 0)
      #expect(try await box.run("rm", "EV3", "../prjs/x/data.bin").status == 0)
      let gone = try await box.run("rm", "EV3", "../prjs/x/data.bin", "--json")
      #expect(gone.status == 76)
      #expect(try gone.json()["error"]?["kind"] == "refused")
      #expect(box.directory.path.isEmpty == false && !box.runtime.names(in: ".").contains("part"))
      try await brick.stop()
    }
  }

  /// The cable is pulled in the middle, and plugged in again: what follows is the rest.
  @Test(arguments: [["--link", "./ev3"], ["--tcp", "127.0.0.1:0"]])
  func anInterruptedFileToABrickIsSentOn(way: [String]) async throws {
    try await Sandbox.with { box in
      let brick = try await simulate(
        box, way[0], way[1], "--unplug-after", "30", "--replug-after", "100ms")
      try box.directory.write(Self.bytes, to: "data.bin")
      let sent = try await box.run(
        "send-file", "EV3", "data.bin", "../prjs/data.bin", "--patience", "60s", "--json")
      #expect(sent.status == 0, "\(sent.errorText)")
      #expect(try sent.lastJSON()["resumptions"] == 1)
      #expect(sent.errorText.contains("EV3 is gone: waiting for it to come back"))
      let got = try await box.run("get-file", "EV3", "../prjs/data.bin", "back.bin", "--json")
      #expect(try got.lastJSON()["md5"]?.text == MD5.hexadecimal(Self.bytes))
      try await brick.stop()
    }
  }

  @Test func aFileIsNotSentOnWithoutPatience() async throws {
    try await Sandbox.with { box in
      let brick = try await simulate(box, "--link", "./ev3", "--unplug-after", "30")
      try box.directory.write(Self.bytes, to: "data.bin")
      let sent = try await box.run("send-file", "./ev3", "data.bin", "../prjs/data.bin", "--patience", "0s")
      #expect(sent.status == 69)
      try await brick.program.end()
    }
  }

  @Test func wrongUseWithABrickIsAnError() async throws {
    try await Sandbox.with { box in
      for arguments in [
        ["simulate", "ev3", "--percent", "101"], ["simulate", "ev3", "--link", "x", "--tcp", "a:1"],
        ["simulate", "ev3", "--tcp", "a"], ["request", "--list", "a", "b"],
        ["request", "EV3", "echo", "00", "--no-reply"],
        ["get-file", "EV3", "/"], ["battery", "--driver", "none"],
      ] {
        #expect(try await box.run(arguments).status == 64, "\(arguments)")
      }
      let nobody = try await box.run("battery", "tcp:127.0.0.1:1", "--driver", "ev3")
      #expect(nobody.status == 69 && nobody.errorText.contains("nothing listens"))
    }
  }
}
