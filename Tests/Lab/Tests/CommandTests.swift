// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import Glibc
import TestSupport
import Testing

extension Plain {
  /// `bridge-cli` on both ends of a USB cable.
  @Suite struct CommandTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func start(_ arguments: [String], prefix: [String] = []) throws -> Program {
      let tests = linkTarget("/proc/self/exe") ?? ""
      let command = "/" + tests.split(separator: "/").dropLast().joined(separator: "/") + "/bridge-cli"
      return try Program(
        prefix + [command] + arguments,
        environment: ["XDG_RUNTIME_DIR": directory.path, "PATH": "/usr/bin:/bin"], directory: directory.path)
    }

    @Test(arguments: [("--tty", "/dev/ttyACM0"), ("--ftdi", "/dev/ttyUSB0")])
    func simulateAndAsk(option: String, node: String) async throws {
      try #require(Kernel.isReady)
      let simulator = try start([
        "simulate", "framed", "--usb", option, "--percent", "57", "--serial", "ACC0042", "--unplug-after", "4",
        "--replug-after", "10ms",
      ])
      let line = try await simulator.line(containing: "ACC0042 is plugged in at /sys/devices/platform/vhci_hcd.0/usb")
      let path = String(line.split(separator: " ").last ?? "")
      #expect(try await Kernel.node(path) == node)
      let battery = try await start(["battery", node]).end()
      #expect(battery.status == 0)
      #expect(battery.outputText.hasPrefix("57 %"), "\(battery.outputText)\(battery.errorText)")
      let status = try await start(["status", node, "--json"]).end()
      #expect(status.status == 0)
      #expect(status.outputText.contains("ACC0042"))
      try await simulator.line(containing: "line 115200 baud, 8 data bits, no parity, 1 stop bit; DTR on, RTS on")
      // The battery was request 1, status and identity 2 and 3: the cable is pulled amid the answer to this one.
      let echo = try await start(["request", node, "echo", "00"]).end()
      #expect(echo.status == 69, "\(echo.errorText)")
      try await simulator.line(containing: "unplugged")
      try await simulator.line(from: 1) { $0.contains("is plugged in at") }
      simulator.signal(SIGINT)
      #expect(try await simulator.end().status == 0)
      try await Kernel.waitForNo(node)
    }

    @Test func withoutBeingRoot() async throws {
      try #require(Kernel.isReady)
      let words = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
      _ = chmod(directory.path, 0o777)
      let refused = try await start(["simulate", "framed", "--usb"], prefix: words).end()
      #expect(refused.status == 77)
      #expect(refused.errorText.contains("only root may plug simulated USB devices in"))
    }
  }
}
