// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Glibc
import TestSupport
import Testing

/// Several accessories on one line, as a user meets them.
@Suite(.timeLimit(.minutes(10))) struct UnitTests {
  private func write(_ units: String, _ box: Sandbox) throws {
    let folder = box.directory.path + "/profiles"
    if !exists(folder) { #expect(mkdir(folder, 0o700) == 0) }
    try box.directory.write(
      Array("name: bank\nmatch: {serial: BANK}\ndriver: daly\npoll: 1s\n\(units)\n".utf8), to: "profiles/bank.yaml")
  }

  /// What a profile doesn't name is had by its number.
  @Test func byItsNumber() async throws {
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
  @Test func ofAProfile() async throws {
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

  @Test func searched() async throws {
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
}
