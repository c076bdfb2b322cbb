// SPDX-License-Identifier: Apache-2.0

import AccessoryDrivers
import AccessoryIO
import CommandOutput
import Glibc
import TestSupport
import Testing

/// What the Debian packages are made of. `make deb-test` installs them.
@Suite(.timeLimit(.minutes(10))) struct PackagingTests {
  private static let root = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")

  private func run(_ words: String...) async throws -> Program.Transcript {
    try await Program(
      words, environment: ["PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "LC_ALL": "C.UTF-8"],
      directory: Self.root
    ).end()
  }

  /// The version stands in one place: both commands, the packages and the changelog have it from there, or are compared with it.
  @Test func oneVersion() async throws {
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
  @Test func maintainerScripts() async throws {
    let names = Directory.names(in: Self.root + "/packaging/debian").filter { name in
      [".postinst", ".prerm", ".postrm"].contains { name.hasSuffix($0) }
    }
    #expect(names.count == 6)
    for name in names {
      let read = try await run("sh", "-n", "packaging/debian/" + name)
      #expect(read.status == 0, "\(name): \(read.errorText)")
    }
    for name in ["build", "test", "test-inside"] {
      #expect(try await run("bash", "-n", "packaging/" + name).status == 0)
    }
  }

  /// The examples that the package has are files that the commands take.
  @Test func examples() async throws {
    let folder = "Examples/Configuration/"
    for (words, file, said) in [
      (["service", "check"], "service.yaml", "fine, it permits no command"),
      (["share", "check"], "share.yaml", "fine"),
      (["profile", "check"], "profile.yaml", "fine, profile lamp"),
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
