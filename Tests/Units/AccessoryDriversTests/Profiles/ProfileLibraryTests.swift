// SPDX-License-Identifier: Apache-2.0

import AccessoryFamilies
import Glibc
import TestSupport
import Testing

@testable import AccessoryDrivers

/// Profiles from folders: which wins, and whose files are read.
@Suite struct ProfileLibraryTests {
  private static let builtIn = Set(ProfileStore.builtIn.profiles.map(\.name))

  let system: TemporaryDirectory
  let user: TemporaryDirectory

  init() throws {
    system = try TemporaryDirectory()
    user = try TemporaryDirectory()
  }

  private func write(_ name: String, _ serial: String, to file: String, in folder: TemporaryDirectory) throws {
    try folder.write(Array("name: \(name)\nmatch: {serial: \(serial)}\n".utf8), to: file)
  }

  private func load(isStrict: Bool = true) -> ProfileLibrary {
    ProfileLibrary.load([system.path, user.path, "/nowhere/at/all"], drivers: .builtIn, isStrict: isStrict)
  }

  @Test func laterProfilesReplaceEarlierOnes() throws {
    try write("a", "1", to: "a.yaml", in: system)
    try write("b", "2", to: "b.yaml", in: system)
    try write("framed", "3", to: "mine.yaml", in: system)
    try write("b", "4", to: "other.yaml", in: user)
    try write("c", "5", to: ".hidden.yaml", in: user)
    try write("d", "6", to: "d.txt", in: user)
    let library = load()
    #expect(library.problems == [])
    #expect(Set(library.store.profiles.map(\.name)) == Self.builtIn.union(["a", "b"]))
    #expect(library.store.profiles.first?.name == "b", "those read last are asked first")
    #expect(library.store.profile(named: "b")?.rules == [DeviceRule(serialNumber: "4")])
    #expect(library.store.profile(named: "framed")?.rules == [DeviceRule(serialNumber: "3")])
    #expect(library.origins["b"] == .file(user.path + "/other.yaml"))
    #expect(library.origins["a"] == .file(system.path + "/a.yaml"))
  }

  @Test func aBrokenFileDoesNotStopTheOthers() throws {
    try write("a", "1", to: "z.yaml", in: system)
    try system.write(Array("name: [".utf8), to: "broken.yaml")
    try system.write([UInt8](repeating: 35, count: 70_000), to: "large.yaml")
    try write("b", "1", to: "b.yml", in: user)
    try write("c", "1", to: "c1.yaml", in: user)
    try write("c", "2", to: "c2.yaml", in: user)
    #expect(mkdir(user.path + "/folder.yaml", 0o700) == 0)
    #expect(mkfifo(user.path + "/pipe.yaml", 0o600) == 0)
    let library = load()
    #expect(Set(library.store.profiles.map(\.name)) == Self.builtIn.union(["a", "c"]))
    #expect(library.store.profile(named: "c")?.rules == [DeviceRule(serialNumber: "2")])
    let expectations = [
      ("broken.yaml:2:1", "not valid YAML"), ("large.yaml:1:1", "64 KiB"), ("c2.yaml", "c1.yaml also has a profile"),
      ("folder.yaml", "not a regular file"), ("pipe.yaml", "not a regular file"), ("b.yml", "ends in .yaml"),
    ]
    let problems = library.problems.map(\.description)
    #expect(problems.count == expectations.count, "\(problems)")
    for (place, message) in expectations {
      #expect(problems.contains { $0.contains(place) && $0.contains(message) }, "\(place): \(problems)")
    }
  }

  // MARK: - Who may write

  @Test(
    arguments: [(0o620, "group", true), (0o602, "everybody", true), (0o602, "everybody", false)]
      as [(mode_t, String, Bool)])
  func aProfileThatOthersMayWriteIsRefused(mode: mode_t, who: String, isStrict: Bool) throws {
    try write("a", "1", to: "a.yaml", in: system)
    try write("b", "1", to: "b.yaml", in: system)
    #expect(chmod(system.path + "/a.yaml", mode) == 0)
    let library = load(isStrict: isStrict)
    #expect(Set(library.store.profiles.map(\.name)) == Self.builtIn.union(["b"]))
    #expect(library.problems.count == 1)
    #expect(library.problems.first?.file == system.path + "/a.yaml")
    #expect(library.problems.first?.message.contains("\(who) may write") == true, "\(library.problems)")
  }

