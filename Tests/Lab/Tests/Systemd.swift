// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import Glibc
import TestSupport
import Testing

@testable import AccessorySimulator

/// What needs a machine that systemd runs.
@Suite(.serialized, .ownGround(systemd: true), .timeLimit(.minutes(Patience.minutes(10)))) struct Systemd {
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private func run(_ words: String...) async throws -> Program.Transcript {
    try await Program(words, environment: ["PATH": "/usr/bin:/bin:/usr/sbin:/sbin"], directory: directory.path).end()
  }

  /// A service that udev starts when the accessory is plugged in, and that ends with it.
  @Test func aUnitStartsAndEndsWithItsAccessory() async throws {
    // The installed service, which other tests may have left, would take the accessory, too: who is first has it.
    #expect(try await InstalledService.make("uninstall").status == 0)
    try directory.write(
      Array(
        """
        SUBSYSTEM=="tty", ENV{ID_VENDOR_ID}=="1209", ENV{ID_MODEL_ID}=="0002", TAG+="systemd", \
        ENV{SYSTEMD_WANTS}+="lab-battery@%k.service"

        """.utf8), to: "90-lab.rules")
    try directory.write(
      Array(
        """
        [Unit]
        BindsTo=dev-%i.device
        After=dev-%i.device
        [Service]
        StandardOutput=file:\(directory.path)/%i.out
        ExecStart=\(Program.bridgeCLI) battery --watch --json /dev/%i

        """.utf8), to: "lab-battery@.service")
    #expect(try await run("cp", "90-lab.rules", "/etc/udev/rules.d/").status == 0)
    #expect(try await run("cp", "lab-battery@.service", "/etc/systemd/system/").status == 0)
    #expect(try await run("systemctl", "daemon-reload").status == 0)
    #expect(try await run("udevadm", "control", "--reload").status == 0)
    for round in 1...2 as ClosedRange<UInt8> {
      let plugged = try await PluggedIn(.modem) { $0.device.battery.percent = round }
      let output = "\(directory.path)/\(plugged.node.dropFirst(5)).out"
      try await eventually("the battery's state", within: .seconds(60)) {
        let text = (try? SmallFile.read(output, limit: 10_000)) ?? []
        return String(decoding: text, as: UTF8.self).contains("\"percent\":\(round)")
      }
      try await plugged.stop()
      var state = ""
      let end = MonotonicTime.now + Duration.seconds(60).patient
      repeat {
        let shown = try await run("systemctl", "show", "-P", "ActiveState", "lab-battery@\(plugged.node.dropFirst(5))")
        state = shown.outputText
      } while ["active\n", "deactivating\n"].contains(state) && MonotonicTime.now < end
      #expect(["inactive\n", "failed\n"].contains(state))
      _ = unlink(output)
      _ = try await run("systemctl", "reset-failed")
    }
  }
}
