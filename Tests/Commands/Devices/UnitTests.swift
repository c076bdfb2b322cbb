// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Glibc
import TestSupport
import Testing

/// Several accessories on one line, as a user meets them.
@Suite(.timeLimit(.minutes(Patience.minutes(10)))) struct UnitTests {
  private func write(_ units: String, _ box: Sandbox) throws {
    let folder = box.directory.path + "/profiles"
    if !exists(folder) { #expect(mkdir(folder, 0o700) == 0) }
    try box.directory.write(
      Array("name: bank\nmatch: {serial: BANK}\ndriver: daly\npoll: 1s\n\(units)\n".utf8), to: "profiles/bank.yaml")
  }

  /// What a profile doesn't name is had by its number.
  @Test func aUnitIsReachedByItsNumber() async throws {
    try await Sandbox.with { box in
      let bank = try await box.simulate(
        kind: "--profile", "daly", "--serial", "BANK", "--units", "1,2,5", "--set", "2:battery.percent=12")
      #expect(try await box.run("battery", "BANK@2", "--json").json()["battery"]?["percent"] == 12)
      let named = try await box.run("battery", bank.path + "@5", "--driver", "daly", "--json").json()
      #expect(named["battery"]?["percent"] == 50 && named["device"]?["unit"] == 5)
      #expect(try await box.run("battery", "BANK", "--json").json()["battery"]?["percent"] == 50)
      let preview = try await box.run("request", "BANK@2", "basic", "--dry-run")
      #expect(preview.outputText.lowercased().contains("a5 41 90"), "\(preview.outputText)")
      let mistakes: [(arguments: [String], status: Int32, text: String)] = [
        (["BANK@99"], EX_CONFIG, "the units of the driver daly are 1 to 16, not 99"),
        (["BANK@2", "--driver", "jbd"], EX_CONFIG, "the driver jbd has no units, so there is no unit 2"),
        (["BANK@"], EX_NOINPUT, "there is no accessory BANK@"),
      ]
      for mistake in mistakes {
        let end = try await box.run(["battery"] + mistake.arguments)
        #expect(end.status == mistake.status && end.errorText.contains(mistake.text), "\(end.errorText)")
      }
      try await bank.stop()
    }
  }

  /// Those of a profile are accessories of their own, without a service and with one.
  @Test func unitsOfAProfileAreAccessories() async throws {
    try await Sandbox.with { box in
      try write("units: [1, 2, 5]", box)
      let bank = try await box.simulate(
        kind: "--profile", "daly", "--serial", "BANK", "--units", "1,2,5", "--silent", "5", "--set",
        "2:battery.percent=12")
      func look(_ isHeld: Bool) async throws {
        let devices = try await box.run("list", "--json").json()["devices"]
        for (place, id) in ["BANK@1", "BANK@2", "BANK@5"].enumerated() {
          #expect(devices?[place]?["id"] == JSON.string(id))
        }
        #expect(try await box.run("battery", "BANK@2", "--json").json()["battery"]?["percent"] == 12)
        let several = try await box.run("battery", "BANK")
        #expect(several.status == EX_USAGE)
        #expect(several.errorText.contains("say which: BANK@1, BANK@2, BANK@5"), "\(several.errorText)")
        let stranger = try await box.run("battery", bank.path + "@7")
        #expect(stranger.status == EX_NOINPUT)
        #expect(stranger.errorText.contains("there is no unit 7 on BANK; its units are 1, 2, 5"))
        #expect(try await box.run("battery", "BANK@5").status == EX_TEMPFAIL)
      }
      try await look(false)
      let service = try await box.serve()
      for text in ["BANK@1 is attached", "BANK@2 is attached", "BANK@5: "] {
        try await service.errors(containing: text)
      }
      try await look(true)
      #expect(try await box.run("list").outputText.contains("no answer"))
      let silent = try await box.run("list", "--json").json()["devices"]?[2]
      #expect(silent?["service"]?["state"] == "waiting" || silent?["service"]?["state"] == "opening")
      let gone = try await box.run("detach", "BANK")
      #expect(gone.lines == ["BANK is detached."])
      let attached = try await box.run("attach", "BANK")
      for (place, id) in ["BANK@1", "BANK@2"].enumerated() {
        #expect(attached.lines[place] == "\(id) is attached: the service has it.")
      }
      #expect(attached.lines.last?.hasPrefix("BANK@5 is not attached yet: ") == true)
      service.signal(SIGTERM)
      _ = try await service.end()
      try await bank.stop()
    }
  }

  @Test func unitsOfALineAreFoundByASearch() async throws {
    try await Sandbox.with { box in
      try write("units: scan", box)
      let bank = try await box.simulate(kind: "--profile", "daly", "--serial", "BANK", "--units", "2,3")
      #expect(try await box.run("list", "--json").json()["devices"]?[0]?["id"] == "BANK")
      let found = try await box.run("list", "--scan", "--json").json()["devices"]
      #expect(found?[0]?["id"] == "BANK@2" && found?[1]?["id"] == "BANK@3")
      let several = try await box.run("battery", "BANK")
      #expect(several.status == EX_CONFIG && several.errorText.contains("name one, like BANK@1"))
      try await bank.stop()
    }
  }

  /// A valve whose position can be set, and the profile of two on one line.
  private static let valve = """
    framings:
      frame: {layout: [start: DD, address: u8, code: u8, length: {type: u8, of: data}, data, check: {algorithm: sum8, over: address..data}]}
    units: {element: address, to: 16}
    messages:
      position:
        when: {code: 1}
        fields:
          - {name: position, type: u8, unit: "%"}
          - {name: mode, type: u8, words: {0: manual, 1: automatic}}
          - {name: battery.voltage, type: u8, value: raw / 10, unit: V}
      set: {when: {code: [2, 3]}}
    parameters:
      battery_empty: {unit: V, from: 1, to: 100}
      battery_full: {unit: V, from: 1, to: 100}
    derived:
      - {name: battery.percent, value: "percent(battery.voltage, battery_empty, battery_full)"}
    requests:
      position: {send: frame, with: {code: 1}, reply: position, same: code}
      move:
        send: frame
        with: {code: 2}
        data: [{argument: to}]
        arguments: {to: {type: u8, from: 0, to: 100, unit: "%"}}
        reply: set
        same: code
        write: true
        sets: {position: "{to}", mode: manual}
      mode:
        send: frame
        with: {code: 3}
        data: [{argument: to}]
        arguments: {to: {type: u8, from: 0, to: 1, words: {manual: 0, automatic: 1}}}
        reply: set
        same: code
        write: true
        sets: {mode: "{to}"}
    plan:
      poll: [{requests: position, every: 10s}]
    examples:
      - {request: position, received: DD 01 01 03 14 01 7B 95, expect: {position: 20, mode: automatic}}
    """

  /// The units of the simulated line are those of the profile, its parameters say what a percent is, and what is written is
  /// read afterwards, of the unit that it was written to.
  @Test func theProfilesUnitsAndAWrite() async throws {
    try await Sandbox.with { box in
      #expect(mkdir(box.directory.path + "/profiles", 0o700) == 0)
      let described = Self.valve.split(separator: "\n").map { "  " + $0 }.joined(separator: "\n")
      let profile = """
        name: my-valve
        match: {serial: VALVE}
        units: [1, 2]
        writes: allowed
        parameters: {battery_empty: 10 V, battery_full: 20 V}
        protocol:
          version: 1
        \(described)
        """
      try box.directory.write(Array(profile.utf8), to: "profiles/my-valve.yaml")
      let check = try await box.run("profile", "check", "profiles/my-valve.yaml")
      #expect(check.status == 0, "\(check.outputText)\(check.errorText)")
      let line = try await box.simulate(
        kind: "--profile", "my-valve", "--serial", "VALVE", "--percent", "30", "--set", "2:position=70")
      func read(_ unit: Int) async throws -> [String: JSON] {
        let values = try await box.run("values", "VALVE@\(unit)", "--json").json()["values"]?.elements ?? []
        return Dictionary(values.map { ($0["name"]?.text ?? "", $0["number"] ?? nil) }) { $1 }
          .merging(values.map { (($0["name"]?.text ?? "") + "_word", $0["text"] ?? nil) }) { $1 }
      }
      var (first, second) = (try await read(1), try await read(2))
      #expect(first["position"] == 20 && first["mode_word"] == "automatic" && second["position"] == 70)
      #expect(try await box.run("battery", "VALVE@2", "--json").json()["battery"]?["percent"] == 30)
      for words in [["move", "to=45"], ["mode", "to=automatic"], ["move", "to=33"]] {
        let written = try await box.run(["request", "VALVE@2"] + words + ["--write"])
        #expect(written.status == 0, "\(written.errorText)")
        second = try await read(2)
        #expect(second["mode_word"] == (words[0] == "mode" ? "automatic" : "manual"))
      }
      first = try await read(1)
      #expect(first["position"] == 20 && first["mode_word"] == "automatic" && second["position"] == 33)
      try await line.stop()
      let stranger = try await box.run("simulate", "--profile", "my-valve", "--silent", "3")
      #expect(stranger.status == EX_USAGE && stranger.errorText.contains("the profile my-valve has no unit 3"))
      let alone = try await box.run("simulate", "--profile", "jbd", "--silent", "3")
      #expect(alone.status == EX_USAGE && alone.errorText.contains("--units is missing"), "\(alone.errorText)")
    }
  }
}
