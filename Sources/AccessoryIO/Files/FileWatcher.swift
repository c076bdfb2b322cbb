// SPDX-License-Identifier: Apache-2.0

import CLinuxShims
import Glibc
import Synchronization
import SystemPackage

/// Reports changes to one file or directory (inotify(7)), on the I/O thread.
package final class FileWatcher: Sendable {
  /// The kinds of changes to report; several can be combined.
  package struct Changes: OptionSet, Sendable, Hashable {
    /// The bits of inotify(7).
    package let rawValue: UInt32
    /// A set of these bits.
    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// A file appeared in the directory, complete, by being renamed into it.
    package static let movedIn = Changes(rawValue: UInt32(IN_MOVED_TO))
    /// A file or directory was created in the directory; its contents may not be complete.
    package static let created = Changes(rawValue: UInt32(IN_CREATE))
    /// A file was removed from the directory.
    package static let deleted = Changes(rawValue: UInt32(IN_DELETE))
    /// A file was renamed out of the directory, or to another name in it.
    package static let movedOut = Changes(rawValue: UInt32(IN_MOVED_FROM))
    /// A file that was open for writing was closed, or its writer was killed.
    package static let closedAfterWriting = Changes(rawValue: UInt32(IN_CLOSE_WRITE))
    package static let opened = Changes(rawValue: UInt32(IN_OPEN))
    /// A file that was open for reading only was closed.
    package static let closedAfterReading = Changes(rawValue: UInt32(IN_CLOSE_NOWRITE))
    /// The kernel dropped events: read the directory again.
    package static let overflow = Changes(rawValue: UInt32(IN_Q_OVERFLOW))
    /// The watched file or directory itself was removed. No more events follow.
    package static let gone = Changes(rawValue: UInt32(IN_IGNORED))
  }

  let changes: Changes
  let body: @Sendable (Changes, Set<String>?) -> Void
  private let inotify: Inotify
  private let isOver = Atomic<Bool>(false)

  /// Watches `path` and calls `body` on the I/O thread with the kinds of changes since the last call. Call `stop` when
  /// done. Throws the errno of inotify_add_watch(2).
  package convenience init(
    _ path: String, for changes: Changes, io: IOThread = .shared, _ body: @escaping @Sendable (Changes) -> Void
  ) throws(Errno) {
    try self.init(path, for: changes, io: io) { changes, _ in body(changes) }
  }

  /// Like the initializer above. `body` also gets the names of the directory entries that changed, or nil when the
  /// names aren't known.
  package init(
    _ path: String, for changes: Changes, io: IOThread = .shared,
    _ body: @escaping @Sendable (Changes, Set<String>?) -> Void
  ) throws(Errno) {
    self.changes = changes
    self.body = body
    inotify = try io.inotify()
    try inotify.add(self, path)
  }

  /// One inotify event: the change, and the name of the directory entry, or nil for the directory itself.
  struct Occurrence {
    var change: Changes
    var name: String?
  }

  /// Calls `body` once, with those of the events that this watcher asked for.
  func report(_ seen: [Occurrence]) {
    var (allChanges, names): (Changes, Set<String>) = ([], [])
    for occurrence in seen {
      let change = occurrence.change.intersection(changes.union([.overflow, .gone]))
      guard !change.isEmpty else { continue }
      allChanges.formUnion(change)
      if let name = occurrence.name { names.insert(name) }
    }
    guard !allChanges.isEmpty, !isOver.load(ordering: .relaxed) else { return }
    body(allChanges, allChanges.contains(.overflow) ? nil : names)
  }

  /// Stops watching. A call of `body` that is running finishes.
  package func stop() {
    if !isOver.exchange(true, ordering: .relaxed) { inotify.remove(self) }
  }
}
