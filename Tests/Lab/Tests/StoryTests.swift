// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryIO
import AccessorySimulator
import Glibc
import TestSupport
import Testing

extension Systemd {
  /// A person's ways, from the packages and the cable to where the accessory is seen: the commands are those of the pages, and the answers,
  /// too. Each way begins on a machine that has never had the packages.
  @Suite(.serialized) struct StoryTests {
    private static let setup = ("Documentation/setup.md", "Which one?")

    /// Installs as the README says.
    private func install(_ person: inout Person) async throws {
      let page = try Person.Commands("README.md", with: "usermod")
      #expect(page.lines.last == "bridge-cli setup")
      _ = try await person.type(Person.Commands(lines: page.lines.dropLast()))
    }

    /// Waits until a command that looks prints this.
    private func see(_ text: String, _ command: String, _ person: Person) async throws {
      let seen = Locked("")
      do {
        try await eventually("\(command) to show \(text)", within: .seconds(90)) {
          let shown = try await person.see(command)
          seen.withLock { $0 = shown }
          return shown.contains(text)
        }
      } catch {
        Issue.record("\(command): \(seen.withLock { $0 })\n\(try await InstalledService.log())")
        throw error
      }
    }

    /// Undoes what the ways have made, so that nothing of it is left.
    private func undo(_ names: String..., by person: Person) async throws {
      for name in names {
        let shown = try await person.see("bridge-cli setup --undo \(name)")
        #expect(shown.contains("/etc/accessory-bridge/profiles/\(name).yaml"), "\(shown)")
        #expect(!Kernel.exists("/etc/udev/rules.d/71-accessory-bridge-\(name).rules"))
      }
    }

    /// A gadget with USB of its own, which the package knows.
    @Test func aGadget() async throws {
      var person = try await Person()
      try await install(&person)
      let plugIn = {
        try await PluggedIn(.modem) {
          $0.device.identity.serialNumber = "GADGET1"
          $0.device.battery.percent = 63
        }
      }
      let plugged = try await plugIn()
      let shown = try await person.type(
        Person.Commands(lines: ["bridge-cli setup"]), try Dialogue(Self.setup))
      #expect(shown.contains("63 %") && shown.contains("GADGET1 is attached"))
      try await see("House battery", "curl -s http://127.0.0.1:8380/", person)
      // From then on udev starts the service.
      try await plugged.stop()
      let again = try await plugIn()
      try await see("63 %", "bridge-cli battery", person)
      person.count("a gadget", installing: 2)
      try await undo("house-battery", by: person)
      try await again.stop()
    }

    /// A battery pack at an adapter that nobody knows, to what Home Assistant reads of it.
    @Test func aPackToHomeAssistant() async throws {
      let jbd = try #require(DescriptionLibrary.builtIn.described("jbd")?.description)
      let broker = try Program(
        ["/usr/sbin/mosquitto", "-p", "1883"], environment: ["PATH": "/usr/bin"], directory: "/tmp",
        limit: .seconds(900))
      var person = try await Person()
      try await install(&person)
      let pack = try await PluggedPack(jbd)
      let page = try Person.Commands("Documentation/fleet.md", with: "--show mqtt")
      let shown = try await person.type(page, try Dialogue(Self.setup))
      #expect(shown.contains("Found jbd") && shown.contains("57 %"))
      let listen = "mosquitto_sub -h broker.example -W 20 -C 1 -t "
      try await see("\"name\":\"House battery\"", listen + "'homeassistant/device/+/+/config' --retained-only", person)
      try await see("\"percent\":57", listen + "'accessory-bridge/+/+/state'", person)
      person.count("a pack to Home Assistant", installing: 3)
      try await undo("house-battery", by: person)
      try await pack.stop()
      broker.signal(SIGTERM)
      _ = try await broker.end()
    }

    /// A UPS to NUT's upsmon, which hears of a power cut.
    @Test func aUPSToUpsmon() async throws {
      var person = try await Person()
      try await install(&person)
      let place = try UPSPlace()
      let simulator = try await place.plugIn("--percent", "60")
      let page = try Person.Commands("Documentation/nut.md", with: "nut-monitor")
      let shown = try await person.type(page, try Dialogue(("Documentation/nut.md", "Does it supply"), Self.setup))
      #expect(shown.contains("60 %"))
      try await see("ups.status: OL", "upsc ups@localhost", person)
      let monitor = "nut-monitor.service"
      try await InstalledService.waitForState("active", of: monitor)
      simulator.signal(SIGUSR1)
      try await see("OB", "upsc ups@localhost ups.status", person)
      try await eventually("upsmon hears of it", within: .seconds(60)) {
        try await InstalledService.log(of: monitor).contains("on battery")
      }
      person.count("a UPS to upsmon", installing: 2)
      _ = try await InstalledService.run("systemctl", "stop", monitor)
      try await undo("house-battery", by: person)
      try await place.unplug(simulator)
    }

    /// A gadget of one's own, described in thirty lines.
    @Test func aDescribedGadget() async throws {
      let page = "Documentation/describing-tutorial.md"
      let file = try #require(try Page(page).blocks.first { $0.lines.first == "# lamp.yaml" })
      var person = try await Person()
      try await install(&person)
      let text = file.lines.joined(separator: "\n") + "\n"
      try await InstalledService.write(text, to: "\(Person.home)/lamp.yaml")
      let described = try DescriptionReader.read(path: "\(Person.home)/lamp.yaml")
      let lamp = try await PluggedPack(described.description, percent: 75)
      let shown = try await person.type(
        try Person.Commands(page, with: "setup --driver"), try Dialogue(Self.setup))
      #expect(shown.contains("75 %"), "\(shown)")
      try await see("1250", "bridge-cli values", person)
      person.count("a described gadget", installing: 2)
      try await undo("house-battery", by: person)
      try await lamp.stop()
    }

    /// Two packs whose adapters have one serial number.
    @Test func twoPacksWithOneSerialNumber() async throws {
      let jbd = try #require(DescriptionLibrary.builtIn.described("jbd")?.description)
      var person = try await Person()
      try await install(&person)
      let packs = [
        try await PluggedPack(jbd, serial: "0001", percent: 40),
        try await PluggedPack(jbd, serial: "0001", percent: 80),
      ]
      let page = try Person.Commands("Documentation/setup.md", with: "--name Left")
      _ = try await person.type(page, try Dialogue(Self.setup))
      for (name, percent) in [("Left", "40 %"), ("Right", "80 %")] {
        try await see(percent, "bridge-cli battery \(name)", person)
      }
      person.count("two packs with one serial number", installing: 2)
      try await undo("left", "right", by: person)
      for pack in packs { try await pack.stop() }
    }
  }
}
