// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryDrivers
import AccessoryIO
import CommandOutput
import Glibc
import TestSupport
import Testing

/// What the Debian packages are made of. `make deb-test` installs them.
@Suite(.timeLimit(.minutes(Patience.minutes(10)))) struct PackagingTests {
  private static let root = ProjectFolder.path

  private func run(_ words: String...) async throws -> Program.Transcript {
    try await Program(
      words, environment: ["PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "LC_ALL": "C.UTF-8"],
      directory: Self.root
    ).end()
  }

  /// The version stands in one place: both commands, the packages and the changelog have it from there, or are compared with it.
  @Test func theVersionStandsInOnePlace() async throws {
    let named = try await run("packaging/version")
    #expect(named.outputText == PackageVersion.current + "\n")
    let folder = Sandbox.command.split(separator: "/").dropLast().joined(separator: "/")
    for program in ["bridge-cli", "bridge-fleet"] {
      #expect(try await run("/\(folder)/\(program)", "--version").outputText == PackageVersion.current + "\n")
    }
    let releases = try Page("CHANGELOG.md").lines.filter { $0.hasPrefix("## ") }
    #expect(releases.first == "## Unreleased")
    let latest = try #require(releases.dropFirst().first)
    #expect(latest.hasPrefix("## \(PackageVersion.current) ("), "\(latest)")
  }

  /// The scripts that dpkg runs are ones that a shell can read, once the packages' script has filled them in.
  @Test func maintainerScriptsAreValidShell() async throws {
    let names = Directory.names(in: Self.root + "/packaging/debian").filter { name in
      [".postinst", ".prerm", ".postrm"].contains { name.hasSuffix($0) }
    }
    #expect(names.count == 6)
    for name in names {
      let read = try await run("sh", "-n", "packaging/debian/" + name)
      #expect(read.status == 0, "\(name): \(read.errorText)")
    }
    for name in ["build", "changelog", "source", "test", "test-inside", "test-source"] {
      #expect(try await run("bash", "-n", "packaging/" + name).status == 0)
    }
  }

  /// The group that the units of both packages name is removed with the last of them. All commands of the script are replaced by ones
  /// that only say what they would do.
  @Test(arguments: [
    ("accessory-bridge", "installed", false), ("accessory-bridge", "config-files", true),
    ("accessory-bridge-fleet", "installed", false), ("accessory-bridge-fleet", "unpacked", false),
    ("accessory-bridge-fleet", "not-installed", true),
  ])
  func purgingLeavesTheOthersGroup(package: String, other: String, isRemoved: Bool) async throws {
    let directory = try TemporaryDirectory()
    for name in ["rm", "rmdir", "getent", "userdel", "groupdel", "systemctl", "udevadm", "deb-systemd-helper"] {
      try directory.write(Array("#!/bin/sh\necho \(name) \"$@\"\n".utf8), to: name)
      chmod("\(directory.path)/\(name)", 0o755)
    }
    let asked = package == "accessory-bridge" ? "accessory-bridge-fleet" : "accessory-bridge"
    let query = "#!/bin/sh\nfor last; do :; done\n[ \"$last\" = \(asked) ] && printf %s \(other)\n"
    try directory.write(Array(query.utf8), to: "dpkg-query")
    chmod("\(directory.path)/dpkg-query", 0o755)
    let script = "\(Self.root)/packaging/debian/\(package).postrm"
    let filled = String(decoding: try SmallFile.read(script, limit: 1 << 16), as: UTF8.self)
      .split(separator: "\n", omittingEmptySubsequences: false).filter { $0 != "@trigger@" }.joined(separator: "\n")
    try directory.write(Array(("trigger() { :; }\n" + filled).utf8), to: "postrm")
    let purged = try await Program(
      ["/bin/sh", "postrm", "purge"], environment: ["PATH": directory.path], directory: directory.path
    ).end()
    #expect(purged.status == 0, "\(purged.errorText)")
    #expect(purged.lines.contains("groupdel accessory-readings") == isRemoved, "\(purged.outputText)")
  }

  /// Each package makes the groups that its units name.
  @Test func eachPackageMakesItsGroups() async throws {
    for (part, file, unit) in [
      ("bridge", "sysusers.conf", "accessory-bridge-nut.service.in"),
      ("fleet", "sysusers-fleet.conf", "accessory-bridge-fleet.service.in"),
    ] {
      func text(_ name: String) throws -> String {
        String(decoding: try SmallFile.read("\(Self.root)/\(name)", limit: 1 << 16), as: UTF8.self)
      }
      #expect(try text("systemd/" + unit).contains("\nGroup=accessory-readings\n"))
      #expect(try text("systemd/" + file).contains("\ng accessory-readings -\n"))
      let package = part == "bridge" ? "accessory-bridge" : "accessory-bridge-fleet"
      #expect(try text("packaging/debian/\(package).postinst").contains("systemd-sysusers \(package).conf"))
    }
  }

  /// The examples that the package has are files that the commands take.
  @Test func exampleConfigurationsAreAccepted() async throws {
    let folder = "Examples/Configuration/"
    for (words, file, said) in [
      (["service", "check"], "service.yaml", "fine, it permits no command"),
      (["share", "check"], "share.yaml", "fine"),
      (["profile", "check"], "profile.yaml", "fine, profile lamp"),
      (["profile", "check"], "bluetooth.yaml", "fine, profile van"),
    ] {
      let checked = try await Program(
        [Sandbox.command] + words + [folder + file], environment: ["PATH": "/usr/bin:/bin"], directory: Self.root
      ).end()
      #expect(checked.status == 0 && checked.outputText.contains(said), "\(checked.outputText)\(checked.errorText)")
    }
    let devices = try DeviceList.read(path: "\(Self.root)/\(folder)network.yaml", profiles: ["framed"])
    #expect(devices.count == 2)
    let fleet = "/" + Sandbox.command.split(separator: "/").dropLast().joined(separator: "/") + "/bridge-fleet"
    // A publisher would go on and look for its broker; with one more key it says what is wrong: that key, and nothing else.
    let directory = try TemporaryDirectory()
    let text = try SmallFile.read("\(Self.root)/\(folder)fleet.yaml", limit: 1 << 16)
    try directory.write(text + Array("frobnicate: yes\n".utf8), to: "fleet.yaml")
    let publish = try await Program(
      [fleet, "publish", "--config", "fleet.yaml"], environment: ["PATH": "/usr/bin:/bin"], directory: directory.path
    ).end()
    #expect(publish.status == EX_CONFIG)
    #expect(publish.lines.isEmpty && publish.errorText.split(separator: "\n").count == 1, "\(publish.errorText)")
    #expect(publish.errorText.contains("frobnicate"), "\(publish.errorText)")
  }
}