  /// For the user alone, a group that may write is the user's own.
  @Test func strictnessRefusesProfilesTheGroupMayWrite() throws {
    try write("a", "1", to: "a.yaml", in: system)
    #expect(chmod(system.path + "/a.yaml", 0o660) == 0 && chmod(system.path, 0o770) == 0)
    #expect(load(isStrict: false).store.profile(named: "a") != nil)
    #expect(load(isStrict: true).store.profile(named: "a") == nil)
  }

  @Test func aFolderThatOthersMayWriteIsRefused() throws {
    try write("a", "1", to: "a.yaml", in: system)
    #expect(mkdir(user.path + "/profiles", 0o700) == 0)
    try write("b", "1", to: "profiles/b.yaml", in: user)
    for mode in [0o770, 0o707] as [mode_t] {
      #expect(chmod(system.path, mode) == 0 && chmod(user.path, mode) == 0)
      // The one is such a folder, the other lies in one.
      let library = ProfileLibrary.load([system.path, user.path + "/profiles"], drivers: .builtIn, isStrict: true)
      #expect(library.store == .builtIn)
      #expect(library.problems.count == 2)
      #expect(library.problems.allSatisfy { $0.message.contains("may write") })
      #expect(library.problems.last?.message.contains("because of the folder \(user.path) above it") == true)
    }
  }

  @Test func aSymbolicLinkIsRefusedWhenStrict() throws {
    try write("a", "1", to: "elsewhere", in: user)
    #expect(symlink(user.path + "/elsewhere", system.path + "/a.yaml") == 0)
    let library = ProfileLibrary.load([system.path], drivers: .builtIn, isStrict: true)
    #expect(library.store.profile(named: "a") == nil)
    #expect(library.problems.first?.message.contains("it is a symbolic link") == true)
    #expect(ProfileLibrary.load([system.path], drivers: .builtIn, isStrict: false).store.profile(named: "a") != nil)
  }

  /// Only root can make files of others.
  @Test(.enabled(if: geteuid() == 0, "needs root to give files away")) func aProfileOfSomebodyElseIsRefused() throws {
    try write("a", "1", to: "a.yaml", in: system)
    #expect(chown(system.path + "/a.yaml", 65_534, 65_534) == 0)
    try write("b", "1", to: "b.yaml", in: user)
    #expect(chown(user.path, 65_534, 65_534) == 0)
    for isStrict in [true, false] {
      let library = load(isStrict: isStrict)
      #expect(library.store == .builtIn)
      #expect(library.problems.map(\.file) == [system.path + "/a.yaml", user.path])
      #expect(library.problems.allSatisfy { $0.message.contains("belongs to the user with the ID 65534") })
    }
  }

  @Test func profilesAreInTheUsualFolders() {
    let folders = { (variables: [String: String]) in ProfileLibrary.usualFolders { variables[$0] } }
    let etc = "/etc/accessory-bridge/profiles"
    #expect(folders(["HOME": "/h"]) == [etc, "/h/.config/accessory-bridge/profiles"])
    #expect(folders(["HOME": "/h", "XDG_CONFIG_HOME": "/x"]) == [etc, "/x/accessory-bridge/profiles"])
    #expect(folders(["HOME": "/h", "XDG_CONFIG_HOME": "x"]) == [etc, "/h/.config/accessory-bridge/profiles"])
    #expect(folders([:]) == [etc])
    #expect(folders(["HOME": "/h", "ACCESSORY_BRIDGE_PROFILES": "/a:b"]) == ["/a", "b"])
    #expect(folders(["HOME": "/h", "ACCESSORY_BRIDGE_PROFILES": ""]) == [])
  }
}
