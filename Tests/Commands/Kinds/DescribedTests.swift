// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Glibc
import TestSupport
import Testing

/// Accessories whose protocol a file describes: what commands do with built-in kinds, they do with these.
@Suite(.timeLimit(.minutes(Patience.minutes(10)))) struct DescribedTests {
  /// A description that a user could write, without its first line.
  private static let lamp = #"""
    version: 1
    description: A lamp with a battery
    framings:
      line: {layout: [data, end: "\n"]}
    messages:
      status:
        pattern: "S {status.progress} {battery.percent} {battery.voltage}"
        types:
          status.progress: {type: number, unit: "%"}
          battery.percent: {type: number, unit: "%"}
          battery.voltage: {type: number, unit: V}
      light: {pattern: "L {brightness}", types: {brightness: {type: number, unit: lx}}}
    requests:
      status: {summary: What it does, send: "S?\n", reply: status}
      light: {summary: How bright it is, send: "L?\n", reply: light}
    plan:
      poll: [{requests: [status, light]}]
    examples:
      - {request: status, sent: "S?\n", received: "S 40 57 3.7\n", expect: {battery.percent: 57}}
      - {request: light, sent: "L?\n", received: "L 300\n", expect: {brightness: 300}}
    """#

  private func write(_ text: String, to name: String, _ box: Sandbox) throws {
    if let slash = name.lastIndex(of: "/") {
      let folder = box.directory.path + "/" + name[..<slash]
      if !exists(folder) { #expect(mkdir(folder, 0o700) == 0) }
    }
    try box.directory.write(Array((text + "\n").utf8), to: name)
  }

  /// `simulate --profile NAME`, and what is asked of it without a service.
  @Test func aDescribedBoardIsAskedByItsProtocolsName() async throws {
    try await Sandbox.with { box in
      let board = try await box.simulate(kind: "--profile", "jbd", "--percent", "57", "--serial", "BMS1")
      let battery = try await box.run("battery", "--json").json()
      #expect(battery["battery"]?["percent"] == 57 && battery["battery"]?["voltage_mv"] == 58_880)
      #expect(battery["battery"]?["cells_mv"]?[0] == 3_942 && battery["device"]?["driver"] == "jbd")
      let status = try await box.run("status", "BMS1")
      #expect(status.status == 0 && status.outputText.contains("0123456789"), "\(status.outputText)\(status.errorText)")
      // A BMS has no status: there is no row for it, and what there is instead is said.
      #expect(!status.lines.contains { $0.hasPrefix("State") || $0.hasPrefix("Fault") || $0.hasPrefix("Progress") })
      #expect(
        status.errorText.contains(
          "jbd reports no status. Other commands for it: bridge-cli battery BMS1, bridge-cli values BMS1"),
        "\(status.errorText)")
      let document = try await box.run("status", "BMS1", "--json").json()
      #expect(document["status"]?["state"] == .null && document["status"]?["reports_faults"] == false)
      let values = try await box.run("values", "BMS1", "charge_mosfet", "cell_count")
      #expect(values.lines == ["name           value  unit", "charge_mosfet  yes", "cell_count     15"])
      let list = try await box.run("request", "BMS1", "--list")
      #expect(list.lines.first == "jbd" && list.lines.contains { $0.hasPrefix("  cells → battery.cells (V)") })
      let cells = try await box.run("request", "BMS1", "cells", "--json").json()
      #expect(cells["replies"]?[0]?["command"] == "cells", "\(cells)")
      let unknown = try await box.run("request", "BMS1", "sells")
      #expect(unknown.status == EX_USAGE && unknown.errorText.contains("sells"))
      let info = try await box.run("info", board.path)
      #expect(info.lines.contains { $0.hasPrefix("Protocol") && $0.contains("jbd") })
      #expect(info.lines.contains { $0.split(separator: " ") == ["Unreadable", "0", "fields"] })
      #expect(!info.outputText.contains("HELLO"))
      try await board.stop()
    }
  }

  /// What passes is shown in the description's words, live and recorded; a console sends nothing without permission.
  @Test func traceShowsADescriptionsWords() async throws {
    try await Sandbox.with { box in
      let board = try await box.simulate(kind: "--profile", "jbd", "--percent", "57")
      let trace = try box.start("trace", board.path, "--ask", "--record", "session.trace", "--full")
      _ = try await trace.line(containing: "request basic")
      _ = try await trace.line(containing: "battery.percent 57 %")
      trace.signal(SIGINT)
      let live = try await trace.end()
      #expect(try await box.run("trace", "session.trace", "--full").outputText == live.outputText)
      let documents = try await box.run("trace", "session.trace", "--json").lines.map { try JSON($0) }
      let reply = documents.first { $0["kind"] == "reply" && $0["command"] == "basic" }
      #expect(reply?["protocol"] == "jbd" && reply?["fields"]?["battery.percent"] == 57, "\(documents)")
      #expect(reply?["fields"]?["battery.voltage"]?.double == 58.88)
      let console = try await box.run(
        ["console", board.path, "--driver", "jbd", "--show", "frames", "--eol", "none", "--linger", "1s"],
        prefix: ["/bin/sh", "-c", #"printf '\335\245\003\000\377\375\167' | "$0" "$@""#])
      // JBD's protocol has writes, and nobody has allowed them: what is piped in isn't sent.
      #expect(console.status == 77, "\(console.errorText)")
      #expect(!console.outputText.contains("reply basic"), "\(console.outputText)")
      try await board.stop()
    }
  }

  /// A UPS doesn't tell how full its battery is: that is unknown until its owner says between which voltages it works. Then the
  /// service knows it, too.
  @Test func thePercentFollowsFromTheUsersVoltages() async throws {
    try await Sandbox.with { box in
      let board = try await box.simulate(
        kind: "--profile", "megatec", "--serial", "UPS1", "--set", "reported_voltage=24.9")
      let unknown = try await box.run("battery", "--json").json()
      #expect(unknown["battery"]?["voltage_mv"] == 24_900 && unknown["battery"]?["percent"] == .null)
      try write(
        "name: cellar\nmatch: {serial: UPS1}\nprotocol: megatec\nparameters: {battery_empty: 21 V, battery_full: 27.0 V}",
        to: "profiles/cellar.yaml", box)
      for arguments in [["battery", "--json"], ["battery", "UPS1", "--driver", "megatec", "--json"]] {
        #expect(try await box.run(arguments).json()["battery"]?["percent"] == 65, "\(arguments)")
      }
      let service = try await box.expectTheSame([["battery", "--json"], ["values"]], serial: "UPS1")
      service.signal(SIGTERM)
      _ = try await service.end()
      try await board.stop()
    }
  }

  /// What people look for at a UPS: what it runs from, its load and how long that lasts; through the service and without one, in one table
  /// of all, and where it is followed.
  @Test func theBatteryOfAUPSShowsItsSupplyAndItsLoad() async throws {
    try await Sandbox.with { box in
      let profile = "name: rack\nmatch: {serial: UPS1}\nprotocol: megatec\npoll: 1s\n"
      try write(profile, to: "profiles/rack.yaml", box)
      let board = try await box.simulate(
        kind: "megatec", "--serial", "UPS1", "--set", "on_battery=true", "--set", "load=35")
      func expectIsShown() async throws {
        let text = try await box.run("battery")
        #expect(text.outputText.contains("\nSupply") && text.outputText.contains("on battery"), "\(text.outputText)")
        #expect(text.outputText.contains(#/\nLoad +35 %/#), "\(text.outputText)")
        let json = try await box.run("battery", "--json").json()
        let values = (json["values"]?.elements ?? []).map { "\($0["name"]?.text ?? ""), \($0["unit"]?.text ?? "-")" }
        #expect(values == ["load, %", "on_battery, -"], "\(json)")
        let all = try await box.run("battery", "--all")
        #expect(all.outputText.contains("on battery, load 35 %"), "\(all.outputText)")
        let list = try await box.run("battery", "--all", "--json").json()
        #expect(list["batteries"]?[0]?["values"] == json["values"])
      }
      try await expectIsShown()
      let service = try await box.serve()
      try await service.errors(containing: "UPS1 is attached at")
      try await expectIsShown()
      let watch = try box.start("battery", "--watch")
      try await watch.line(containing: "Supply")
      watch.signal(SIGINT)
      #expect(try await watch.end().outputText.contains(#/Load +35 %/#))
      service.signal(SIGTERM)
      _ = try await service.end()
      try await board.stop()
      // What is no UPS has none of that.
      let pack = try await box.simulate(kind: "jbd", "--serial", "PACK1")
      let text = try await box.run("battery", "PACK1")
      #expect(text.status == 0 && !text.outputText.contains("Supply"))
      #expect(try await box.run("battery", "PACK1", "--json").json()["values"] == .null)
      try await pack.stop()
    }
  }

  /// A profile that names the protocol: attached by the service, the same answers, news of what changes; udev's rules.
  @Test func aDescribedBoardAnswersThroughTheService() async throws {
    try await Sandbox.with { box in
      try write("name: cellar\nmatch: {serial: BMS1}\nprotocol: jbd\npoll: 1s", to: "profiles/cellar.yaml", box)
      let rules = try await box.run("udev-rules", "--profile", "cellar")
      #expect(rules.status == 0 && rules.lines.contains("# cellar"))
      #expect(
        rules.outputText.contains(#"ATTRS{serial}=="BMS1""#) || rules.outputText.contains(#"ATTR{serial}=="BMS1""#))
      let board = try await box.simulate(kind: "--profile", "jbd", "--percent", "57", "--serial", "BMS1")
      let calls = [
        ["battery", "--json"], ["values"], ["values", "--json", "BMS1", "software_version"], ["status"],
        ["request", "BMS1", "cells"], ["request", "BMS1", "hardware", "--json"], ["request", "BMS1", "--list"],
        ["request", "BMS1", "sells"], ["info", "--json"], ["battery", "BMS1", "--driver", "jbd", "--json"],
      ]
      let service = try await box.expectTheSame(calls, serial: "BMS1")
      let other = try await box.run("battery", "BMS1", "--driver", "megatec")
      #expect(
        other.status == EX_UNAVAILABLE && other.errorText.contains("to open it differently"), "\(other.errorText)")
      #expect(try await box.run("list", "--json").json()["devices"]?[0]?["serial"] == "BMS1")
      service.signal(SIGTERM)
      _ = try await service.end()
      try await board.stop()
    }
  }

  @Test func theServiceTellsChangesOfADescribedBoard() async throws {
    try await Sandbox.with { box in
      try write("name: cellar\nmatch: {serial: BMS1}\nprotocol: jbd\npoll: 1s", to: "profiles/cellar.yaml", box)
      let board = try await box.simulate(
        kind: "--profile", "jbd", "--percent", "90", "--drain", "10", "--serial", "BMS1")
      let service = try await box.serve()
      try await service.errors(containing: "BMS1 is attached at")
      let watch = try box.start("battery", "BMS1", "--watch", "--json")
      @Sendable func percents(_ state: Program.Transcript) -> [Double] {
        state.lines.compactMap { try? JSON($0)["battery"]?["percent"]?.double }
      }
      let state = try await watch.transcript.wait { $0.status != nil || Set(percents($0)).count >= 2 }
      let told = percents(state)
      #expect(Set(told).count >= 2 && told == told.sorted(by: >), "\(state.outputText)")
      watch.signal(SIGINT)
      _ = try await watch.end()
      service.signal(SIGTERM)
      _ = try await service.end()
      try await board.stop()
    }
  }

  /// A description that lies in a file, and one that stands in a profile.
  @Test func aDescriptionOfTheUsersIsUsed() async throws {
    try await Sandbox.with { box in
      try write("protocol: lamp\n" + Self.lamp, to: "lamp.yaml", box)
      let indented = Self.lamp.split(separator: "\n").map { "  " + $0 }.joined(separator: "\n")
      try write("name: desk\nmatch: {serial: LAMP2}\nprotocol:\n" + indented, to: "profiles/desk.yaml", box)
      #expect(try await box.run("profile", "check", "lamp.yaml", "profiles/desk.yaml").status == 0)
      let first = try await box.simulate(kind: "--profile", "./lamp.yaml", "--percent", "12", "--serial", "LAMP1")
      let second = try await box.simulate(kind: "--profile", "desk", "--set", "brightness=5", "--serial", "LAMP2")
      let unknown = try await box.run("battery", "LAMP1")
      #expect(unknown.status == EX_CONFIG && unknown.errorText.contains("the driver lamp"), "\(unknown.errorText)")
      for (device, percent, light) in [(["LAMP1", "--driver", "./lamp.yaml"], 12, "300"), (["LAMP2"], 57, "5")] {
        let battery = try await box.run(["battery", "--json"] + device)
        #expect(try battery.json()["battery"]?["percent"] == .number(Double(percent)), "\(battery.errorText)")
        let status = try await box.run(["status", "--json"] + device).json()
        #expect(status["status"]?["progress_percent"] == 40)
        let values = try await box.run(["values"] + device)
        #expect(
          values.lines.last == "brightness  \(light)\(light.count == 1 ? "  " : "")    lx", "\(values.outputText)")
        // A name that no built-in kind has, and one that AF1's shorter form has, too.
        let request = try await box.run(["request", device[0], "light"] + device.dropFirst())
        #expect(
          request.outputText == "\(light) lx\n" && request.status == 0, "\(request.outputText)\(request.errorText)")
        let status2 = try await box.run(["request", device[0], "status"] + device.dropFirst())
        #expect(status2.outputText.contains("3.7 V"), "\(status2.outputText)\(status2.errorText)")
      }
      // Frames have their names here, too, also of a recording, if it is said what it is of.
      for (device, options) in [(first.path, ["--driver", "./lamp.yaml"]), (second.path, [])] {
        let trace = try box.start(["trace", device, "--ask", "--record", "\(options.count).trace"] + options)
        _ = try await trace.line(containing: "reply status  status.progress 40 %, battery.percent")
        trace.signal(SIGINT)
        _ = try await trace.end()
        let again = try await box.run(["trace", "\(options.count).trace"] + options)
        #expect(
          again.outputText.contains("reply status  status.progress 40 %"), "\(again.outputText)\(again.errorText)")
      }
      let list = try await box.run("request", "--list", "--driver", "./lamp.yaml")
      #expect(list.lines.first == "lamp" && list.lines.contains("  light → brightness (lx)"))
      try await first.stop()
      try await second.stop()
    }
  }

  /// A field that says what can't be is unknown, and `info` counts it, with and without a service.
  @Test func nonsenseOfABoardIsUnknownAndCounted() async throws {
    try await Sandbox.with { box in
      try write("name: cellar\nmatch: {serial: BMS1}\nprotocol: jbd\npoll: off", to: "profiles/cellar.yaml", box)
      let board = try await box.simulate(
        kind: "--profile", "jbd", "--set", "battery.percent=250", "--set", "identity.production_date=unknown",
        "--serial", "BMS1")
      let battery = try await box.run("battery", "--json").json()
      #expect(battery["battery"]?["percent"] == .null && battery["battery"]?["voltage_mv"] == 58_880)
      let info = try await box.run("info")
      #expect(info.lines.contains { $0.split(separator: " ") == ["Unreadable", "2", "fields"] }, "\(info.outputText)")
      let service = try await box.serve()
      try await service.errors(containing: "BMS1 is attached at")
      #expect(try await box.run("battery", "--json").json()["battery"]?["percent"] == .null)
      let held = try await box.run("info", "--json").json()["protocol"]?["unreadable_fields"]?.double ?? 0
      #expect(held >= 4, "at contact, and at the request")
      service.signal(SIGTERM)
      _ = try await service.end()
      try await board.stop()
    }
  }

  /// Two profiles that say as much of a device, and name different protocols.
  @Test func twoFittingProfilesAreAnError() async throws {
    try await Sandbox.with { box in
      try write("name: cellar\nmatch: {serial: BMS1}\nprotocol: jbd", to: "profiles/cellar.yaml", box)
      try write("name: roof\nmatch: {serial: BMS1}\nprotocol: daly", to: "profiles/roof.yaml", box)
      let board = try await box.simulate(kind: "--profile", "jbd", "--serial", "BMS1")
      let battery = try await box.run("battery")
      #expect(battery.status == EX_CONFIG && battery.outputText == "")
      #expect(battery.errorText.contains("roof (daly) and cellar (jbd)"), "\(battery.errorText)")
      #expect(try await box.run("battery", "--driver", "jbd").status == 0)
      try await board.stop()
    }
  }
}
