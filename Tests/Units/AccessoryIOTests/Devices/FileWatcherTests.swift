// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import Glibc
import SystemPackage
import TestSupport
import Testing

extension ProcessWide {
  @Suite struct FileWatcherTests {
    /// A directory of its own for `body`, with a watcher on it.
    private func withDirectory(
      _ changes: FileWatcher.Changes, _ body: (String, FileWatcher, Watched<[FileWatcher.Changes]>) async throws -> Void
    ) async throws {
      let path = "/tmp/accessory-io-watch-\(getpid())"
      try #require(mkdir(path, 0o700) == 0)
      defer {
        for name in Directory.names(in: path) { unlink("\(path)/\(name)") }
        rmdir(path)
      }
      let seen = Watched<[FileWatcher.Changes]>([])
      let watcher = try FileWatcher(path, for: changes) { [io = IOThread.shared] change in
        precondition(io.isCurrent)
        seen.update { $0.append(change) }
      }
      await IOThread.shared.barrier()
      try await body(path, watcher, seen)
      watcher.stop()
    }

    private func touch(_ path: String) { close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)) }

    @Test func whatIsAskedForIsToldAndNothingElse() async throws {
      try await withDirectory([.movedIn, .deleted]) { path, watcher, seen in
        touch("\(path)/new")
        rename("\(path)/new", "\(path)/there")
        try await seen.wait { $0 == [.movedIn] }
        touch("\(path)/there")
        unlink("\(path)/there")
        try await seen.wait { $0 == [.movedIn, .deleted] }
      }
    }

    @Test func onlyClosingAfterWritingIsReported() async throws {
      try await withDirectory(.closedAfterWriting) { path, watcher, seen in
        touch("\(path)/file")
        try await seen.wait { $0 == [.closedAfterWriting] }
        close(open("\(path)/file", O_RDONLY | O_CLOEXEC))
        touch("\(path)/file")
        try await seen.wait { $0.count == 2 }
      }
    }

    @Test func manyChangesMissedAreOneCall() async throws {
      try await withDirectory([.movedIn, .deleted]) { path, watcher, seen in
        // The loop is busy with this, and looks afterwards.
        IOThread.shared.post {
          for number in 0..<100 {
            close(open("\(path)/a", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600))
            rename("\(path)/a", "\(path)/\(number)")
          }
          unlink("\(path)/0")
        }
        try await seen.wait { !$0.isEmpty }
        #expect(seen.value == [[.movedIn, .deleted]])
      }
    }

    @Test func theEndOfAWatchedFileIsReported() async throws {
      let path = "/tmp/accessory-io-gone-\(getpid())"
      touch(path)
      let seen = Watched<[FileWatcher.Changes]>([])
      let watcher = try FileWatcher(path, for: .closedAfterWriting) { change in seen.update { $0.append(change) } }
      unlink(path)
      try await seen.wait { $0.contains { $0.contains(.gone) } }
      watcher.stop()
    }

    @Test func afterStopNothingIsTold() async throws {
      try await withDirectory(.closedAfterWriting) { path, watcher, seen in
        watcher.stop()
        watcher.stop()
        await IOThread.shared.barrier()
        touch("\(path)/file")
        await IOThread.shared.barrier()
        #expect(seen.value == [])
      }
    }

    @Test func manyWatchersShareOneDescriptor() async throws {
      let path = "/tmp/accessory-io-shared-\(getpid())"
      touch(path)
      defer { unlink(path) }
      let seen = Watched<[Int]>([])
      // A watcher each for what others are told too: one file has one watch in the kernel.
      let first = try FileWatcher(path, for: .closedAfterWriting) { _ in seen.update { $0.append(0) } }
      let before = ThisProcess.descriptors
      let others = try (1..<200).map { number in
        try FileWatcher(path, for: .closedAfterWriting) { _ in seen.update { $0.append(number) } }
      }
      #expect(ThisProcess.descriptors.isSubset(of: before), "nothing stays open")
      touch(path)
      try await seen.wait { $0.count == 200 }
      first.stop()
      others[1...].forEach { $0.stop() }
      touch(path)
      try await seen.wait { $0.count == 201 }
      #expect(seen.value.last == 1)
      others[0].stop()
    }

    @Test func whatIsNotThereCanNotBeWatched() async throws {
      try FileWatcher("/tmp", for: .deleted) { _ in }.stop()
      let before = ThisProcess.descriptors
      #expect(throws: Errno.noSuchFileOrDirectory) { try FileWatcher("/nowhere/at/all", for: .deleted) { _ in } }
      #expect(ThisProcess.descriptors.isSubset(of: before), "nothing stays open")
    }
  }
}
