// SPDX-License-Identifier: Apache-2.0

import AccessoryFamilies
import Glibc
import TestSupport
import Testing

/// `profile`, and commands that go by profiles.
@Suite(.timeLimit(.minutes(Patience.minutes(10)))) struct ProfileTests {
  private func write(_ text: String, to name: String, _ box: Sandbox) throws {
    if !exists(box.directory.path + "/profiles") {
      #expect(mkdir(box.directory.path + "/profiles", 0o700) == 0)
    }
    try box.directory.write(Array(text.utf8), to: name)
  }

  @Test func profileListNamesProfilesAndProblems() async throws {
    try await Sandbox.with { box in
      let builtIn = try await box.run("profile", "list")
      #expect(builtIn.status == 0 && builtIn.errorText == "")
      let names = builtIn.lines.dropFirst().map { String($0.prefix { $0 != " " }) }
      #expect(
        names.contains("ev3") && names.contains("framed") && names.contains("framed-hid") && names == names.sorted())
      try write("name: mine\nmatch: {serial: A}\ndescription: \"\\u202Ex\"\n", to: "profiles/mine.yaml", box)
      try write("name: bad\nmatch: {}\n", to: "profiles/bad.yaml", box)
      let all = try await box.run("profile", "list")
      #expect(all.status == 0)
      #expect(all.lines.count == builtIn.lines.count + 1)
      let mine = try #require(all.lines.first { $0.hasPrefix("mine") })
      #expect(mine.contains("profiles/mine.yaml") && mine.contains("\\u{202e}x"))
      #expect(all.errorText.contains("profiles/bad.yaml:2:8: "))
      let json = try await box.run("profile", "list", "--json").json()
      #expect(json["schema"] == "accessory-bridge/2")
      #expect(
        json["profiles"]?[try #require(names.firstIndex(of: "framed"))]?.without("description") == [
          "name": "framed", "file": nil, "driver": "framed", "protocols": ["com.accessorybridge.framed"],
        ])
      let place = names.count { $0 < "mine" }
      #expect(json["profiles"]?[place]?["file"] == "\(box.directory.path)/profiles/mine.yaml")
      #expect(json["problems"]?[0]?["line"] == 2 && json["problems"]?[0]?["column"] == 8)
    }
  }

  /// What is shown can be kept as a file, and is the same profile then.
  @Test func aShownProfileCanBeKeptAsAFile() async throws {
    try await Sandbox.with { box in
      let shown = try await box.run("profile", "show", "framed")
      #expect(shown.status == 0)
      #expect(shown.lines.contains("name: framed") && shown.lines.contains("    baud: 115200"))
      try write(shown.outputText, to: "profiles/framed.yaml", box)
      #expect(try await box.run("profile", "check", "profiles/framed.yaml").status == 0)
      #expect(try await box.run("profile", "show", "framed").outputText == shown.outputText)
      let json = try await box.run("profile", "show", "framed", "--json").json()
      #expect(json["yaml"]?.text == shown.outputText)
      #expect(json["profile"]?["file"] == "\(box.directory.path)/profiles/framed.yaml")
      let unknown = try await box.run("profile", "show", "nothing", "--json")
      #expect(unknown.status == EX_NOINPUT)
      #expect(try unknown.json()["error"]?["kind"] == "not_found")
      #expect(try unknown.json()["error"]?["message"]?.text?.contains("bridge-cli profile list shows all") == true)
      for command in [
        ["profile", "show", "framd"], ["profile", "udev-rules", "--profile", "framd"],
      ] {
        let ended = try await box.run(command)
        #expect(ended.errorText.contains("there is no profile framd: did you mean framed?"), "\(ended.errorText)")
      }
    }
  }

  @Test func profileCheckReportsMistakesWithTheirPlace() async throws {
    try await Sandbox.with { box in
      try write("name: good\nmatch: {serial: A}\n", to: "good.yaml", box)
      try write("name: bad\nmatch:\n  - usb: {vendor: 0403, product: 6001}\nbuad: 1\n", to: "bad.yaml", box)
      let good = try await box.run("profile", "check", "good.yaml")
      #expect(good.status == 0 && good.errorText == "")
      #expect(good.lines == ["good.yaml: fine, profile good"])
      let all = try await box.run("profile", "check", "bad.yaml", "good.yaml", "none.yaml")
      #expect(all.status == EX_CONFIG)
      #expect(all.errorText == "")
      try #require(all.lines.count == 4)
      #expect(all.lines[1].hasPrefix("bad.yaml:4:1: unknown key \"buad\""), "\(all.lines)")
      #expect(all.lines[0].hasPrefix("bad.yaml:3:5: this rule matches every FTDI FT232"))
      #expect(all.lines[2] == good.lines[0])
      #expect(all.lines[3] == "none.yaml: it can't be read: no such file or directory")
      let checked = try await box.run("profile", "check", "bad.yaml", "good.yaml", "--json")
      #expect(checked.status == EX_CONFIG)
      let json = try checked.json()
      #expect(json["files"]?[0]?["ok"] == false && json["files"]?[0]?["profile"] == .null)
      #expect(json["files"]?[0]?["problems"]?[1]?["line"] == 4)
      #expect(json["files"]?[1] == ["file": "good.yaml", "notes": [], "ok": true, "profile": "good", "problems": []])
      #expect(try await box.run("profile", "check").status == EX_USAGE)
    }
  }

  /// Old keys of a description aren't wrong: their new spelling is noted.
  @Test func profileCheckNotesOldKeys() async throws {
    try await Sandbox.with { box in
      let text = """
        protocol: x
        version: 1
        framings: {f: {layout: [start: DD, data: 1]}}
        messages: {m: {fields: [{name: a, type: u8, scale: 0.1}]}}

        """
      try box.directory.write(Array(text.utf8), to: "old.yaml")
      let checked = try await box.run("profile", "check", "old.yaml")
      #expect(checked.status == 0)
      #expect(
        checked.lines == [
          "old.yaml: fine, protocol x", "old.yaml:4:45: scale is an old spelling: write value: raw / 10",
        ])
      let json = try await box.run("profile", "check", "old.yaml", "--json").json()
      #expect(json["files"]?[0]?["ok"] == true && json["files"]?[0]?["notes"]?[0]?["line"] == 4)
    }
  }

  /// The control characters of a file reach no terminal.
  @Test func aHostileProfilesTextIsEscaped() async throws {
    try await Sandbox.with { box in
      try box.directory.write(Array("name: x\n\"\\e]0;x\\a\\u202e\": 1\n".utf8), to: "a\u{1B}[31m.yaml")
      let checked = try await box.run("profile", "check", "a\u{1B}[31m.yaml")
      #expect(checked.status == EX_CONFIG)
      #expect(checked.outputText.unicodeScalars.allSatisfy { $0 == "\n" || ($0.value >= 0x20 && $0.value != 0x202E) })
    }
  }

  // MARK: - Opening

  /// The simulator's line is set as the profile says, unless the user says otherwise.
  @Test func theLineIsSetAsTheProfileSays() async throws {
    try await Sandbox.with { box in
      _ = try await box.simulate("--serial", "P1", "--link", "acc")
      try write(
        """
        name: mine
        match: {serial: P*}
        driver: framed
        transport:
          tty: {baud: 57600, stop_bits: 2, flow: hardware}
        pacing: {gap: 1ms}
        """, to: "profiles/mine.yaml", box)
      let profiled = try await box.run("info", "P1", "--json").json()["line"]
      #expect(profiled?["baud"] == 57_600, "\(String(describing: profiled))")
      #expect(profiled?["stop_bits"] == 2)
      #expect(profiled?["flow_control"] == "hardware")
      let wanted = try await box.run("info", "P1", "--baud", "9600", "--stop-bits", "1", "--json").json()["line"]
      #expect(wanted?["baud"] == 9_600)
      #expect(wanted?["stop_bits"] == 1)
      #expect(wanted?["flow_control"] == "hardware")
    }
  }

  /// A broken profile may be the one that was meant, so its user hears of it; and the others are used.
  @Test func brokenProfilesAreTold() async throws {
    try await Sandbox.with { box in
      _ = try await box.simulate("--serial", "P1")
      try write("name: [", to: "profiles/bad.yaml", box)
      let battery = try await box.run("battery", "--json")
      #expect(battery.status == 0)
      #expect(battery.errorText.contains("bridge-cli profile list"))
      #expect(try battery.json()["battery"] != nil)
    }
  }

  /// What others may write to isn't used by root, who runs this where there is no other user.
  @Test func aProfileThatEverybodyMayWriteIsIgnored() async throws {
    try await Sandbox.with { box in
      let usual = try await box.run("profile", "list")
      try write("name: mine\nmatch: {serial: A}\n", to: "profiles/mine.yaml", box)
      #expect(chmod(box.directory.path + "/profiles/mine.yaml", 0o666) == 0)
      let list = try await box.run("profile", "list")
      #expect(list.status == 0 && list.lines == usual.lines)
      #expect(list.errorText.contains("mine.yaml: it is not read: everybody may write to it"))
    }
  }
}
