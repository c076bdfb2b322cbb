// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessorySimulator
import Glibc
import TestSupport
import Testing

extension Systemd {
  /// `setup` and `profile identify --system`, as somebody types them who has just installed the package.
  @Suite(.serialized) struct SetupTests {
    private static let profile = "/etc/accessory-bridge/profiles/cellar.yaml"
    private static let rules = "/etc/udev/rules.d/71-accessory-bridge-cellar.rules"

    /// An adapter like many others: no rule of the package fits it.
    private func plugIn(percent: UInt8 = 57) async throws -> PluggedIn {
      try await PluggedIn(.ftdi) {
        $0.device.identity.serialNumber = "A50285BI"
        $0.device.battery.percent = percent
      } usb: {
        ($0.manufacturer, $0.product) = ("FTDI", "FT232R USB UART")
      }
    }

    private func identify(_ node: String, _ more: String..., asUser user: Int? = nil) async throws -> Program.Transcript
    {
      try await InstalledService.ask(
        ["profile", "identify", node, "--system", "--name", "cellar", "--only", "framed", "--yes"] + more, asUser: user)
    }

    @Test func anAdapterIsAttachedFromThenOn() async throws {
      try await InstalledService.prepare()
      let plugged = try await plugIn()
      let stranger = try await identify(plugged.node, asUser: 65_534)
      #expect(stranger.status == EX_NOPERM && stranger.errorText.contains("sudo"), "\(stranger.errorText)")
      #expect(plugged.line == nil, "the accessory was opened")

      let set = try await identify(plugged.node)
      #expect(set.status == 0 && set.outputText.contains("57 %"), "\(set.outputText)\(set.errorText)")
      for path in [Self.profile, Self.rules] {
        var file = stat()
        #expect(stat(path, &file) == 0 && file.st_mode == S_IFREG | 0o644 && file.st_uid == 0)
        #expect(set.errorText.contains(path), "\(set.errorText)")
      }
      try await InstalledService.waitForAttached(["A50285BI"])

      // It is unplugged, the service leaves, and udev starts it when it comes back.
      try await plugged.stop()
      try await InstalledService.waitForState("inactive")
      let again = try await plugIn()
      try await InstalledService.waitForState("active")
      try await InstalledService.waitForAttached(["A50285BI"])

      let undo = try #require(set.errorText.split(separator: "\n").first { $0.hasPrefix("To undo it: ") })
      let words = undo.dropFirst("To undo it: ".count).replacing("sudo ", with: "")
      let undone = try await InstalledService.run("/bin/sh", "-c", String(words))
      #expect(undone.status == 0, "\(undone.errorText)")
      #expect(!Kernel.exists(Self.profile) && !Kernel.exists(Self.rules))
      try await InstalledService.waitForAttached([])
      try await again.stop()
      try await InstalledService.waitForState("inactive")
    }

    /// Everything in /etc, with modes, and of files sizes and targets.
    private func tree() async throws -> [String] {
      try await InstalledService.run(
        "/bin/sh", "-c", "find /etc -type d -printf '%p %m\\n' -o -printf '%p %m %s %l\\n' | sort"
      ).lines.map { $0 }
    }

    /// Profile, rule, service, page: one command makes them, one takes them away, and /etc is as it was.
    @Test func theWholeWayIsUndone() async throws {
      try await InstalledService.prepare()
      let plugged = try await plugIn()
      let before = try await tree()
      let words = ["setup", plugged.node, "--driver", "framed", "--name", "Cellar", "--show", "web", "--yes"]
      // Whoever may not write below /etc is told so, and nothing is written.
      let stranger = try await InstalledService.ask(words, asUser: 65_534)
      #expect(
        stranger.status == EX_NOPERM && stranger.errorText.contains("nothing was written"), "\(stranger.errorText)")
      #expect(try await tree().difference(from: before).isEmpty)

      let set = try await InstalledService.ask(words)
      #expect(set.status == 0 && set.outputText.contains("57 %"), "\(set.outputText)\(set.errorText)")
      try await InstalledService.waitForAttached(["A50285BI"])
      let web = "accessory-bridge-web.service"
      #expect(try await InstalledService.run("systemctl", "is-enabled", "--quiet", web).status == 0)
      #expect(try await InstalledService.run("systemctl", "is-active", "--quiet", web).status == 0)

