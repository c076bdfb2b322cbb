// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import Glibc
import TestSupport
import Testing

@testable import AccessoryExport

/// The key and the identity of the native API, in files.
struct BoxIdentityTests {
  private func folder() throws -> (TemporaryDirectory, String) {
    let directory = try TemporaryDirectory()
    return (directory, directory.path + "/state")
  }

  @Test func bothAreMadeOnce() throws {
    let (directory, folder) = try folder()
    try directory.write(Array("0123456789abcdef0123456789abcdef\n".utf8), to: "machine-id")
    let identity = directory.path + "/machine-id"
    let first = try BoxIdentity.open(in: folder, identityPath: identity)
    #expect(first.isNew && first.key.count == 32 && first.mac.count == 6 && first.mac[0] & 3 == 2)
    #expect(first.name.hasPrefix("bridge-") && first.name.count == 15)
    var again = try BoxIdentity.open(in: folder, identityPath: identity)
    #expect(!again.isNew)
    again.isNew = true
    #expect(again == first)
    #expect(try BoxIdentity.readKey(in: folder) == first.keyText && first.keyText.count == 44)
    var file = stat()
    #expect(stat(folder + "/" + BoxIdentity.keyName, &file) == 0 && file.st_mode & 0o777 == 0o600)
    // Another folder on the same machine: the same identity, another key.
    let other = try BoxIdentity.open(in: directory.path + "/other", identityPath: identity)
    #expect(other.mac == first.mac && other.key != first.key)
    #expect(try BoxIdentity.open(in: directory.path + "/named", instance: "b", identityPath: identity).mac != first.mac)
  }

  /// As in some containers: then the file alone says what it is.
  @Test func aMachineWithoutAnIdentityKeepsItsOwn() throws {
    let (directory, folder) = try folder()
    let first = try BoxIdentity.open(in: folder, identityPath: directory.path + "/none")
    #expect(first.mac[0] & 3 == 2)
    #expect(try BoxIdentity.open(in: folder, identityPath: directory.path + "/none").mac == first.mac)
  }

  @Test(arguments: [
    "", "x", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", "GDLtR04eR+HDTTMfqD77o6dsB/a5bpOuZH5W3oteDJ0=AAAA",
  ])
  func aDamagedKeyIsTold(text: String) throws {
    let (_, folder) = try folder()
    _ = try BoxIdentity.open(in: folder, identityPath: "/none")
    let file = StateFile(BoxIdentity.keyName, in: folder)
    try file.replace(Array(text.utf8))
    for read in [{ _ = try BoxIdentity.open(in: folder) }, { _ = try BoxIdentity.readKey(in: folder) }] {
      let error = #expect(throws: AccessoryError.self) { try read() }
      #expect(error?.kind == .badData && error?.message.contains("is damaged") == true)
    }
  }

  @Test func aKeyThatIsNotThereIsTold() throws {
    let error = #expect(throws: AccessoryError.self) { try BoxIdentity.readKey(in: "/none") }
    #expect(error?.kind == .notFound && error?.message.contains("it is made at the first start") == true)
  }
}
