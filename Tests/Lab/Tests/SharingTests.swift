// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDrivers
import AccessoryIO
import AccessoryLink
import FamilyAF1
import Glibc
import TestSupport
import Testing

@testable import AccessorySimulator

extension Systemd {
  /// Accessories shared with other programs by the installed units.
  @Suite(.serialized) struct SharingTests {
    private static let group = "accessory-bridge"

    private static func groupNumber() throws -> gid_t { try #require(getgrnam(group)).pointee.gr_gid }

    private func plugIn(_ kind: SimulatedUSBIdentity.Kind, _ serial: String, _ percent: UInt8) async throws
      -> PluggedIn
    {
      try await PluggedIn(kind) {
        $0.device.identity.serialNumber = serial
        $0.device.battery.percent = percent
      }
    }

    /// Asks the accessory behind an endpoint for its battery, as a program that knows nothing of a service.
    private func expectBattery(
      _ percent: UInt8, at place: String, _ options: String..., asUser user: Int? = nil, group: gid_t? = nil
    ) async throws {
      var words = ["battery", place, "--driver", "framed"]
      words += options
      let battery = try await InstalledService.ask(words, asUser: user, group: group.map { Int($0) })
      let text = battery.outputText + battery.errorText
      #expect(battery.status == 0 && battery.outputText.hasPrefix("\(percent) %"), "\(place): \(text)")
    }

    /// Waits until the unit has written a text to its log so often.
    private func waitForLog(_ text: String, times: Int, of unit: String) async throws {
      let end = MonotonicTime.now + Duration.seconds(90).patient
      var log = ""
      repeat {
        log = try await InstalledService.log(of: unit)
        if log.split(separator: "\n").count(where: { $0.contains(text) }) >= times { return }
        await IOThread.shared.sleep(for: .milliseconds(200))
      } while MonotonicTime.now < end
      throw Hang("\(unit) to log \(text) \(times) times:\n\(log)")
    }

    /// The process of the unit may do nothing but use the network and its files.
    private func theUnitIsLockedIn(_ unit: String, besides node: String) async throws {
      let facts = try await InstalledService.processFacts(of: unit)
      let process = try await InstalledService.process(of: unit)
      for set in ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"] { #expect(facts[set] == "0000000000000000") }
      #expect(facts["NoNewPrivs"] == "1" && facts["Seccomp"] == "2")
      #expect(facts["Uid"]?.split(separator: " ").contains("0") == false, "\(facts["Uid"] ?? "")")
      let groups = "\(facts["Gid"] ?? "") \(facts["Groups"] ?? "")".split(separator: " ")
      #expect(groups.contains("\(try Self.groupNumber())"), "\(groups)")
      #expect(Kernel.exists(node) && Kernel.exists("/proc/\(process)/root/dev/null"))
      #expect(!Kernel.exists("/proc/\(process)/root\(node)"), "who has the network has no device")
      #expect(try await InstalledService.exposure(of: unit) <= 1.2)
    }

    // MARK: - accessory-bridge-share@.service

    /// Documentation/sharing.md, "On the network".
    @Test func thePageOnSharingOnTheNetworkIsTrue() async throws {
      try await InstalledService.prepare(idle: "60s")
      let unit = "accessory-bridge-share@lamp.service"
      let file = "/etc/accessory-bridge/shares/lamp.yaml"
      let port = NetworkAddress(host: "127.0.0.1", port: 7100)
      try await aMistakeInTheFile(file, unit)
      try await InstalledService.write("device: LAMP1\ntcp: 7100\nrfc2217: 7101\n", to: file)
      #expect(try await InstalledService.run("systemctl", "start", unit).status == 0)
      // It listens before there is an accessory.
      try await waitForLog("tcp:127.0.0.1:7100 is open", times: 1, of: unit)
      for round in 1...2 {
        let percent = 30 + UInt8(round)
        let plugged = try await plugIn(.modem, "LAMP1", percent)
        try await waitForLog(") is open", times: round, of: unit)
        try await expectBattery(percent, at: "tcp:127.0.0.1:7100")
        // The settings of a client pass both services, to the line.
        try await expectBattery(percent, at: "rfc2217:127.0.0.1:7101", "--baud", "57600")
        let rates = plugged.events.value.compactMap { event -> UInt32? in
          if case .line(let line) = event { line.baudRate } else { nil }
        }
        #expect(rates.contains(57_600), "\(rates)")
        if round == 1 { try await theUnitIsLockedIn(unit, besides: plugged.node) }
        if round == 2 { try await theDeviceServiceStartsAgain(unit, percent) }
        let client = try await accessory(at: port)
        #expect(try await client.battery().percent == Int(percent))
        try await plugged.stop()
        let error = await #expect(throws: AccessoryError.self) { try await client.status() }
        #expect(error?.kind == .disconnected)
        await client.close()
        // In round 2 once for the service, too.
        try await waitForLog("the accessory is gone", times: round == 1 ? 1 : 3, of: unit)
      }
      let plugged = try await plugIn(.bulk, "LAMP1", 77)
      try await waitForLog(") is open", times: 4, of: unit)
      try await expectBattery(77, at: "tcp:127.0.0.1:7100")
      try await InstalledService.stop(unit)
      let error = await #expect(throws: AccessoryError.self) {
        try await DescriptorTransport.open(port)
      }
      #expect(error?.kind == .disconnected)
      // The accessory is the service's own again.
      try await InstalledService.waitForAttached(["LAMP1"])
      try await plugged.stop()
      #expect(try await InstalledService.run("rm", file).status == 0)
    }

