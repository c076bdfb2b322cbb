// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Glibc
import TestSupport
import Testing

@testable import AccessoryDiscovery

@Suite struct AnnouncementTests {
  static let announcement = Announcement(
    path: "/dev/pts/7", link: "/home/me/acc", driver: "framed", name: "Gadget", manufacturer: "Maker", model: "M",
    serial: "S-1")
  static let text = #"{"path":"/dev/pts/7","driver":"framed"}"#

  @Test func anAnnouncementIsReadUntilItIsRemoved() throws {
    let directory = try TemporaryDirectory()
    let file = try AnnouncementFile(Self.announcement, name: "one", directory: directory.path)
    #expect(directory.names() == ["one.json"])
    let path = directory.path + "/one.json"
    let announcement = AnnouncementFile.read(path)
    #expect(announcement?.device == Self.announcement.device)
    #expect(AnnouncementFile.read(path) == announcement, "looking changes nothing")
    var facts = stat()
    #expect(stat(path, &facts) == 0)
    #expect(facts.st_mode & 0o777 == 0o600)
    file.remove()
    #expect(directory.names() == [])
    #expect(AnnouncementFile.read(path) == nil)
  }

  /// A terminal's number, and a descriptor's, belong to somebody else by then.
  @Test func removingTwiceLeavesTheNextAnnouncementAlone() throws {
    let directory = try TemporaryDirectory()
    let file = try AnnouncementFile(Self.announcement, name: "one", directory: directory.path)
    file.remove()
    let next = try AnnouncementFile(Self.announcement, name: "one", directory: directory.path)
    file.remove()
    #expect(directory.names() == ["one.json"])
    #expect(AnnouncementFile.read(directory.path + "/one.json") != nil, "its lock is held")
    next.remove()
    #expect(directory.names() == [])
  }

  @Test func anAnnouncementDescribesItsDevice() {
    #expect(
      Self.announcement.device
        == Device(
          .terminal("/dev/pts/7"), link: "/home/me/acc", source: .simulator, driver: "framed", name: "Gadget",
          manufacturer: "Maker", model: "M", serialNumber: "S-1"))
  }

  /// Whose owner is gone: the lock tells.
  @Test func anAnnouncementThatNobodyHoldsIsRemoved() throws {
    let directory = try TemporaryDirectory()
    try directory.write(Array(Self.text.utf8), to: "stale.json")
    #expect(AnnouncementFile.read(directory.path + "/stale.json") == nil)
    #expect(directory.names() == [])
  }

  @Test func aHeldAnnouncementIsReadUntilLetGo() throws {
    let file = try HeldFile(Array(Self.text.utf8))
    #expect(AnnouncementFile.read(file.path) == Announcement(path: "/dev/pts/7", driver: "framed"))
    file.letGo()
    #expect(AnnouncementFile.read(file.path) == nil)
    #expect(!exists(file.path))
  }

  @Test(arguments: [
    "", "{", "[]", "null", "{}", #"{"path":"/dev/pts/7"}"#, #"{"path":7,"driver":"framed"}"#, "\u{0}\u{0}",
    #"{"path":"/dev/pts/7","driver":"framed","name":{"a":[]}}"#, String(repeating: "[", count: 16_000),
  ])
  func nonsenseInAHeldFileIsNoAnnouncement(text: String) throws {
    let file = try HeldFile(Array(text.utf8))
    #expect(AnnouncementFile.read(file.path) == nil)
    #expect(exists(file.path), "somebody holds it, so it isn't ours to remove")
  }

  /// The same file with a name that is UTF-8 is read, so it is the name that the others are ignored for.
  @Test(arguments: [([0xC3, 0xA9], "é"), ([0xFF, 0xC0], nil), ([0x41, 0x80], nil)] as [([UInt8], String?)])
  func anAnnouncementThatIsNotUTF8IsIgnored(name: [UInt8], read: String?) throws {
    let bytes = Array(#"{"path":"/dev/pts/7","driver":"framed","name":""#.utf8) + name + Array(#""}"#.utf8)
    let file = try HeldFile(bytes)
    let announcement = AnnouncementFile.read(file.path)
    #expect(announcement?.name == read)
    #expect((announcement != nil) == (read != nil))
    #expect(exists(file.path))
  }

  /// 16 KiB are read, and not a byte more.
  @Test(arguments: [(16_384, true), (16_385, false)])
  func anAnnouncementOfMoreThan16KiBIsIgnored(count: Int, isRead: Bool) throws {
    let padding = String(repeating: " ", count: count - Self.text.utf8.count)
    let file = try HeldFile(Array((Self.text + padding).utf8))
    #expect((AnnouncementFile.read(file.path) != nil) == isRead)
    #expect(exists(file.path))
  }

  /// In a directory of one's own there can still be a file that somebody else made, by a link.
  @Test(.enabled(if: geteuid() == 0, "only root can give files away"))
  func aFileOfSomebodyElseIsNoAnnouncement() throws {
    let file = try HeldFile(Array(Self.text.utf8))
    #expect(AnnouncementFile.read(file.path) != nil)
    #expect(chown(file.path, 65_534, 65_534) == 0)
    #expect(AnnouncementFile.read(file.path) == nil)
    file.letGo()
    #expect(AnnouncementFile.read(file.path) == nil)
    #expect(exists(file.path))
  }

  @Test func linksPipesAndDirectoriesAreNoAnnouncements() throws {
    let file = try HeldFile(Array(Self.text.utf8))
    let directory = try TemporaryDirectory()
    #expect(symlink(file.path, directory.path + "/link.json") == 0)
    #expect(mkdir(directory.path + "/directory.json", 0o700) == 0)
    #expect(mkfifo(directory.path + "/pipe.json", 0o600) == 0)
    for name in directory.names() {
      #expect(AnnouncementFile.read(directory.path + "/" + name) == nil, "\(name)")
    }
    #expect(directory.names().count == 3)
  }

  @Test func aMissingDirectoryIsNotFound() {
    let error = #expect(throws: AccessoryError.self) {
      try AnnouncementFile(Self.announcement, name: "one", directory: "/no/such/directory")
    }
    #expect(error?.kind == .notFound)
    #expect(error?.message.contains("/no/such/directory") == true)
  }
}

/// A file that this process holds as a simulator would, with contents that a simulator would never write.
final class HeldFile {
  let path: String
  private let directory: TemporaryDirectory
  private var descriptor: CInt

  init(_ bytes: [UInt8]) throws {
    directory = try TemporaryDirectory()
    path = directory.path + "/held.json"
    try directory.write(bytes, to: "held.json")
    descriptor = open(path, O_RDONLY | O_CLOEXEC)
    try #require(descriptor >= 0 && flock(descriptor, LOCK_EX | LOCK_NB) == 0)
  }

  func letGo() {
    if descriptor >= 0 { close(descriptor) }
    descriptor = -1
  }

  deinit { letGo() }
}
