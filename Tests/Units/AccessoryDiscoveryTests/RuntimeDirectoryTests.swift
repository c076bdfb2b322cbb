// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Glibc
import TestSupport
import Testing

@testable import AccessoryDiscovery

@Suite struct RuntimeDirectoryTests {
  private let directory: TemporaryDirectory
  private var path: String { directory.path + "/accessory-bridge" }

  init() throws { directory = try TemporaryDirectory() }

  private func find(_ variables: [String: String]) throws(AccessoryError) -> String {
    try RuntimeDirectory.path { variables[$0] }
  }

  @Test func theRuntimeDirectoryIsTheUsersAlone() throws {
    #expect(try find(["XDG_RUNTIME_DIR": directory.path]) == path)
    var facts = stat()
    #expect(lstat(path, &facts) == 0)
    #expect(facts.st_mode & 0o7777 == 0o700)
    #expect(try find(["XDG_RUNTIME_DIR": directory.path]) == path, "and found again")
  }

  /// Two users' directories side by side, so it has the user's number.
  @Test func theTemporaryDirectoryGetsTheUsersNumber() throws {
    let expected = directory.path + "/accessory-bridge-\(geteuid())"
    #expect(try find(["TMPDIR": directory.path]) == expected)
    #expect(directory.names() == ["accessory-bridge-\(geteuid())"])
  }

  @Test(arguments: [0o720, 0o702, 0o777, 0o1777] as [mode_t])
  func aDirectoryThatOthersMayWriteIsRefused(mode: mode_t) throws {
    #expect(mkdir(path, 0o700) == 0)
    #expect(chmod(path, mode) == 0)
    expectRefusal()
  }

  @Test(arguments: [0o700, 0o755] as [mode_t]) func aDirectoryThatOthersMayReadIsAccepted(mode: mode_t) throws {
    #expect(mkdir(path, 0o700) == 0)
    #expect(chmod(path, mode) == 0)
    #expect(try find(["XDG_RUNTIME_DIR": directory.path]) == path)
  }

  @Test(.enabled(if: geteuid() == 0, "only root can give directories away"))
  func aDirectoryOfSomebodyElseIsRefused() throws {
    #expect(mkdir(path, 0o700) == 0)
    #expect(chown(path, 65_534, 65_534) == 0)
    expectRefusal()
  }

  /// Below the temporary directory anybody may have made it first, and its user can't remove it: what can be done is said.
  @Test(.enabled(if: geteuid() == 0, "only root can give directories away"))
  func aForeignTemporaryDirectoryIsExplained()
    throws
  {
    let path = directory.path + "/accessory-bridge-\(geteuid())"
    #expect(mkdir(path, 0o700) == 0)
    #expect(chown(path, 65_534, 65_534) == 0)
    let error = #expect(throws: AccessoryError.self) { try find(["TMPDIR": directory.path]) }
    #expect(error?.kind == .misconfigured)
    #expect(error?.message.contains("belongs to user 65534") == true)
    #expect(error?.message.contains("export XDG_RUNTIME_DIR=") == true)
    #expect(error?.message.contains("remove it") == false)
  }

  @Test func aLinkOrFileIsNoRuntimeDirectory() throws {
    let other = try TemporaryDirectory()
    #expect(symlink(other.path, path) == 0)
    expectRefusal()
    #expect(unlink(path) == 0)
    try directory.write([], to: "accessory-bridge")
    expectRefusal()
  }

  @Test func aMissingRuntimeDirectoryIsMisconfigured() {
    let error = #expect(throws: AccessoryError.self) { try find(["XDG_RUNTIME_DIR": directory.path + "/missing"]) }
    #expect(error?.kind == .misconfigured)
    #expect(error?.message.contains(directory.path + "/missing") == true)
  }

  private func expectRefusal() {
    let error = #expect(throws: AccessoryError.self) { try find(["XDG_RUNTIME_DIR": directory.path]) }
    #expect(error?.kind == .misconfigured)
    #expect(error?.message.contains(path) == true)
  }
}
