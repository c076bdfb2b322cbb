// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import Glibc
import TestSupport
import Testing

/// What `make install` puts below DESTDIR, for tests that only read it: installed once, since the command is stripped and asked for its
/// completions each time.
struct Installation: SuiteTrait, TestScoping {
  /// The folder that is DESTDIR.
  @TaskLocal static var folder = ""

  @concurrent func provideScope(
    for test: Test, testCase: Test.Case?, performing tests: @concurrent @Sendable () async throws -> Void
  ) async throws {
    let directory = try TemporaryDirectory()
    for name in ["manual", "root"] { mkdir(directory.path + "/" + name, 0o700) }
    for page in ["bridge-cli.1", "bridge-cli-list.1"] { try directory.write(Array(".TH\n".utf8), to: "manual/" + page) }
    let installed = try await Self.run(
      [ProjectFolder.path + "/systemd/setup", "install"],
      [
        "DESTDIR": directory.path + "/root", "PREFIX": "/usr/local", "BRIDGE_CLI": Sandbox.command,
        "MANUAL": directory.path + "/manual",
      ])
    #expect(installed.status == 0, "\(installed.errorText)")
    try await Self.$folder.withValue(directory.path + "/root") { try await tests() }
  }

  /// Runs a program with what installing needs.
  static func run(_ words: [String], _ environment: [String: String] = [:]) async throws -> Program.Transcript {
    var variables = ["PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "LC_ALL": "C.UTF-8"]
    // The command under test may be for another architecture.
    variables.merge(ThisProcess.variables("STRIPPROG")) { $1 }
    // Under a sanitizer the command takes a quarter of a minute for each shell's completions.
    return try await Program(
      words, environment: variables.merging(environment) { $1 }, directory: "/", limit: .seconds(240)
    ).end()
  }
}

/// How well the units that are installed are locked in, and what their sockets are.
@Suite(Installation(), .timeLimit(.minutes(Patience.minutes(10)))) struct InstalledUnitTests {
  private func text(_ path: String) throws -> String {
    String(decoding: try SmallFile.read(Installation.folder + path, limit: 1 << 20), as: UTF8.self)
  }

  /// By systemd's own judge: 0 is safest, 10 worst.
  private func expectExposure(of unit: String, atMost limit: Double) async throws {
    let judged = try await Installation.run(["systemd-analyze", "security", "--offline=true", "--no-pager", unit])
    #expect(judged.status == 0, "\(judged.errorText)")
    let line = try #require(judged.lines.last { $0.contains("Overall exposure level") }, "\(judged.outputText)")
    let figure = line.split(separator: " ").lazy.compactMap { Double($0) }.first
    #expect(try #require(figure) <= limit, "\(judged.outputText)")
  }

  @Test func theServiceIsLockedIn() async throws {
    let unit = Installation.folder + "/usr/local/lib/systemd/system/accessory-bridge.service"
    try await expectExposure(of: unit, atMost: 1.0)
    let text = try text("/usr/local/lib/systemd/system/accessory-bridge.service")
    #expect(!text.contains("\nPrivateNetwork="), "udev's events come by netlink")
  }

  /// Those that have the network have no device, and are nearly as locked in.
  @Test(arguments: ["accessory-bridge-share@", "accessory-bridge-network"])
  func theNetworksServicesAreLockedIn(name: String) async throws {
    let text = try text("/usr/local/lib/systemd/system/\(name).service")
    #expect(text.contains("\nPrivateDevices=yes\n") && text.contains("\nDevicePolicy=closed\n"))
    #expect(text.contains("\nExecStart=/usr/local/bin/bridge-cli ") && !text.contains("dir@"))
    // A template can be judged by one of its units alone.
    let directory = try TemporaryDirectory()
    let unit = directory.path + "/" + name.replacing("@", with: "@one") + ".service"
    try directory.write(Array(text.utf8), to: name.replacing("@", with: "@one") + ".service")
    try await expectExposure(of: unit, atMost: 1.2)
  }

  /// The sockets of a service: by their names it knows which is which, and each has a group of its own.
  @Test(arguments: ["accessory-bridge", "accessory-bridge-network"])
  func eachServiceHasTwoSocketsOfDifferentGroups(name: String) async throws {
    let folder = "/usr/local/lib/systemd/system/"
    let (bridge, readings) = (try text(folder + name + ".socket"), try text(folder + name + "-readings.socket"))
    for (unit, file, group) in [
      (bridge, "bridge.socket", "accessory-bridge"), (readings, "readings.socket", "accessory-readings"),
    ] {
      for line in ["ListenStream=/run/\(name)/\(file)", "SocketMode=0660", "SocketGroup=\(group)", "RemoveOnStop=yes"] {
        #expect(unit.contains("\n\(line)\n"), "\(line)")
      }
    }
    #expect(readings.contains("\nFileDescriptorName=readings\n") && readings.contains("\nService=\(name).service\n"))
    #expect(!bridge.contains("FileDescriptorName="))
    let service = try text(folder + name + ".service")
    #expect(
      service.split(separator: "\n").contains { $0.hasPrefix("After=") && $0.contains(" \(name)-readings.socket") })
    #expect(
      service.split(separator: "\n").contains { $0.hasPrefix("Wants=") && $0.contains("\(name)-readings.socket") })
    // A service that can't be started any more would take its sockets with it. So it is always started again, and waits before.
    let parts = service.split(separator: "[Service]", maxSplits: 1)
    #expect(parts.count == 2 && parts[0].contains("\nStartLimitIntervalSec=0\n"))
    #expect(
      service.contains("\nRestart=on-failure\n") && service.contains("\nRestartSec=")
        && !service.contains("RestartSec=0"))
    // It would be started at once by each connection that waits.
    #expect(!service.contains("RestartPreventExitStatus="))
  }

  /// Those that tell other programs of readings have no device, and are reached from this machine alone.
  @Test(arguments: ["accessory-bridge-nut", "accessory-bridge-metrics", "accessory-bridge-web"])
  func theExportersAreLockedIn(name: String) async throws {
    let text = try text("/usr/local/lib/systemd/system/\(name).service")
    for line in ["PrivateDevices=yes", "DevicePolicy=closed", "IPAddressDeny=any", "IPAddressAllow=localhost"] {
      #expect(text.contains("\n\(line)\n"))
    }
    let start = "\nExecStart=/usr/local/bin/bridge-cli "
    #expect(["export ", "web "].contains { text.contains(start + $0) } && !text.contains("dir@"))
    let unit = Installation.folder + "/usr/local/lib/systemd/system/\(name).service"
    try await expectExposure(of: unit, atMost: 1.0)
    // The command line of the unit is one that the command takes.
    let command = try #require(text.split(separator: "\n").first { $0.hasPrefix("ExecStart=") })
    let words = command.split(separator: " ").dropFirst().map(String.init)
    let help = try await Installation.run([Sandbox.command] + words + ["--help"])
    #expect(help.status == 0 && help.outputText.contains("--socket"))
  }

  /// The publisher has the network, and neither a device nor the socket on which clients act.
  @Test func thePublisherIsLockedIn() async throws {
    let unit = "/usr/local/lib/systemd/system/accessory-bridge-fleet.service"
    let text = try text(unit)
    #expect(text.contains("\nPrivateDevices=yes\n") && text.contains("\nDevicePolicy=closed\n"))
    #expect(text.contains("\nGroup=accessory-readings\n") && text.contains("\nDynamicUser=yes\n"))
    #expect(text.contains("\nExecStart=/usr/local/bin/bridge-fleet publish ") && !text.contains("dir@"))
    try await expectExposure(of: Installation.folder + unit, atMost: 1.5)
  }

  /// What Home Assistant connects to: private networks alone, no device, and not the socket on which clients act.
  @Test func theServerOfHomeAssistantIsLockedIn() async throws {
    let unit = "/usr/local/lib/systemd/system/accessory-bridge-home-assistant.service"
    let text = try text(unit)
    for line in [
      "PrivateDevices=yes", "DevicePolicy=closed", "Group=accessory-readings", "DynamicUser=yes", "IPAddressDeny=any",
      "StateDirectory=accessory-bridge-home-assistant", "StateDirectoryMode=0700",
    ] {
      #expect(text.contains("\n\(line)\n"))
    }
    #expect(text.contains("\nExecStart=/usr/local/bin/bridge-cli export home-assistant ") && !text.contains("dir@"))
    try await expectExposure(of: Installation.folder + unit, atMost: 1.5)
  }

  /// What tells people has the network, and neither a device nor the socket on which clients act.
  @Test func theNotifierIsLockedIn() async throws {
    let unit = "/usr/local/lib/systemd/system/accessory-bridge-notify.service"
    let text = try text(unit)
    for line in ["PrivateDevices=yes", "DevicePolicy=closed", "Group=accessory-readings", "DynamicUser=yes"] {
      #expect(text.contains("\n\(line)\n"))
    }
    #expect(text.contains("\nExecStart=/usr/local/bin/bridge-cli notify ") && !text.contains("dir@"))
    try await expectExposure(of: Installation.folder + unit, atMost: 1.5)
  }
}
