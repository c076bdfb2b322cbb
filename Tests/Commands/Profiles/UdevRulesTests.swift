// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// `udev-rules`.
@Suite(.timeLimit(.minutes(Patience.minutes(10)))) struct UdevRulesTests {
  private func write(_ text: String, to name: String, _ box: Sandbox) throws {
    if !exists(box.directory.path + "/profiles") {
      #expect(mkdir(box.directory.path + "/profiles", 0o700) == 0)
    }
    try box.directory.write(Array(text.utf8), to: name)
  }

  @Test func udevRulesAreMadeForTheNamedProfiles() async throws {
    try await Sandbox.with { box in
      try write("name: mine\nmatch: {serial: 'A\"\\|'}\n", to: "profiles/mine.yaml", box)
      try write("name: bad\nmatch: {}\n", to: "profiles/bad.yaml", box)
      let builtIn = try await box.run("udev-rules", "--built-in")
      #expect(builtIn.status == 0 && builtIn.errorText == "")
      #expect(builtIn.lines.contains("# framed") && !builtIn.lines.contains("# mine"))
      let all = try await box.run("udev-rules")
      #expect(all.status == 0)
      #expect(all.lines.contains("# framed") && all.lines.contains("# mine"))
      #expect(all.errorText.contains("profiles/bad.yaml:2:8: "))
      #expect(all.outputText.contains(#"ATTR{serial}=="A\"[\\][{-}]", "#))
      let mine = try await box.run("udev-rules", "--profile", "mine", "--group", "plugdev", "--mode", "600")
      #expect(!mine.lines.contains("# framed") && mine.lines.contains("# mine"))
      #expect(mine.lines.contains(#"TAG+="uaccess", GROUP="plugdev", MODE="0600""#))
      #expect(mine.lines.contains(#"TAG+="systemd", ENV{SYSTEMD_WANTS}+="accessory-bridge.service""#))
      let bare = try await box.run("udev-rules", "--profile", "mine", "--no-systemd")
      #expect(bare.status == 0 && !bare.outputText.contains("systemd"))
      let json = try await box.run("udev-rules", "--json").json()
      #expect(json["schema"] == "accessory-bridge/2" && json["rules"]?.text == all.outputText)
      #expect(json["profiles"] == ["ev3", "framed", "framed-hid", "hid-power", "mine"])
      #expect(json["problems"]?[0]?["line"] == 2)
    }
  }

  /// Whoever reads the rules before they are installed sees all that is in them.
  @Test func invisibleCharactersAreNeverPrinted() async throws {
    try await Sandbox.with { box in
      let text = #"""
        name: mine
        description: "\u202Ex"
        match: {usb: {vendor: 2341}, name: "a\u202Eb\u2066c\u115F"}

        """#
      try write(text, to: "profiles/mine.yaml", box)
      let rules = try await box.run("udev-rules")
      #expect(rules.status == 0)
      #expect(rules.outputText.contains(#"ATTR{product}=="a???b???c???", "#))
      let bad: [Unicode.Scalar] = ["\u{202E}", "\u{2066}", "\u{115F}"]
      for arguments in [["udev-rules"], ["udev-rules", "--json"], ["profile", "list"], ["profile", "show", "mine"]] {
        let ended = try await box.run(arguments)
        #expect(ended.status == 0 && !(ended.outputText + ended.errorText).unicodeScalars.contains { bad.contains($0) })
      }
    }
  }

  @Test func wrongUseOfUdevRulesIsAnError() async throws {
    try await Sandbox.with { box in
      try write("name: pretended\nmatch: {driver: framed}\n", to: "profiles/pretended.yaml", box)
      let simulated = try await box.run("udev-rules", "--profile", "pretended")
      #expect(simulated.status != 0 && simulated.outputText == "")
      #expect(simulated.errorText.contains("fits only simulators"))
      #expect(try await box.run("udev-rules", "--profile", "nothing").status == EX_NOINPUT)
      for arguments in [
        ["--group", "a b"], ["--unit", "x\", RUN+=\"y"], ["--mode", "9"], ["--mode", "1777"], ["--mode", "+77"],
        ["--unit", "x", "--no-systemd"], ["--run", "/x", "--no-systemd"], ["--run", "x"], ["--run", "/x y"],
      ] {
        #expect(try await box.run(["udev-rules"] + arguments).status == EX_USAGE, "\(arguments)")
      }
    }
  }
}
