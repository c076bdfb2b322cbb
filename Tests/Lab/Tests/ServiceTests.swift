// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryIO
import FamilyAF1
import FamilyAF1Simulator
import Glibc
import TestSupport
import Testing

@testable import AccessorySimulator

extension Systemd {
  /// Plug it in and it is attached: the installed service, started by udev.
  @Suite(.serialized) struct ServiceTests {
    /// What is plugged in before anything is installed is attached by installing, by a service that may do little else.
    @Test func installingAttachesWhatIsPluggedIn() async throws {
      if Kernel.exists(InstalledService.command) {
        #expect(try await InstalledService.make("uninstall").status == 0)
      }
      let plugged = try await PluggedIn(.modem) {
        $0.device.identity.serialNumber = "EARLY1"
        $0.device.battery.percent = 41
      }
      for _ in 1...2 {
        let installed = try await InstalledService.make("install")
        #expect(installed.status == 0, "\(installed.errorText)")
      }
      try await InstalledService.waitForState("active")
      #expect(try await InstalledService.run("systemctl", "is-enabled", "accessory-bridge.socket").lines == ["enabled"])
      try await theUnitIsLockedIn()
      try await whoMayAsk()
      let status = try await InstalledService.property("StatusText")
      #expect(status.contains("1 attached"), "\(status)")
      try await plugged.stop()
      try await InstalledService.waitForAttached([])
    }

    private func theUnitIsLockedIn() async throws {
      let facts = try await InstalledService.processFacts()
      let user = try #require(getpwnam("accessory-bridge")).pointee.pw_uid
      #expect(user != 0 && facts["Uid"] == "\(user) \(user) \(user) \(user)")
      for set in ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"] { #expect(facts[set] == "0000000000000000") }
      #expect(facts["NoNewPrivs"] == "1" && facts["Seccomp"] == "2")
      #expect(try await InstalledService.exposure() <= 1.0)
    }

    private func whoMayAsk() async throws {
      var file = stat()
      #expect(stat(InstalledService.socket, &file) == 0)
      let group = try #require(getgrnam("accessory-bridge")).pointee.gr_gid
      #expect(file.st_mode == S_IFSOCK | 0o660 && file.st_gid == group)
      // The port is taken: who gets an answer got it from the service.
      let member = try await InstalledService.ask("battery", "EARLY1", asUser: 65_534, group: Int(group))
      #expect(member.status == 0 && member.outputText.hasPrefix("41 %"), "\(member.outputText)\(member.errorText)")
      let stranger = try await InstalledService.ask("battery", "EARLY1", asUser: 65_534)
      #expect(stranger.status == EX_NOPERM, "\(stranger.outputText)\(stranger.errorText)")
      #expect(stranger.errorText.contains("accessory-bridge"), "\(stranger.errorText)")

      // Those who may only read have a socket and a group of their own.
      let readings = InstalledService.readingsSocket
      #expect(stat(readings, &file) == 0)
      let readers = try #require(getgrnam("accessory-readings")).pointee.gr_gid
      #expect(file.st_mode == S_IFSOCK | 0o660 && file.st_gid == readers)
      let reader = try await InstalledService.ask("service", "--socket", readings, asUser: 65_534, group: Int(readers))
      #expect(reader.status == 0 && reader.outputText.contains(readings), "\(reader.outputText)\(reader.errorText)")
      for (socket, group) in [(InstalledService.socket, readers), (readings, group)] {
        let refused = try await InstalledService.ask("service", "--socket", socket, asUser: 65_534, group: Int(group))
        #expect(refused.status == EX_NOPERM, "\(refused.outputText)\(refused.errorText)")
      }
    }

    /// The service comes with the accessory, knows it again, and leaves when there is none.
    @Test(arguments: [SimulatedUSBIdentity.Kind.modem, .bulk])
    func pluggingInStartsTheServiceAndUnpluggingEndsIt(kind: SimulatedUSBIdentity.Kind) async throws {
      try await InstalledService.prepare(idle: "8s")
      var device: Device?
      for round in 1...2 as ClosedRange<UInt8> {
        let plugged = try await PluggedIn(kind) {
          $0.device.identity.serialNumber = "PLUG1"
          $0.device.battery.percent = 50 + round
        }
        // Nobody has asked it anything: udev has started it.
        try await InstalledService.waitForState("active")
        try await InstalledService.waitForAttached(["PLUG1"])
        let battery = try await InstalledService.ask("battery")
        #expect(battery.status == 0 && battery.outputText.hasPrefix("\(50 + round) %"), "\(battery.errorText)")
        let found = try #require(try await InstalledService.accessories().first).device
        #expect(device.map { $0.id == found.id && $0.serialNumber == found.serialNumber } ?? true)
        device = found
        try await plugged.stop()
        try await InstalledService.waitForAttached([])
        #expect(try await InstalledService.ask("battery").status == EX_NOINPUT)
        // Once while it is still there, once when it has left.
        if round == 2 { try await InstalledService.waitForState("inactive") }
      }
      #expect(try await InstalledService.property("Result") == "success")
    }

