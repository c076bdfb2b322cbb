// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import Glibc
import TestSupport
import Testing

/// Alarms, as a user sees them: serve and simulators, list, battery, watch.
@Suite(.timeLimit(.minutes(Patience.minutes(10)))) struct AlarmTests {
  private static func log(_ box: Sandbox) -> String {
    (try? SmallFile.read(box.directory.path + "/log", limit: 65_536)).map { String(decoding: $0, as: UTF8.self) } ?? ""
  }

  private static func script(_ box: Sandbox) throws {
    let text = #"""
      #!/bin/sh
      echo "$ACCESSORY_EVENT|$ACCESSORY_SERIAL|$ACCESSORY_ALARM|$ACCESSORY_ALARM_NAME|$ACCESSORY_ALARM_RULE|$ACCESSORY_ALARM_VALUE" >> log

      """#
    try box.directory.write(Array(text.utf8), to: "on-event", mode: 0o700)
  }

  @Test func aServiceRaisesAlarms() async throws {
    try await Sandbox.with { box in
      try Self.script(box)
      let watch = try box.start("watch", "--json", "--exec", "./on-event")
      let service = try await box.serve("--alarm", "low: battery < 20 %", "--alarm", "fault")
      let simulator = try await box.simulate("--serial", "A1", "--percent", "12")
      try await service.errors(containing: "A1: alarm: low, 12 %")
      try await eventually("the alarm's program") {
        Self.log(box).contains("alarm|A1|raised|low|battery < 20 %|12 %\n")
      }
      let listed = try await box.run("list", "--json").json()["devices"]?[0]?["service"]?["alarms"]
      #expect(listed?[0]?["name"] == "low" && listed?[1] == nil)
      #expect(try await box.run("list").outputText.contains("! low"))
      for command in ["battery", "status"] {
        let document = try await box.run(command, "A1", "--json").json()
        #expect(document["alarms"]?[0]?["value"] == "12 %")
        #expect(try await box.run(command, "A1").outputText.contains("! low: battery < 20 %, now 12 %, since "))
      }
      // It stays when the accessory goes, until that is forgotten.
      try await simulator.stop()
      try await service.errors(containing: "A1 is no longer attached")
      #expect(try await box.run("forget", "A1").status == 0)
      try await eventually("the alarm's end") { Self.log(box).contains("alarm|A1|cleared|low|battery < 20 %|12 %\n") }
      watch.signal(SIGINT)
      let alarms = try await watch.end().lines.map { try JSON($0) }.filter { $0["event"] == "alarm" }
      #expect(alarms.map { $0["state"] } == ["raised", "cleared"])
    }
  }

  /// The rules of watch itself, on what a service reads, and without a service.
  @Test(arguments: [true, false]) func watchHasRulesOfItsOwn(isServed: Bool) async throws {
    try await Sandbox.with { box in
      try Self.script(box)
      if isServed { _ = try await box.serve() }
      let watch = try box.start("watch", "--alarm", "battery < 20 %", "--exec", "./on-event")
      _ = try await box.simulate("--serial", "A1", "--percent", "12")
      try await eventually("the alarm's program") {
        Self.log(box).contains("alarm|A1|raised|battery < 20 %|battery < 20 %|12 %\n")
      }
      watch.signal(SIGINT)
      let ended = try await watch.end()
      #expect(ended.status == 0 && ended.outputText.contains("! alarm"))
    }
  }

  @Test(arguments: [true, false]) func batteryHasRulesOfItsOwn(isServed: Bool) async throws {
    try await Sandbox.with { box in
      _ = try await box.simulate("--serial", "A1", "--percent", "12")
      if isServed {
        let service = try await box.serve()
        try await service.errors(containing: "A1 is attached at")
      }
      let battery = try box.start("battery", "A1", "--watch", "--json", "--alarm", "battery < 20 %")
      let lines = try await battery.lines(2)
      #expect(lines.contains { $0.contains(#""event":"alarm""#) && $0.contains(#""state":"raised""#) })
      battery.signal(SIGINT)
      _ = try await battery.end()
    }
  }

  /// A rule for a service that runs already would have no effect.
  @Test func attachRefusesRulesForAService() async throws {
    try await Sandbox.with { box in
      let service = try await box.serve()
      _ = try await box.simulate("--serial", "A1")
      try await service.errors(containing: "A1 is attached at")
      let attached = try await box.run("attach", "A1", "--alarm", "fault")
      #expect(attached.status != 0 && attached.errorText.contains("it ignores --alarm"))
      #expect(try await box.run("attach", "A1").status == 0)
      try box.directory.write(
        Array("alarms:\n- driver: epever\n  rules: [solar_power < 5 V]\n".utf8), to: "service.yaml")
      let checked = try await box.run("service", "check", "service.yaml")
      #expect(checked.status == 78 && checked.outputText.contains("solar_power is in W, and the limit in V"))
    }
  }

  @Test func mistakesInAlarmsAreReported() async throws {
    try await Sandbox.with { box in
      let wrong = try await box.run("watch", "--alarm", "battery < 20 V")
      #expect(wrong.status == 64 && wrong.errorText.contains("column 14: battery is measured in %, not in V"))
      let twice = try await box.run("serve", "--alarm", "fault", "--alarm", "fault")
      #expect(twice.status == 64 && twice.errorText.contains("two alarms are named fault"))
      #expect(try await box.run("battery", "--alarm", "fault").errorText.contains("--alarm needs --watch"))
      try box.directory.write(
        Array("alarms:\n- fault\n- accessory: A1\n  rules: [battery < 20 V]\n".utf8), to: "service.yaml")
      let checked = try await box.run("service", "check", "service.yaml")
      #expect(
        checked.status == 78 && checked.outputText.hasPrefix("service.yaml:4:24: battery is measured in %, not in V"))
    }
  }
}