    /// It fails once, with the exit status for configurations, and isn't started again.
    private func aMistakeInTheFile(_ file: String, _ unit: String) async throws {
      try await InstalledService.write("device: LAMP1\ntcp: seven\n", to: file)
      _ = try await InstalledService.run("systemctl", "start", unit)
      try await InstalledService.waitForState("failed", of: unit)
      #expect(try await InstalledService.property("ExecMainStatus", of: unit) == "\(EX_CONFIG)")
      #expect(try await InstalledService.property("NRestarts", of: unit) == "0")
      let log = try await InstalledService.log(of: unit)
      #expect(log.contains("\(file):2:6: tcp must be a port"), "\(log)")
      _ = try await InstalledService.run("systemctl", "reset-failed", unit)
    }

    private func accessory(at port: NetworkAddress) async throws -> AF1Accessory {
      var options = AF1Exchange.Options()
      options.timeout = .seconds(20)
      return try await AF1Accessory.open(
        AccessorySession(try await DescriptorTransport.open(port)), options: options)
    }

    private func theDeviceServiceStartsAgain(_ unit: String, _ percent: UInt8) async throws {
      #expect(try await InstalledService.run("systemctl", "restart", InstalledService.unit).status == 0)
      try await waitForLog(") is open", times: 3, of: unit)
      try await expectBattery(percent, at: "tcp:127.0.0.1:7100")
    }

    // MARK: - accessory-bridge-network.service

    /// Documentation/network.md.
    @Test func thePageOnDevicesOnTheNetworkIsTrue() async throws {
      try await InstalledService.prepare()
      let unit = "accessory-bridge-network.service"
      let socket = "/run/accessory-bridge-network/bridge.socket"
      let far = try OtherMachine()
      try await far.begin()
      let places = ["tcp:127.0.0.1:7110", "rfc2217:127.0.0.1:7111"]
      try await InstalledService.write(
        "devices:\n" + places.map { "  - {at: \"\($0)\", profile: framed}\n" }.joined(),
        to: "/etc/accessory-bridge/network.yaml")
      let enabled = try await InstalledService.run("systemctl", "enable", "--now", unit)
      #expect(enabled.status == 0, "\(enabled.errorText)")
      try await waitForAttached(places, at: socket)
      try await theUnitIsLockedIn(unit, besides: "/dev/bus/usb")
      try await whoMayAsk(socket, places[0])

      // What it holds is shared like what is plugged in.
      let share = "accessory-bridge-share@far.service"
      try await InstalledService.write(
        "device: \"\(places[1])\"\ntcp: 7120\n", to: "/etc/accessory-bridge/shares/far.yaml")
      #expect(try await InstalledService.run("systemctl", "start", share).status == 0)
      try await waitForLog("\(places[1]) is open", times: 1, of: share)
      try await expectBattery(57, at: "tcp:127.0.0.1:7120")

      // The other machine goes and comes back.
      try await far.end()
      let end = MonotonicTime.now + Duration.seconds(60).patient
      while try await states(at: socket).contains(.attached), MonotonicTime.now < end {
        await IOThread.shared.sleep(for: .milliseconds(200))
      }
      #expect(try await states(at: socket).allSatisfy { $0 != .attached && $0 != .failed })
      try await far.begin()
      try await waitForLog("\(places[1]) is open", times: 2, of: share)
      try await expectBattery(57, at: "tcp:127.0.0.1:7120")
      try await InstalledService.stop(share)
      try await waitForAttached(places, at: socket)

      try await InstalledService.stop(unit)
      // The socket starts it again for who asks.
      try await waitForAttached(places, at: socket)
      try await InstalledService.waitForState("active", of: unit)
      let disabled = try await InstalledService.run(
        "systemctl", "disable", "--now", unit, "accessory-bridge-network.socket",
        "accessory-bridge-network-readings.socket")
      #expect(disabled.status == 0, "\(disabled.errorText)")
      try await InstalledService.waitForState("inactive", of: unit)
      #expect(try await InstalledService.property("Result", of: unit) == "success")
      #expect(!Kernel.exists(socket))
      try await far.end()
      let files = ["/etc/accessory-bridge/network.yaml", "/etc/accessory-bridge/shares/far.yaml"]
      #expect(try await InstalledService.run(["rm"] + files).status == 0)
    }

