// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import Glibc
import TestSupport
import Testing

extension Systemd {
  /// The Debian packages, which `make lab` has built in two revisions, on a system that systemd runs.
  @Suite(.serialized) struct PackageTests {
    private static let root = ProjectFolder.path
    private static let command = "/usr/bin/bridge-cli"

    /// `dpkg` with the package of a revision. The manual's index isn't made anew, which would take minutes here.
    private func install(revision: Int) async throws {
      let folder = "\(Self.root)/.build/lab/packages/\(revision)"
      let packages = Directory.names(in: folder).filter { $0.hasPrefix("accessory-bridge_") && $0.hasSuffix(".deb") }
      let package = try #require(packages.first, "there is no package in \(folder): make lab builds it")
      let installed = try await InstalledService.run(
        ["dpkg", "--no-triggers", "--force-unsafe-io", "--install", "\(folder)/\(package)"], limit: .seconds(240))
      #expect(installed.status == 0, "\(installed.outputText)\(installed.errorText)")
      let version = try await InstalledService.run(
        "dpkg-query", "--show", "--showformat=${Version}", "accessory-bridge")
      #expect(version.outputText.hasSuffix("-\(revision)"))
    }

    /// Plugged in, it answers; upgraded while a client follows it, it is attached again, and the client follows on; purged,
    /// nothing is left.
    @Test func packagesAreInstalledUpgradedAndPurged() async throws {
      #expect(try await InstalledService.make("uninstall").status == 0)
      // A container's policy, which the guest may have from its host, would keep services from being started.
      _ = try await InstalledService.run(
        "rm", "-rf", "/usr/sbin/policy-rc.d", "/etc/systemd/system/accessory-bridge.service.d")
      let plugged = try await PluggedIn(.modem) {
        $0.device.identity.serialNumber = "DEB1"
        $0.device.battery.percent = 63
      }
      try await install(revision: 1)
      try await InstalledService.waitForState("active")
      try await InstalledService.waitForAttached(["DEB1"])
      let battery = try await InstalledService.run(Self.command, "battery")
      #expect(battery.status == 0 && battery.outputText.hasPrefix("63 %"), "\(battery.outputText)\(battery.errorText)")

      let client = try Program(
        [Self.command, "battery", "--watch", "--json"],
        environment: ["PATH": "/usr/bin:/bin", "HOME": "/root", "LC_ALL": "C.UTF-8"], directory: "/tmp",
        limit: .seconds(280))
      try await client.line(containing: "\"percent\":63")
      let process = try await InstalledService.process()
      let count = client.transcript.value.lines.count
      try await install(revision: 2)
      let upgraded = MonotonicTime.now
      try await InstalledService.waitForAttached(["DEB1"])
      print("lab: attached again \(MonotonicTime.now - upgraded) after dpkg had ended")
      let next = try await InstalledService.process()
      #expect(next != process && next != 0)
      try await client.line(from: count) { $0.contains("\"percent\":63") }
      client.signal(SIGINT)
      let ended = try await client.end()
      // 130 where the signal comes in the middle of a request.
      #expect(
        ended.status == 0 || ended.status == 130,
        "\(ended.status.map(String.init) ?? "?") \(ended.outputText)\(ended.errorText)")

      let purged = try await InstalledService.run(
        ["dpkg", "--no-triggers", "--force-unsafe-io", "--purge", "accessory-bridge"], limit: .seconds(240))
      #expect(purged.status == 0, "\(purged.errorText)")
      #expect(try await InstalledService.property("LoadState") == "not-found")
      for path in [
        Self.command, "/etc/accessory-bridge", "/run/accessory-bridge",
        "/usr/lib/udev/rules.d/70-accessory-bridge.rules",
        "/usr/share/doc/accessory-bridge", "/etc/systemd/system/sockets.target.wants/accessory-bridge.socket",
      ] {
        #expect(!Kernel.exists(path), "\(path) is left")
      }
      for name in ["accessory-bridge", "accessory-bridge-network"] { #expect(getpwnam(name) == nil, "\(name) is left") }
      for name in ["accessory-bridge", "accessory-readings"] { #expect(getgrnam(name) == nil, "\(name) is left") }
      try await plugged.stop()
    }
  }
}