    /// As when the machine starts: udev and systemd are told of what is there already.
    @Test func whatWasPluggedInBeforeBootIsAttached() async throws {
      try await InstalledService.prepare()
      // The driver, which the kernel of a real machine has from its initrd: without udev nobody loads it.
      #expect(try await InstalledService.run("/sbin/modprobe", "cdc_acm").status == 0)
      let udev = ["systemd-udevd.service", "systemd-udevd-control.socket", "systemd-udevd-kernel.socket"]
      #expect(try await InstalledService.run(["systemctl", "stop"] + udev).status == 0)
      var configuration = AF1Simulator.Configuration(seed: 1)
      configuration.device.identity.serialNumber = "BOOT1"
      var identity = SimulatedUSBIdentity(.modem)
      identity.serialNumber = "BOOT1"
      configuration.connection = .usb(identity)
      let simulator = AF1Simulator(configuration, io: Kernel.devices)
      let path = try await simulator.plugIn()
      try await eventually("its terminal", within: .seconds(60)) { Kernel.exists("/dev/ttyACM0") }
      #expect(try await InstalledService.property("ActiveState") == "inactive")
      #expect(try await InstalledService.run(["systemctl", "start"] + udev).status == 0)
      // What systemd-udev-trigger.service does, of these subsystems.
      let trigger = ["udevadm", "trigger", "--action=add", "--subsystem-match=usb", "--subsystem-match=tty"]
      #expect(
        try await InstalledService.run(trigger + ["--sysname-match=ttyACM*", "--sysname-match=[0-9]*"]).status == 0)
      try await InstalledService.waitForState("active")
      try await InstalledService.waitForAttached(["BOOT1"])
      await simulator.stop()
      try await eventually("\(path) to go", within: .seconds(60)) { !Kernel.exists(path) }
      try await InstalledService.waitForAttached([])
    }

    /// In and out as they like; then what is attached is what is plugged in, and each is itself.
    @Test func tenAccessoriesComeAndGoAtRandom() async throws {
      try await InstalledService.prepare(idle: "60s")
      let seconds = getenv("LAB_SECONDS").flatMap { Int(String(cString: $0)) } ?? 60
      var random = SeededGenerator(seed: 10)
      var plugged: [Int: AF1Simulator] = [:]
      let kinds = SimulatedUSBIdentity.Kind.allCases
      let end = MonotonicTime.now + .seconds(seconds)
      while MonotonicTime.now < end {
        let number = Int.random(in: 0..<10, using: &random)
        if let simulator = plugged.removeValue(forKey: number) {
          await simulator.stop()
        } else if plugged.count < 7 {
          // The kernel has eight ports, and one that was left is free a little later.
          var configuration = AF1Simulator.Configuration(seed: 1)
          configuration.device.identity.serialNumber = "TEN\(number)"
          configuration.device.battery.percent = 10 + UInt8(number)
          var identity = SimulatedUSBIdentity(kinds[number % kinds.count])
          identity.serialNumber = "TEN\(number)"
          configuration.connection = .usb(identity)
          let simulator = AF1Simulator(configuration, io: Kernel.devices)
          _ = try await simulator.plugIn()
          plugged[number] = simulator
        }
        // A pace at which some are taken away while they are being made known, and others are not.
        await IOThread.shared.sleep(for: .milliseconds(Int.random(in: 0...1_500, using: &random)))
      }
      try await InstalledService.waitForAttached(Set(plugged.keys.map { "TEN\($0)" }))
      let client = try await ControlClient.connect(to: InstalledService.socket)
      for number in plugged.keys {
        let reply = try await client.call(Bridge.GetBattery(device: "TEN\(number)"), timeout: .seconds(30))
        #expect(reply.battery.percent.map { Int($0) } == 10 + number)
      }
      for simulator in plugged.values { await simulator.stop() }
      try await InstalledService.waitForAttached([])
    }

