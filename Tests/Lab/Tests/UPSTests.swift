// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import Glibc
import TestSupport
import Testing

extension Plain {
  /// UPSs on USB: the kernel's HID driver and hidraw, `bridge-cli` and NUT's own driver on the same simulated device.
  @Suite struct UPSTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func start(_ arguments: [String]) throws -> Program {
      let tests = linkTarget("/proc/self/exe") ?? ""
      let command = "/" + tests.split(separator: "/").dropLast().joined(separator: "/") + "/bridge-cli"
      return try Program(
        [command] + arguments, environment: ["XDG_RUNTIME_DIR": directory.path, "PATH": "/usr/bin:/bin"],
        directory: directory.path)
    }

    private func json(_ arguments: String...) async throws -> String {
      let transcript = try await start(arguments + ["--json"]).end()
      #expect(transcript.status == 0, "\(arguments) \(transcript.outputText)\(transcript.errorText)")
      return transcript.outputText
    }

    /// Plugs a UPS in, and waits until udev has seen its node.
    private func plugIn(_ options: String...) async throws -> Program {
      try #require(Kernel.isReady)
      let simulator = try start(["simulate", "ups", "--serial", "LABUPS"] + options)
      try await simulator.line(containing: "LABUPS is plugged in at")
      try await eventually("a node of hidraw", within: .seconds(60)) {
        exists("/dev/hidraw0") && exists("/sys/class/hidraw/hidraw0/device/report_descriptor")
      }
      return simulator
    }

    private func unplug(_ simulator: Program) async throws {
      simulator.signal(SIGINT)
      _ = try await simulator.end()
      try await Kernel.waitForNo("/dev/hidraw0")
    }

    @Test(arguments: ["cyberpower", "plain"]) func aUPSIsFoundAndReadByItsClass(model: String) async throws {
      let simulator = try await plugIn("--model", model, "--percent", "60", "--runtime", "40m")
      let battery = try await json("battery", "LABUPS")
      #expect(battery.contains("\"percent\":60"), "\(battery)")
      #expect(battery.contains("\"time_to_empty_s\":1440"), "\(battery)")
      let values = try await json("values", "LABUPS")
      #expect(values.contains("on_battery"), "\(values)")
      let status = try await start(["battery", "/dev/hidraw0"]).end()
      #expect(status.outputText.hasPrefix("60 %"), "\(status.outputText)\(status.errorText)")
      try await unplug(simulator)
    }

    @Test func aPowerCutIsNewsAtOnce() async throws {
      let simulator = try await plugIn("--percent", "60")
      let watch = try start(["battery", "LABUPS", "--watch"])
      try await watch.line(containing: "60 %")
      simulator.signal(SIGUSR1)
      try await watch.line(containing: "discharging")
      simulator.signal(SIGUSR1)
      try await watch.line(from: 2) { $0.contains("charging") && !$0.contains("discharging") }
      try await unplug(simulator)
      // It goes on, and waits for the plug.
      watch.signal(SIGINT)
      _ = try await watch.end()
    }

    @Test func aUPSThatRefusesEachReportOnceIsReadWhole() async throws {
      let simulator = try await plugIn("--refuses-first", "--percent", "33")
      #expect(try await json("battery", "LABUPS").contains("\"percent\":33"))
      try await unplug(simulator)
    }

    /// What NUT's driver says of the same device: its names of the values that both have.
    @Test(arguments: ["cyberpower"]) func nutSaysTheSame(model: String) async throws {
      let simulator = try await plugIn("--model", model, "--percent", "60", "--runtime", "40m")
      let values = try await json("values", "LABUPS")
      let nut = try Program(
        [
          "/lib/nut/usbhid-ups", "-s", "ups", "-x", "port=auto", "-x", "vendorid=0764", "-d", "1", "-u", "root",
        ], environment: ["PATH": "/usr/bin:/bin", "NUT_STATEPATH": directory.path, "NUT_ALTPIDPATH": directory.path],
        directory: directory.path)
      let said = try await nut.end().outputText
      #expect(said.contains("battery.charge: 60"), "\(said)")
      #expect(said.contains("battery.runtime: 1440"), "\(said)")
      #expect(said.contains("input.voltage: 230"), "\(said)")
      #expect(said.contains("ups.load: 17"), "\(said)")
      #expect(values.contains("\"input_voltage\""), "\(values)")
      try await unplug(simulator)
    }
  }
}
