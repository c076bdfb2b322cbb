// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import AccessorySimulator

extension Plain {
  /// `bridge-cli` on both ends of a USB cable.
  @Suite struct CommandTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func start(_ arguments: [String], prefix: [String] = []) throws -> Program {
      return try Program(
        prefix + [Program.bridgeCLI] + arguments,
        environment: ["XDG_RUNTIME_DIR": directory.path, "PATH": "/usr/bin:/bin"], directory: directory.path)
    }

    @Test(arguments: [("--tty", "/dev/ttyACM0"), ("--ftdi", "/dev/ttyUSB0")])
    func aSimulatedAdapterIsAsked(option: String, node: String) async throws {
      try #require(Kernel.isReady)
      let simulator = try start([
        "simulate", "framed", "--usb", option, "--percent", "57", "--serial", "ACC0042", "--unplug-after", "4",
        "--replug-after", "10ms",
      ])
      let line = try await simulator.line(containing: "ACC0042 is plugged in at /sys/devices/platform/vhci_hcd.0/usb")
      let path = String(line.split(separator: " ").last ?? "")
      #expect(try await Kernel.node(path, option == "--tty" ? .modem : .ftdi, serial: "ACC0042") == node)
      let battery = try await start(["battery", node]).end()
      #expect(battery.status == 0)
      #expect(battery.outputText.hasPrefix("57 %"), "\(battery.outputText)\(battery.errorText)")
      let status = try await start(["status", node, "--json"]).end()
      #expect(status.status == 0)
      #expect(status.outputText.contains("ACC0042"))
      // What an FTDI chip's divisor makes of 115200 is a little more.
      let rate = option == "--tty" ? 115_200 : 115_385
      try await simulator.line(containing: "line \(rate) baud, 8 data bits, no parity, 1 stop bit; DTR on, RTS on")
      // The battery was request 1, status and identity 2 and 3: the cable is pulled amid the answer to this one.
      let echo = try await start(["request", node, "echo", "00"]).end()
      #expect(echo.status == 69, "\(echo.errorText)")
      try await simulator.line(containing: "unplugged")
      try await simulator.line(from: 1) { $0.contains("is plugged in at") }
      simulator.signal(SIGINT)
      #expect(try await simulator.end().status == 0)
      try await Kernel.waitForNo(node)
    }

    /// A terminal and two that have none, by name and by what they are.
    @Test func accessoriesOnUSBAreListedAndAsked() async throws {
      let plugged = [
        try await PluggedIn(.modem) { $0.device.identity.serialNumber = "MODEM1" },
        try await PluggedIn(.bulk) { $0.device.identity.serialNumber = "BULK1" },
        try await PluggedIn(.reports) { $0.device.identity.serialNumber = "HID1" },
      ]
      let list = try await start(["list", "--all"]).end()
      #expect(list.status == 0)
      for serial in ["MODEM1", "BULK1", "HID1"] { #expect(list.outputText.contains(serial), "\(list.outputText)") }
      for arguments in [["MODEM1"], ["BULK1"], ["usb:1209:0001"], ["HID1"], ["HID1", "--interface", "0"]] {
        let battery = try await start(["battery"] + arguments).end()
        #expect(battery.outputText.hasPrefix("100 %"), "\(arguments) \(battery.outputText)\(battery.errorText)")
      }
      for one in plugged { try await one.stop() }
    }

    /// Each connect and each disconnect once, in order, and both with the same name.
    @Test func watchTellsEachPlugAndUnplugOnce() async throws {
      try #require(Kernel.isReady)
      let watch = try start(["watch", "--json"])
      var expected: [String] = []
      for (number, kind) in [SimulatedUSBIdentity.Kind.modem, .ftdi, .bulk, .modem].enumerated() {
        let serial = "WATCH\(number)"
        let plugged = try await PluggedIn(kind) { $0.device.identity.serialNumber = serial }
        for event in ["connected", "disconnected"] {
          if event == "disconnected" { try await plugged.stop() }
          expected.append("\(event) \(serial)")
          try await watch.line { $0.contains("\"event\":\"\(event)\"") && $0.contains("\"id\":\"\(serial)\"") }
        }
      }
      let seen = watch.transcript.value.lines.compactMap { line -> String? in
        let event = ["disconnected", "connected"].first { line.contains("\"event\":\"\($0)\"") }
        let serial = (0..<4).map { "WATCH\($0)" }.first { line.contains("\"id\":\"\($0)\"") }
        return event.map { "\($0) \(serial ?? line)" }
      }
      #expect(seen == expected)
      watch.signal(SIGINT)
      #expect(try await watch.end().status == 0)
    }

    @Test func onlyRootPlugsUSBDevicesIn() async throws {
      try #require(Kernel.isReady)
      let words = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
      _ = chmod(directory.path, 0o777)
      let refused = try await start(["simulate", "framed", "--usb"], prefix: words).end()
      #expect(refused.status == 77)
      #expect(refused.errorText.contains("only root may plug simulated USB devices in"))
    }
  }
}