    private func states(at socket: String) async throws -> [Bridge.AttachmentState] {
      try await InstalledService.accessories(at: socket).map(\.state)
    }

    private func waitForAttached(_ places: [String], at socket: String) async throws {
      let end = MonotonicTime.now + Duration.seconds(90).patient
      var seen: [Bridge.Accessory] = []
      repeat {
        seen = (try? await InstalledService.accessories(at: socket)) ?? seen
        let attached = seen.filter { $0.state == .attached }.map(\.device.path)
        if attached.sorted() == places.sorted(), seen.count == places.count { return }
        await IOThread.shared.sleep(for: .milliseconds(200))
      } while MonotonicTime.now < end
      let states = seen.map { "\($0.device.path) \($0.state) \($0.problem?.message ?? "")" }
      throw Hang("\(places) to be attached; there are \(states)")
    }

    private func whoMayAsk(_ socket: String, _ place: String) async throws {
      var file = stat()
      #expect(stat(socket, &file) == 0)
      let group = try Self.groupNumber()
      #expect(file.st_mode == S_IFSOCK | 0o660 && file.st_gid == group)
      let client = try await ControlClient.connect(to: socket, timeout: .seconds(30))
      let reply = try await client.call(Bridge.GetBattery(device: place), timeout: .seconds(30))
      #expect(reply.battery.percent == 57)
      let member = try await InstalledService.ask("list", "--json", asUser: 65_534, group: Int(group))
      #expect(member.status == 0 && member.outputText.contains(place), "\(member.outputText)\(member.errorText)")
      let stranger = try await InstalledService.ask("service", "--socket", socket, asUser: 65_534)
      #expect(stranger.status == EX_NOPERM, "\(stranger.outputText)\(stranger.errorText)")
    }

    // MARK: - accessory-bridge.service

    /// Documentation/sharing.md, "From the service".
    @Test func thePageOnSharingFromTheServiceIsTrue() async throws {
      try await InstalledService.prepare(idle: "60s")
      let profile = "/etc/accessory-bridge/profiles/lamp.yaml"
      let (terminal, socket) = ("/run/accessory-bridge/shared/lamp", "/run/accessory-bridge/shared/lamp.sock")
      try await InstalledService.write(
        "name: lamp\nmatch: {serial: LAMP2}\ndriver: framed\nshare: {pty: lamp, unix: lamp.sock}\n", to: profile)
      let group = try Self.groupNumber()
      for round in 1...2 as ClosedRange<UInt8> {
        let plugged = try await plugIn(round == 1 ? .bulk : .modem, "LAMP2", 60 + round)
        try await InstalledService.waitForAttached(["LAMP2"])
        try await eventually("the terminal", within: .seconds(60)) { Kernel.exists(terminal) }
        #expect(access(terminal) == Access(kind: S_IFCHR, mode: 0o660, group: "tty"))
        #expect(access(socket) == Access(kind: S_IFSOCK, mode: 0o660, group: Self.group))
        try await expectBattery(60 + round, at: terminal)
        try await expectBattery(60 + round, at: "unix:\(socket)", asUser: 65_534, group: group)
        for place in [terminal, "unix:\(socket)"] {
          let stranger = try await InstalledService.ask("battery", place, "--driver", "framed", asUser: 65_534)
          #expect(stranger.status == EX_NOPERM, "\(place): \(stranger.outputText)\(stranger.errorText)")
        }
        try await InstalledService.waitForAttached(["LAMP2"])
        if round == 1 { #expect(try await InstalledService.exposure() <= 1.0) }
        if round == 2 { try await theTerminalOfTheGroup(terminal, 62, group) }
        try await plugged.stop()
        try await eventually("the terminal to go", within: .seconds(60)) { !exists(terminal) }
        #expect(Kernel.exists(socket))
      }
      try await InstalledService.stop()
      #expect(!exists(socket))
      #expect(try await InstalledService.run("rm", profile).status == 0)
    }

    /// With the drop-in of the page the terminal is the group's.
    private func theTerminalOfTheGroup(_ terminal: String, _ percent: UInt8, _ group: gid_t) async throws {
      try await InstalledService.dropIn("group", "[Service]\nSystemCallFilter=fchownat chown\n")
      #expect(try await InstalledService.run("systemctl", "restart", InstalledService.unit).status == 0)
      try await InstalledService.waitForAttached(["LAMP2"])
      #expect(access(terminal) == Access(kind: S_IFCHR, mode: 0o660, group: Self.group))
      try await expectBattery(percent, at: terminal, asUser: 65_534, group: group)
      try await InstalledService.dropIn("group", nil)
    }

    private struct Access: Equatable {
      var kind: mode_t
      var mode: mode_t
      var group: String
    }

    private func access(_ path: String) -> Access? {
      var file = stat()
      guard stat(path, &file) == 0, let group = getgrgid(file.st_gid) else { return nil }
      return Access(
        kind: file.st_mode & S_IFMT, mode: file.st_mode & 0o7777, group: String(cString: group.pointee.gr_name))
    }
  }
}