      // A second one changes the first.
      let again = try await InstalledService.ask(words + ["--alarm", "battery < 90 %"])
      #expect(again.status == 0 && again.outputText.contains("battery < 90 %"), "\(again.outputText)\(again.errorText)")

      let undone = try await InstalledService.ask("setup", "--undo", "cellar")
      #expect(undone.status == 0 && undone.outputText.contains(Self.profile), "\(undone.outputText)\(undone.errorText)")
      #expect(try await tree().difference(from: before).isEmpty)
      #expect(try await InstalledService.run("systemctl", "is-active", "--quiet", web).status != 0)
      try await InstalledService.waitForAttached([])
      try await plugged.stop()
      try await InstalledService.waitForState("inactive")
    }

    /// A UPS on USB, which the package's rules have attached already: one command, and NUT's clients read it.
    @Test func aUPSIsSeenByNUTsClients() async throws {
      try await InstalledService.prepare()
      let place = try UPSPlace()
      let before = try await tree()
      let simulator = try await place.plugIn("--percent", "60")
      let set = try await InstalledService.ask(["setup", "LABUPS", "--name", "Rack", "--show", "nut", "--yes"])
      #expect(set.status == 0 && set.outputText.contains("60 %"), "\(set.outputText)\(set.errorText)")
      try await eventually("NUT's clients read it", within: .seconds(60)) {
        try await InstalledService.run("upsc", "LABUPS@localhost", "battery.charge").outputText.hasPrefix("60")
      }
      let undone = try await InstalledService.ask("setup", "--undo", "rack")
      #expect(undone.status == 0, "\(undone.outputText)\(undone.errorText)")
      #expect(try await tree().difference(from: before).isEmpty)
      try await place.unplug(simulator)
      try await InstalledService.waitForState("inactive")
    }

    /// Two adapters with one serial number: each goes by its port, and is the one that it was set up as.
    @Test func twinsAreSetUpByTheirPorts() async throws {
      try await InstalledService.prepare()
      let twins = [try await plugIn(percent: 40), try await plugIn(percent: 80)]
      let before = try await tree()
      for (twin, name) in zip(twins, ["left", "right"]) {
        let set = try await InstalledService.ask(
          "setup", twin.node, "--driver", "framed", "--name", name, "--show", "none", "--yes")
        let percent = name == "left" ? "40 %" : "80 %"
        #expect(set.status == 0 && set.outputText.contains(percent), "\(set.outputText)\(set.errorText)")
        let profile = Kernel.text("/etc/accessory-bridge/profiles/\(name).yaml")
        #expect(profile == "name: \(name)", "\(profile ?? "no file")")
      }
      #expect(Set(try await InstalledService.accessories().compactMap(\.profile)) == ["left", "right"])
      for name in ["left", "right"] {
        let undone = try await InstalledService.ask("setup", "--undo", name)
        #expect(undone.status == 0, "\(undone.outputText)\(undone.errorText)")
      }
      #expect(try await tree().difference(from: before).isEmpty)
      for twin in twins { try await twin.stop() }
      try await InstalledService.waitForState("inactive")
    }

    /// What is there already isn't replaced, and what was written before that is known is taken away again.
    @Test func aFileOfAnotherContentStays() async throws {
      try await InstalledService.prepare()
      let plugged = try await plugIn()
      #expect(try await InstalledService.run("mkdir", "-p", "/etc/udev/rules.d").status == 0)
      try await InstalledService.write("# mine\n", to: Self.rules)
      let refused = try await identify(plugged.node)
      #expect(refused.status == EX_CANTCREAT && refused.errorText.contains(Self.rules), "\(refused.errorText)")
      #expect(!Kernel.exists(Self.profile) && Kernel.text(Self.rules) == "# mine")
      #expect(try await InstalledService.run("rm", Self.rules).status == 0)
      try await plugged.stop()
    }
  }
}
