// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import Glibc
import TestSupport
import Testing

/// Gives each test of a suite its own ground: nothing is plugged in, and of the package, the units and the settings that an earlier
/// test put into the guest nothing is left, also where that test failed in the middle. So one failure stays one failure.
///
/// What `make install` installed stays: `InstalledService.prepare` uses it again, since installing takes a minute here.
struct OwnGround: SuiteTrait, TestTrait, TestScoping {
  /// Whether systemd runs in the guest.
  let systemd: Bool

  var isRecursive: Bool { true }

  func scopeProvider(for test: Test, testCase: Test.Case?) -> Self? { testCase == nil ? nil : self }

  @concurrent func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
  ) async throws {
    try await Self.unplugAll()
    if systemd { try await Self.cleanSystemd() }
    try await function()
  }

  // MARK: - What is plugged in

  private static let controller = "/sys/devices/platform/vhci_hcd.0"

  /// The ports of the virtual controller that have a device: those whose state isn't VDEV_ST_NULL, 4 in its `status`
  /// (drivers/usb/usbip/vhci_sysfs.c). Empty while the module isn't loaded.
  private static func usedPorts() -> [Int] {
    guard let text = try? SmallFile.read("\(controller)/status", limit: 16_384) else { return [] }
    return String(decoding: text, as: UTF8.self).split(separator: "\n").compactMap { line in
      let words = line.split(separator: " ")
      guard words.count > 2, let port = Int(words[1]), let state = Int(words[2]), state != 4 else { return nil }
      return port
    }
  }

  private static func unplugAll() async throws {
    let ports = usedPorts()
    guard !ports.isEmpty else { return }
    print("lab: ports \(ports) still had a device of an earlier test")
    for port in ports {
      let file = open("\(controller)/detach", O_WRONLY | O_CLOEXEC)
      guard file >= 0 else { continue }
      let text = Array("\(port)".utf8)
      // One that has just left by itself is refused.
      _ = write(file, text, text.count)
      close(file)
    }
    try await eventually("the ports to be empty", within: .seconds(60)) { usedPorts().isEmpty }
  }

  // MARK: - What systemd knows

  /// What tests write, beside what `make install` does.
  private static let leftovers = [
    "/etc/systemd/system/accessory-bridge.service.d", "/etc/systemd/system/lab-battery@.service",
    "/etc/udev/rules.d/90-lab.rules", "/etc/udev/rules.d/70-accessory-bridge.rules",
    "/etc/accessory-bridge/profiles/own.yaml", "/etc/accessory-bridge/profiles/lamp.yaml",
    "/etc/accessory-bridge/shares/lamp.yaml", "/etc/accessory-bridge/shares/far.yaml",
    "/etc/accessory-bridge/network.yaml",
  ]

  private static func cleanSystemd() async throws {
    _ = try await InstalledService.run("systemctl", "stop", "accessory-bridge*.service")
    let packages = ["accessory-bridge", "accessory-bridge-fleet"].filter {
      Kernel.exists("/var/lib/dpkg/info/\($0).list")
    }
    if !packages.isEmpty {
      let purge = ["dpkg", "--no-triggers", "--force-unsafe-io", "--purge"] + packages
      let purged = try await InstalledService.run(purge, limit: .seconds(240))
      try #require(purged.status == 0, "\(purged.errorText)")
    }
    let found = leftovers.filter(Kernel.exists)
    guard !found.isEmpty || !packages.isEmpty else { return }
    print("lab: left by an earlier test: \(packages + found)")
    _ = try await InstalledService.run(["rm", "-rf"] + found)
    _ = try await InstalledService.run("systemctl", "daemon-reload")
    _ = try await InstalledService.run("udevadm", "control", "--reload")
    _ = try await InstalledService.run("systemctl", "reset-failed")
  }
}

extension Trait where Self == OwnGround {
  /// Each test finds nothing plugged in; with systemd, nor anything that an earlier one left of a service.
  static func ownGround(systemd: Bool) -> Self { OwnGround(systemd: systemd) }
}
