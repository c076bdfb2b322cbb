// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Glibc
import TestSupport
import Testing

@testable import AccessoryDiscovery

@Suite(.timeLimit(.minutes(Patience.minutes(5)))) struct SimulatorSourceTests {
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private func announce(_ serial: String, path: String = "/dev/pts/1", name: String? = nil) throws -> AnnouncementFile {
    try AnnouncementFile(
      Announcement(path: path, driver: "framed", serial: serial), name: name ?? serial, directory: directory.path)
  }

  private func source() -> SimulatorSource { SimulatorSource(directory: directory.path) }

  private static func device(_ serial: String, path: String = "/dev/pts/1") -> Device {
    Device(.node(path), source: .simulator, driver: "framed", serialNumber: serial)
  }

  @Test func theListIsSortedByPath() async throws {
    let files = try [("B", "/dev/pts/2"), ("A", "/dev/pts/3"), ("C", "/dev/pts/1")].map { try announce($0, path: $1) }
    #expect(try await source().devices().map(\.id) == ["C", "B", "A"])
    files[0].remove()
    #expect(try await source().devices().map(\.id) == ["C", "A"])
    files.dropFirst().forEach { $0.remove() }
    #expect(try await source().devices() == [])
  }

  @Test func otherFilesAreLeftAlone() async throws {
    let text = Array(AnnouncementTests.text.utf8)
    for name in ["notes.txt", ".hidden.json", "json"] { try directory.write(text, to: name) }
    #expect(try await source().devices() == [])
    #expect(directory.names() == [".hidden.json", "json", "notes.txt"])
  }

  @Test func addedAndRemovedAreTheSameDevice() async throws {
    let before = try announce("before")
    var events = try await source().events().makeAsyncIterator()
    #expect(await events.next() == .added(Self.device("before")))
    let after = try announce("after")
    #expect(await events.next() == .added(Self.device("after")))
    before.remove()
    #expect(await events.next() == .removed(Self.device("before")))
    after.remove()
    #expect(await events.next() == .removed(Self.device("after")))
  }

  /// A killed process unlinks nothing: the kernel closes its file, and that is the sign.
  @Test func anAnnouncementGoesWithItsOwner() async throws {
    let descriptor = open(directory.path + "/.new", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    let text = Array(AnnouncementTests.text.utf8)
    try #require(write(descriptor, text, text.count) == text.count && flock(descriptor, LOCK_EX | LOCK_NB) == 0)
    try #require(rename(directory.path + "/.new", directory.path + "/mortal.json") == 0)
    var events = try await source().events().makeAsyncIterator()
    let device = Device(.node("/dev/pts/7"), source: .simulator, driver: "framed")
    #expect(await events.next() == .added(device))
    close(descriptor)
    #expect(await events.next() == .removed(device))
    #expect(directory.names() == [])
  }

  /// One that took another's place under the same name: gone, then there.
  @Test func aReplacedAnnouncementIsRemovedAndAdded() async throws {
    _ = try announce("old", name: "same")
    var events = try await source().events().makeAsyncIterator()
    #expect(await events.next() == .added(Self.device("old")))
    _ = try announce("new", name: "same")
    #expect(await events.next() == .removed(Self.device("old")))
    #expect(await events.next() == .added(Self.device("new")))
  }

  /// Unplugged and plugged in again under the same name, faster than anybody looks: still told, both.
  @Test func aQuickReplugIsReportedAsTwoEvents() async throws {
    var file = try announce("quick")
    var events = try await source().events().makeAsyncIterator()
    #expect(await events.next() == .added(Self.device("quick")))
    for _ in 0..<50 {
      file.remove()
      file = try announce("quick")
      #expect(await events.next() == .removed(Self.device("quick")))
      #expect(await events.next() == .added(Self.device("quick")))
    }
    file.remove()
  }

  @Test func everySubscriberOfSimulatorsIsTold() async throws {
    let source = source()
    let first = try announce("first")
    var one = try await source.events().makeAsyncIterator()
    #expect(await one.next() == .added(Self.device("first")))
    let second = try announce("second", path: "/dev/pts/2")
    #expect(await one.next() == .added(Self.device("second", path: "/dev/pts/2")))
    // Later ones are told what is there first.
    var two = try await source.events().makeAsyncIterator()
    #expect(await two.next() == .added(Self.device("first")))
    #expect(await two.next() == .added(Self.device("second", path: "/dev/pts/2")))
    first.remove()
    #expect(await one.next() == .removed(Self.device("first")))
    #expect(await two.next() == .removed(Self.device("first")))
    second.remove()
  }

  /// Who stops listening doesn't stop the others.
  @Test func aSubscriberThatLeavesStopsNoOther() async throws {
    let source = source()
    let first = try announce("first")
    let isReading = Watched(false)
    let leaver = Task { [source] in
      for await _ in try await source.events() { isReading.update { $0 = true } }
    }
    try await isReading.wait { $0 }
    var stayer = try await source.events().makeAsyncIterator()
    #expect(await stayer.next() == .added(Self.device("first")))
    leaver.cancel()
    _ = await leaver.result
    let file = try announce("later")
    #expect(await stayer.next() == .added(Self.device("later")))
    first.remove()
    file.remove()
  }

  /// Two hundred changes at once end in the right list, whatever of them is seen on the way.
  @Test func aBurstOfChangesEndsInTheRightList() async throws {
    let events = try await source().events()
    let stays = try (0..<100).map { try announce("stays-\($0)") }
    for file in try (0..<100).map({ try announce("goes-\($0)") }) { file.remove() }
    let last = try announce("last")
    var present: Set<Device> = []
    for await event in events {
      switch event {
      case .added(let device): #expect(present.insert(device).inserted, "\(device.id) came twice")
      case .changed(let device, _): Issue.record("a simulator never changes, and \(device.id) did")
      case .removed(let device): #expect(present.remove(device) != nil, "\(device.id) went and had not come")
      }
      if present.count == 101, present.contains(Self.device("last")) { break }
    }
    #expect(Set(present.map(\.id)) == Set((0..<100).map { "stays-\($0)" } + ["last"]))
    (stays + [last]).forEach { $0.remove() }
  }

  @Test func aStreamKeepsItsSimulatorSource() async throws {
    weak var leak: SimulatorSource?
    var stream: AsyncStream<DeviceEvent>?
    do {
      let source = source()
      leak = source
      stream = try await source.events()
    }
    #expect(leak != nil)
    let file = try announce("one")
    var iterator = stream?.makeAsyncIterator()
    #expect(await iterator?.next() == .added(Self.device("one")))
    file.remove()
    // And lets it go with the last of its readers.
    (stream, iterator) = (nil, nil)
    try await eventually("the source's end") { leak == nil }
  }

  /// Nobody is left waiting for what can't come: a directory that was given is its owner's business.
  @Test func eventsEndWithTheGivenDirectory() async throws {
    let path = directory.path + "/given"
    try #require(mkdir(path, 0o700) == 0)
    let file = try AnnouncementFile(Announcement(path: "/dev/pts/1", driver: "framed"), name: "one", directory: path)
    var events = try await SimulatorSource(directory: path).events().makeAsyncIterator()
    let device = Device(.node("/dev/pts/1"), source: .simulator, driver: "framed")
    #expect(await events.next() == .added(device))
    file.remove()
    #expect(await events.next() == .removed(device))
    try #require(rmdir(path) == 0)
    #expect(await events.next() == nil)
  }

  @Test func aMissingSimulatorDirectoryIsNotFound() async throws {
    let source = SimulatorSource(directory: directory.path + "/missing")
    #expect(try await source.devices() == [])
    let error = await #expect(throws: AccessoryError.self) { try await source.events() }
    #expect(error?.kind == .notFound)
    #expect(error?.message.contains("/missing") == true)
  }
}