    /// Documentation/autostart.md, "From a new gadget to auto-attach".
    @Test func thePageOnANewGadgetIsTrue() async throws {
      try await InstalledService.prepare(idle: "20s")
      let profile = "/etc/accessory-bridge/profiles/own.yaml"
      let rules = "/etc/udev/rules.d/70-accessory-bridge.rules"
      let plugged = try await PluggedIn(.bulk) {
        $0.device.identity.serialNumber = "OWN1"
      } usb: {
        ($0.productID, $0.manufacturer) = (0x0042, "Acme")
      }
      #expect(try await InstalledService.property("ActiveState") == "inactive")
      func write(_ serial: String) async throws {
        let text = "name: own\nmatch: {usb: {vendor: 1209, product: 0042}, serial: \(serial)}\ndriver: framed\n"
        let written = try await InstalledService.run("sh", "-c", "printf '%s' \"$1\" > \(profile)", "sh", text)
        #expect(written.status == 0)
      }
      try await write("OWN*")
      let made = try await InstalledService.run("sh", "-c", "\(InstalledService.command) udev-rules > \(rules)")
      #expect(made.status == 0 && made.errorText == "")
      #expect(try await InstalledService.run("udevadm", "control", "--reload").status == 0)
      #expect(try await InstalledService.run("udevadm", "trigger", "--subsystem-match=usb").status == 0)
      try await InstalledService.waitForState("active")
      try await InstalledService.waitForAttached(["OWN1"])
      let process = try await InstalledService.process()
      for (serial, attached) in [("OTHER", []), ("OWN1", ["OWN1"])] as [(String, Set<String>)] {
        try await write(serial)
        #expect(try await InstalledService.run("systemctl", "reload", InstalledService.unit).status == 0)
        try await InstalledService.waitForAttached(attached)
      }
      #expect(try await InstalledService.process() == process, "it is the same all the time")
      #expect(try await InstalledService.run("rm", profile, rules).status == 0)
      #expect(try await InstalledService.run("udevadm", "control", "--reload").status == 0)
      try await plugged.stop()
    }

    /// Killed or hung, it is started again and has all as before; asked to end, it leaves the port as it found it.
    @Test func aKilledOrHungServiceIsStartedAgain() async throws {
      try await InstalledService.prepare(idle: "60s")
      try await InstalledService.dropIn("watchdog", "[Service]\nWatchdogSec=6s\n")
      // Not started by udev, so that the port can be looked at first.
      let mask = ["systemctl", "mask", "--runtime", InstalledService.unit]
      #expect(try await InstalledService.run(mask).status == 0)
      let plugged = try await PluggedIn(.modem) { $0.device.identity.serialNumber = "END1" }
      // Cleared it stays, so that the next to open the port doesn't reset a board: Documentation/line-control.md.
      #expect(try await InstalledService.run("stty", "-F", plugged.node, "-hupcl").status == 0)
      let settings = try await InstalledService.run("stty", "-F", plugged.node, "-g").outputText
      #expect(try await InstalledService.run("systemctl", "unmask", "--runtime", InstalledService.unit).status == 0)
      #expect(try await InstalledService.run("systemctl", "start", InstalledService.unit).status == 0)
      try await InstalledService.waitForAttached(["END1"])
      #expect(try await InstalledService.run("systemctl", "stop", InstalledService.unit).status == 0)
      #expect(try await InstalledService.property("Result") == "success")
      #expect(try await InstalledService.property("ExecMainStatus") == "0")
      #expect(try await InstalledService.run("stty", "-F", plugged.node, "-g").outputText == settings)
      #expect(!settings.isEmpty)

      #expect(try await InstalledService.run("systemctl", "start", InstalledService.unit).status == 0)
      // SIGSTOP stands for a loop that doesn't go round: the watchdog ends it.
      for signal in ["KILL", "STOP"] {
        try await InstalledService.waitForAttached(["END1"])
        let process = try await InstalledService.process()
        #expect(try await InstalledService.run("kill", "-s", signal, "\(process)").status == 0)
        var next = process
        let end = MonotonicTime.now + Duration.seconds(60).patient
        while next == process || next == 0, MonotonicTime.now < end {
          next = try await InstalledService.process()
          await IOThread.shared.sleep(for: .milliseconds(200))
        }
        #expect(next != process && next != 0, "after SIG\(signal)")
      }
      try await InstalledService.waitForAttached(["END1"])
      #expect(Int(try await InstalledService.property("NRestarts")) == 2)
      try await InstalledService.dropIn("watchdog", nil)
      try await plugged.stop()
    }
  }
}
