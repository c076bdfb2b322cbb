// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import Glibc
import TestSupport
import Testing

/// `watch --exec` and `list --wait`.
@Suite(.timeLimit(.minutes(Patience.minutes(10)))) struct WatchCommandTests {
  private static func script(_ box: Sandbox, _ text: String) throws {
    try box.directory.write(Array("#!/bin/sh\n\(text)\n".utf8), to: "on-event", mode: 0o700)
  }

  private static func log(_ box: Sandbox) -> String {
    (try? SmallFile.read(box.directory.path + "/log", limit: 65_536)).map { String(decoding: $0, as: UTF8.self) } ?? ""
  }

  @Test func watchRunsACommandAtEachEvent() async throws {
    try await Sandbox.with { box in
      try Self.script(
        box, #"echo "$ACCESSORY_EVENT|$ACCESSORY_SERIAL|$ACCESSORY_NAME|$ACCESSORY_BATTERY_PERCENT" >> log"#)
      let watch = try box.start("watch", "--exec", "./on-event")
      let name = "$(touch evil)\n\u{1b}[31m;`id`"
      let simulator = try await box.simulate("--serial", "A1", "--name", name, "--percent", "12", "--level", "low")
      _ = try await watch.lines(1)
      let service = try await box.serve()
      try await service.errors(containing: "A1 is attached at")
      let text = "$(touch evil)\\u{a}\\u{1b}[31m;`id`"
      try await eventually("battery_low") { Self.log(box).contains("battery_low|A1|\(text)|12\n") }
      try await simulator.stop()
      try await eventually("disconnected") { Self.log(box).contains("disconnected|A1|\(text)|\n") }
      #expect(Self.log(box).hasPrefix("connected|A1|\(text)|\n"))
      #expect(!exists(box.directory.path + "/evil"))
    }
  }

  /// Commands that never end are no more than so many, and watching goes on.
  @Test func watchGoesOnWhileACommandHangs() async throws {
    try await Sandbox.with { box in
      try Self.script(box, "echo $$ >> log\nexec sleep 1000")
      let watch = try box.start("watch", "--exec", "./on-event")
      for number in 1...6 {
        let simulator = try await box.simulate()
        _ = try await watch.lines(2 * number - 1)
        try await simulator.stop()
        _ = try await watch.lines(2 * number)
      }
      try await eventually("the commands") { Self.log(box).split(separator: "\n").count == 8 }
      watch.signal(SIGINT)
      // They have watch's standard error open, of which the harness awaits the end; others may follow those killed.
      var killed: Set<Substring> = []
      try await eventually("watch's end") {
        for line in Self.log(box).split(separator: "\n") where killed.insert(line).inserted {
          if let process = pid_t(line) { kill(process, SIGKILL) }
        }
        return watch.transcript.value.status != nil
      }
      #expect(try await watch.end().status == 0)
    }
  }

  /// A hostile service reports more low batteries than are kept: what is beyond is passed over, which is said once.
  @Test func tooManyLowBatteriesArePassedOver() async throws {
    try await Sandbox.with { box in
      let long = String(repeating: "X", count: 250_000)
      func event(_ number: Int, _ level: String = "low", event: String = "battery") -> String {
        #"{"event":"\#(event)","time":1,"device":{"id":"\#(long)\#(number)","path":"/dev/null","source":"udev","links":[],"#
          + #""ways":[],"initialized":true},"battery":{"level":"\#(level)","level_origin":"reported","charge":"unknown"}}"#
      }
      // Four of these names fit into 1 MiB. Behind those beyond, one that is kept gets low once more; and the last is
      // asked for its battery. The subscription stays open.
      let events = (1...7).map { event($0) } + [event(1, "normal"), event(1), event(1, event: "present")]
      let answer = events.map { #"{"parameters":\#($0),"continues":true}"# }.joined(separator: "\0")
      let place = box.directory.path + "/socket"
      let service = try CannedService(at: place, ["Subscribe": ["!" + answer]])
      defer { service.close() }
      let watch = try box.start(["watch", "--exec", "./nothing"], environment: ["ACCESSORY_BRIDGE_SOCKET": place])
      try await service.calls.wait { $0.contains("Battery") }
      watch.signal(SIGINT)
      let lines = try await watch.end().errorText.split(separator: "\n")
      #expect(lines.count { $0.contains("./nothing was not run") } == 5)
      #expect(lines.count { $0.contains("reports more than 4096 low batteries, or too much about them") } == 1)
      #expect(lines.count == 6)
    }
  }

  /// A command that can't be started any more: each event that waits is told of, at once.
  @Test func everyWaitingEventReportsARemovedCommand() async throws {
    try await Sandbox.with { box in
      try Self.script(box, "echo $$ >> log\nexec sleep 1000")
      let watch = try box.start("watch", "--exec", "./on-event")
      for number in 1...6 {
        let simulator = try await box.simulate()
        _ = try await watch.lines(2 * number - 1)
        try await simulator.stop()
        _ = try await watch.lines(2 * number)
      }
      // Eight run, four wait.
      try await eventually("the commands") { Self.log(box).split(separator: "\n").count == 8 }
      try #require(unlink(box.directory.path + "/on-event") == 0)
      let running = Self.log(box).split(separator: "\n").compactMap { pid_t($0) }
      kill(running[0], SIGKILL)
      try await watch.errors(containing: "./on-event was not run", times: 4)
      running.forEach { kill($0, SIGKILL) }
      watch.signal(SIGINT)
      #expect(try await watch.end().status == 0)
    }
  }

  @Test func watchReportsCommandsThatFail() async throws {
    try await Sandbox.with { box in
      let watch = try box.start("watch", "--exec", "./nowhere")
      _ = try await box.simulate()
      try await watch.errors(containing: "./nowhere was not run")
      try Self.script(box, "exit 3")
      watch.signal(SIGINT)
      #expect(try await watch.end().status == 0)
      let other = try box.start("watch", "--exec", "./on-event")
      try await other.errors(containing: "./on-event ended with exit status 3")
    }
  }

  @Test func listWaitsForTheFirst() async throws {
    try await Sandbox.with { box in
      let over = try await box.run("list", "--wait", "0.05")
      #expect(over.status == 0 && over.outputText == "")
      #expect(over.errorText == "No accessory was plugged in within 0.05s.\n")
      let list = try box.start("list", "--wait", "60", "--json")
      _ = try await box.simulate("--serial", "A1")
      #expect(try await list.end().json()["devices"]?[0]?["id"] == "A1")
      #expect(try await box.run("list", "--wait", "60").outputText.contains("A1"))
    }
  }
}
