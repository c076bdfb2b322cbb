// SPDX-License-Identifier: Apache-2.0

import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import AccessoryIO

/// What is told of a directory that somebody takes away.
@Suite(.timeLimit(.minutes(Patience.minutes(5)))) struct DirectoryWatcherTests {
  private let directory: TemporaryDirectory
  private let seen = Watched<[DirectoryWatcher.Event]>([])

  init() throws {
    directory = try TemporaryDirectory()
    for name in ["a", "a/b", "a/b/c"] { try #require(mkdir(path(name), 0o700) == 0) }
  }

  private func path(_ name: String) -> String { directory.path + "/" + name }

  private func watch(_ levels: Int = 2) throws -> DirectoryWatcher {
    try DirectoryWatcher(path("a/b/c"), levels: levels, for: [.movedIn, .deleted]) { [seen] news in
      seen.update { $0.append(news) }
    }
  }

  @Test func renamedAndRemovedFilesAreReported() async throws {
    let watcher = try watch()
    try directory.write([], to: "a/b/c/one")
    #expect(rename(path("a/b/c/one"), path("a/b/c/two")) == 0)
    try await seen.wait { $0 == [.changed(["two"])] }
    #expect(unlink(path("a/b/c/two")) == 0)
    try await seen.wait { $0 == [.changed(["two"]), .changed(["two"])] }
    watcher.stop()
  }

  /// Something in it is open, so the kernel keeps the directory, and doesn't tell of its end.
  @Test(arguments: ["a/b/c", "a/b", "a"]) func aDirectoryRemovedWhileOpenIsReportedGone(name: String) async throws {
    try directory.write([], to: "a/b/c/one")
    let open = open(path("a/b/c/one"), O_RDONLY | O_CLOEXEC)
    defer { close(open) }
    let watcher = try watch()
    #expect(unlink(path("a/b/c/one")) == 0)
    for directory in ["a/b/c", "a/b", "a"] where directory.hasPrefix(name) { #expect(rmdir(path(directory)) == 0) }
    try await seen.wait { $0.contains(.gone) }
    watcher.stop()
  }

  @Test(arguments: ["a/b/c", "a/b"]) func renamingADirectoryAboveEndsTheWatch(name: String) async throws {
    let watcher = try watch()
    #expect(rename(path(name), path("x")) == 0)
    try await seen.wait { $0.contains(.gone) }
    watcher.stop()
  }

  /// What others do in the directories above is none of its business.
  @Test func changesInDirectoriesAboveAreNotReported() async throws {
    let watcher = try watch()
    for name in ["a/x", "a/b/x"] {
      #expect(mkdir(path(name), 0o700) == 0)
      #expect(rename(path(name), path("y")) == 0)
      #expect(rmdir(path("y")) == 0)
    }
    try directory.write([], to: "a/b/c/one")
    #expect(unlink(path("a/b/c/one")) == 0)
    try await seen.wait { !$0.isEmpty }
    #expect(seen.value == [.changed(["one"])])
    watcher.stop()
  }

  @Test func watchingAMissingDirectoryFails() {
    #expect(throws: Errno.noSuchFileOrDirectory) {
      try DirectoryWatcher(path("nowhere"), levels: 2, for: .deleted) { _ in }
    }
  }
}
