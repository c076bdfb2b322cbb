// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryIO
import Glibc
import TestSupport
import Testing

@testable import AccessorySimulator

extension Systemd {
  /// Plug it in and it is attached: the installed service, started by udev.
  @Suite(.serialized) struct ServiceTests {
    /// What is plugged in before anything is installed is attached by installing, by a service that may do little else.
    @Test func installing() async throws {
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
      let process = try await InstalledService.process()
      let path = "/proc/\(process)/status"
      let lines = String(decoding: try SmallFile.read(path, limit: 1 << 16), as: UTF8.self).split(separator: "\n")
      let facts = Dictionary(
        lines.map { line in
          let parts = line.split(separator: ":", maxSplits: 1).map { $0.split(separator: "\t").joined(separator: " ") }
          return (parts[0], parts.count > 1 ? parts[1] : "")
        }, uniquingKeysWith: { first, _ in first })
      let user = try #require(getpwnam("accessory-bridge")).pointee.pw_uid
      #expect(user != 0 && facts["Uid"] == "\(user) \(user) \(user) \(user)")
      for set in ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"] { #expect(facts[set] == "0000000000000000") }
      #expect(facts["NoNewPrivs"] == "1" && facts["Seccomp"] == "2")
      let judged = try await InstalledService.run("systemd-analyze", "security", "--no-pager", InstalledService.unit)
      let figure = judged.lines.last { $0.contains("Overall") }?.split(separator: " ").lazy.compactMap { Double($0) }
        .first
      #expect(try #require(figure) <= 1.5, "\(judged.outputText)")
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
    }

    /// The service comes with the accessory, knows it again, and leaves when there is none.
    @Test(arguments: SimulatedUSBIdentity.Kind.allCases)
    func plugAndUnplug(kind: SimulatedUSBIdentity.Kind) async throws {
      try await InstalledService.prepare()
      var device: Bridge.Device?
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
        #expect(device.map { $0.id == found.id && $0.serial == found.serial } ?? true)
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
    @Test func pluggedInBeforeBoot() async throws {
      try await InstalledService.prepare()
      let udev = ["systemd-udevd.service", "systemd-udevd-control.socket", "systemd-udevd-kernel.socket"]
      #expect(try await InstalledService.run(["systemctl", "stop"] + udev).status == 0)
      var configuration = FramedSimulator.Configuration(seed: 1)
      configuration.device.identity.serialNumber = "BOOT1"
      var identity = SimulatedUSBIdentity(.modem)
      identity.serialNumber = "BOOT1"
      configuration.connection = .usb(identity)
      let simulator = FramedSimulator(configuration, io: Kernel.devices)
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
  }
}
