// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryCore
import AccessoryProtocols
import TestSupport
import Testing

@testable import AccessoryDrivers
@testable import FamilyBluno

struct BlunoRemoteTests {
  @Test func keysAndTasksOfTheRemoteHaveTheirBytes() throws {
    var remote = BlunoRemote()
    #expect(BlunoKey.allCases.map { remote.bytes(for: $0) } == "fblrswxyz".utf8.map { [$0] })
    #expect(try remote.bytes(of: .speed(128)) == [0x3C, 0x31, 0x32, 0x38, 0x3E])
    #expect(remote.task(at: 2).map { remote.bytes(for: $0) } == [0x31])
    #expect(remote.task(at: 0) == nil && remote.task(at: 6) == nil)
    #expect(remote.task("patrol")?.number == 2 && remote.task("4")?.name == "Avoid IR" && remote.task("x") == nil)
    remote.endsLines = true
    try remote.keys.set(.up, to: "u")
    #expect(remote.bytes(for: .up) == Array("u\n".utf8))
    #expect(remote.tasks.task(3).map { remote.bytes(for: $0) } == Array("3\n".utf8))
  }

  /// What is saved is what is loaded, and the folder is made.
  @Test func aSavedRemoteIsLoadedUnchanged() throws {
    let folder = try TemporaryDirectory()
    let file = BlunoRemoteFile(folder.path + "/a/b/bluno.json")
    #expect(try file.load() == BlunoRemote())
    var remote = BlunoRemote()
    try remote.keys.set(.f1, to: "\"")
    try remote.tasks.append(named: "Sing \u{1B}[31m")
    remote.tasks.move(5, to: 0)
    remote.tasks.remove(1)
    remote.endsLines = true
    try file.save(remote)
    #expect(try file.load() == remote)
    remote = BlunoRemote()
    try file.save(remote)
    #expect(try file.load() == remote)
    #expect(folder.names(in: "a/b") == ["bluno.json"])
  }

  @Test(arguments: [
    "", "[]", "{", #"{"keys": {"up": "ab"}}"#, #"{"keys": {"up": "<"}}"#, #"{"keys": {"up": "b"}}"#,
    #"{"keys": {"sideways": "q"}}"#, #"{"tasks": [{"number": 1, "name": "a"}, {"number": 1, "name": "b"}]}"#,
    #"{"tasks": [{"number": -1, "name": "a"}]}"#, #"{"tasks": [{"number": 1, "name": ""}]}"#,
    #"{"tasks": [{"number": 1e99, "name": "a"}]}"#,
  ])
  func aWrongRemoteFileIsMisconfigured(text: String) {
    let error = #expect(throws: AccessoryError.self) { try BlunoRemoteFile("bluno.json").read(Array(text.utf8)) }
    #expect(error?.kind == .misconfigured)
  }

  @Test func aRemoteFileMayLeaveKeysOut() throws {
    let file = BlunoRemoteFile("bluno.json")
    let remote = try file.read(Array(#"{"keys": {"up": "b", "down": "f"}, "ends_lines": true, "later": 1}"#.utf8))
    #expect(remote.keys[.up] == "b" && remote.keys[.down] == "f" && remote.keys[.left] == "l")
    #expect(remote.tasks == BlunoTaskList() && remote.endsLines)
  }

  @Test func aRemoteFileHasLimits() throws {
    let file = BlunoRemoteFile("/nonexistent/bluno.json")
    let long = #expect(throws: AccessoryError.self) {
      try file.read(Array("{}".utf8) + Array(repeating: 0x20, count: 70_000))
    }
    #expect(long?.kind == .misconfigured)
    var remote = BlunoRemote()
    for _ in remote.tasks.tasks.count...BlunoRemoteFile.taskLimit { try remote.tasks.append(named: "more") }
    let many = #expect(throws: AccessoryError.self) { try file.save(remote) }
    #expect(many?.kind == .misconfigured)
    remote = BlunoRemote()
    remote.tasks.rename(0, to: String(repeating: "x", count: 65))
    let name = #expect(throws: AccessoryError.self) { try file.save(remote) }
    #expect(name?.kind == .misconfigured)
  }

  @Test func theConfigurationFolderFollowsTheEnvironment() {
    #expect(ConfigurationFolder.user { ["XDG_CONFIG_HOME": "/c", "HOME": "/h"][$0] } == "/c/accessory-bridge")
    #expect(ConfigurationFolder.user { ["XDG_CONFIG_HOME": "c", "HOME": "/h"][$0] } == "/h/.config/accessory-bridge")
    #expect(ConfigurationFolder.user { _ in nil } == nil)
  }
}
