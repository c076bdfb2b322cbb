// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import Glibc
import TestSupport
import Testing

/// What `make install` puts below DESTDIR.
@Suite(.timeLimit(.minutes(Patience.minutes(10)))) struct InstallTests {
  private let directory: TemporaryDirectory
  private let root: String

  init() throws {
    directory = try TemporaryDirectory()
    root = ProjectFolder.path
    #expect(mkdir(directory.path + "/manual", 0o700) == 0)
    for page in ["bridge-cli.1", "bridge-cli-list.1"] { try directory.write(Array(".TH\n".utf8), to: "manual/" + page) }
  }

  private var destination: String { directory.path + "/root" }

  private func run(_ words: [String], _ environment: [String: String] = [:]) async throws -> Program.Transcript {
    try await Installation.run(words, environment)
  }

  private func setup(_ what: String, prefix: String = "/usr/local") async throws -> Program.Transcript {
    try await run(
      [root + "/systemd/setup", what],
      ["DESTDIR": destination, "PREFIX": prefix, "BRIDGE_CLI": Sandbox.command, "MANUAL": directory.path + "/manual"])
  }

  private func files() async throws -> [String] {
    try await run(["find", destination, "-type", "f,l"]).lines.map { String($0.dropFirst(destination.utf8.count)) }
      .sorted()
  }

  private func text(_ path: String) throws -> String {
    String(decoding: try SmallFile.read(destination + path, limit: 1 << 20), as: UTF8.self)
  }

  @Test func uninstallingRemovesWhatWasInstalled() async throws {
    for _ in 1...2 {
      let installed = try await setup("install")
      #expect(installed.status == 0, "\(installed.errorText)")
    }
    let files = try await files()
    let expected =
      [
        "bin/bridge-cli", "bin/bridge-fleet", "lib/systemd/system/accessory-bridge-fleet.service",
        "lib/systemd/system/accessory-bridge-home-assistant.service",
        "lib/systemd/system/accessory-bridge-metrics.service",
        "lib/systemd/system/accessory-bridge-network-readings.socket",
        "lib/systemd/system/accessory-bridge-network.service", "lib/systemd/system/accessory-bridge-network.socket",
        "lib/systemd/system/accessory-bridge-notify.service", "lib/systemd/system/accessory-bridge-nut.service",
        "lib/systemd/system/accessory-bridge-readings.socket",
        "lib/systemd/system/accessory-bridge-share@.service", "lib/systemd/system/accessory-bridge-web.service",
        "lib/systemd/system/accessory-bridge.service", "lib/systemd/system/accessory-bridge.socket",
        "lib/sysusers.d/accessory-bridge-fleet.conf", "lib/sysusers.d/accessory-bridge.conf",
        "lib/tmpfiles.d/accessory-bridge.conf",
        "lib/udev/rules.d/70-accessory-bridge.rules", "share/bash-completion/completions/bridge-cli",
        "share/bash-completion/completions/bridge-fleet", "share/fish/vendor_completions.d/bridge-cli.fish",
        "share/fish/vendor_completions.d/bridge-fleet.fish", "share/man/man1/bridge-cli-list.1",
        "share/man/man1/bridge-cli.1", "share/zsh/site-functions/_bridge-cli", "share/zsh/site-functions/_bridge-fleet",
      ].map { "/usr/local/" + $0 }
    #expect(files.filter { !$0.hasPrefix("/usr/local/share/doc/accessory-bridge/") } == expected)
    #expect(files.contains("/usr/local/share/doc/accessory-bridge/Documentation/profiles.md"))
    #expect(exists(destination + "/etc/accessory-bridge/profiles"))
    #expect(exists(destination + "/etc/accessory-bridge/shares"))
    let unit = try text("/usr/local/lib/systemd/system/accessory-bridge.service")
    #expect(unit.contains("\nExecStart=/usr/local/bin/bridge-cli serve ") && !unit.contains("dir@"))
    let built = try await run([Sandbox.command, "udev-rules", "--built-in"])
    #expect(try text("/usr/local/lib/udev/rules.d/70-accessory-bridge.rules") == built.outputText)
    #expect(try text("/usr/local/share/bash-completion/completions/bridge-cli").contains("complete"))
    let program = try await run([destination + "/usr/local/bin/bridge-cli", "--version"])
    #expect(program.status == 0 && !program.outputText.isEmpty)
    // One program, which is the other one when it is called so.
    let fleet = destination + "/usr/local/bin/bridge-fleet"
    let usage = try await run([fleet, "--help"])
    #expect(usage.status == 0 && usage.outputText.contains("USAGE: bridge-fleet <subcommand>"), "\(usage.outputText)")
    let words = try text("/usr/local/share/fish/vendor_completions.d/bridge-fleet.fish")
    #expect(words.contains("complete -c 'bridge-fleet'"))
    #expect(try await run(["readlink", fleet]).outputText == "bridge-cli\n")

    try directory.write(Array("name: mine\n".utf8), to: "root/etc/accessory-bridge/profiles/mine.yaml")
    for _ in 1...2 {
      #expect(try await setup("uninstall").status == 0)
      #expect(try await self.files() == ["/etc/accessory-bridge/profiles/mine.yaml"])
    }
    #expect(unlink(destination + "/etc/accessory-bridge/profiles/mine.yaml") == 0)
    #expect(try await setup("uninstall").status == 0)
    #expect(!exists(destination + "/etc/accessory-bridge") && !exists(destination + "/usr/local/lib/systemd"))
  }

  /// The program can't be stripped. On a full disk the same call of install(1) fails.
  @Test func aProgramThatCannotBeInstalledIsAnError() async throws {
    let made = try await run(
      [root + "/systemd/setup", "install"],
      [
        "DESTDIR": destination, "BRIDGE_CLI": Sandbox.command, "MANUAL": directory.path + "/manual",
        "STRIPPROG": "/bin/false",
      ])
    #expect(made.status == 1 && made.errorText.contains("strip"), "\(made.errorText)")
    #expect(!exists(destination + "/usr/local/bin/bridge-cli"))
  }

  /// What the Debian packages have: each part is what the other isn't, and both together are all.
  @Test func bothPackagesTogetherAreTheWholeInstallation() async throws {
    var parts: [[String]] = []
    for part in ["bridge", "fleet"] {
      let made = try await run(
        [root + "/systemd/setup", "install"],
        [
          "DESTDIR": directory.path + "/" + part, "PREFIX": "/usr", "PART": part, "BRIDGE_CLI": Sandbox.command,
          "MANUAL": directory.path + "/manual",
        ])
      #expect(made.status == 0, "\(made.errorText)")
      let found = try await run(["find", directory.path + "/" + part, "-type", "f,l", "-printf", "/%P\n"])
      parts.append(Array(found.lines))
    }
    #expect(
      parts[1].sorted() == [
        "/usr/bin/bridge-fleet", "/usr/lib/systemd/system/accessory-bridge-fleet.service",
        "/usr/lib/sysusers.d/accessory-bridge-fleet.conf",
        "/usr/share/bash-completion/completions/bridge-fleet", "/usr/share/fish/vendor_completions.d/bridge-fleet.fish",
        "/usr/share/zsh/site-functions/_bridge-fleet",
      ])
    #expect(try await setup("install", prefix: "/usr").status == 0)
    #expect(try await files() == (parts[0] + parts[1]).sorted())
    #expect(
      try await run([root + "/systemd/setup", "install"], ["DESTDIR": destination, "PART": "all of it"]).status == 1)
    // The units' names, for the packages' scripts.
    let units = try await run([root + "/systemd/setup", "units"], ["PART": "fleet"])
    #expect(units.lines.contains("services='accessory-bridge-fleet.service'"), "\(units.outputText)")
  }

  @Test func installingUnderAnotherPrefixMovesThePaths() async throws {
    #expect(try await setup("install", prefix: "/usr").status == 0)
    #expect(try await files().contains("/usr/lib/udev/rules.d/70-accessory-bridge.rules"))
    let unit = try text("/usr/lib/systemd/system/accessory-bridge.service")
    #expect(unit.contains("\nExecStart=/usr/bin/bridge-cli serve "))
    #expect(try await setup("uninstall", prefix: "/usr").status == 0)
    // Where systemd doesn't look, only the program goes.
    #expect(try await setup("install", prefix: "/opt/bridge").status == 0)
    let files = try await files()
    #expect(files.contains("/opt/bridge/bin/bridge-cli"))
    #expect(files.contains("/usr/local/lib/systemd/system/accessory-bridge.service"))
    for prefix in ["relative", "/with space", "/a|b"] {
      #expect(try await setup("install", prefix: prefix).status == 1)
    }
    #expect(try await run([root + "/systemd/setup"]).status == EX_USAGE)
  }

  /// The user, the group and the socket's folder as systemd's own tools make them.
  @Test func installingMakesUsersGroupsAndFolders() async throws {
    #expect(try await setup("install").status == 0)
    let users = try await run(["systemd-sysusers", "--root=" + destination, "accessory-bridge.conf"])
    #expect(users.status == 0, "\(users.errorText)")
    for file in ["/etc/passwd", "/etc/group"] {
      for name in ["accessory-bridge:", "accessory-bridge-network:"] { #expect(try text(file).contains(name)) }
    }
    // Nobody is this group's user, and it has no members.
    #expect(
      try text("/etc/group").split(separator: "\n").contains {
        $0.hasPrefix("accessory-readings:x:") && $0.hasSuffix(":")
      })
    #expect(try !text("/etc/passwd").contains("accessory-readings"))
    let folder = try await run(["systemd-tmpfiles", "--root=" + destination, "--create", "accessory-bridge.conf"])
    #expect(folder.status == 0, "\(folder.errorText)")
    for name in ["accessory-bridge", "accessory-bridge-network"] {
      var file = stat()
      #expect(lstat(destination + "/run/" + name, &file) == 0)
      #expect(file.st_mode == S_IFDIR | 0o755)
      #expect(file.st_uid != 0 && file.st_gid != 0)
    }
  }
}
