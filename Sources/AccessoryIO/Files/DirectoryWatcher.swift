// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Glibc
import SystemPackage

/// Reports changes in a directory. Also reports when the directory's path stops leading to it, because the directory or
/// one above it was removed or renamed.
///
/// inotify reports the removal of a directory only when no process has anything in it open, and doesn't report that a
/// directory above was renamed. So this also watches the directories above, each for the next name in the path.
package final class DirectoryWatcher: Sendable {
  /// A report of the watcher.
  package enum Event: Sendable, Equatable {
    /// The entries with these names have changed; nil when the names aren't known.
    case changed(Set<String>?)
    /// The path now leads to another directory, or to none. Stop this watcher and create a new one.
    case gone
  }

  private let path: String
  private let identity: FileIdentity
  private let watchers = Locked<[FileWatcher]>([])

  /// Watches the directory at `path` for `changes`, and up to `levels` of the directories above it. Calls `body` on the
  /// I/O thread. Call `stop` when done. Throws the errno of inotify_add_watch(2).
  package init(
    _ path: String, levels: Int, for changes: FileWatcher.Changes, io: IOThread = .shared,
    _ body: @escaping @Sendable (Event) -> Void
  ) throws(Errno) {
    var path = path
    while path.count > 1, path.hasSuffix("/") { path.removeLast() }
    self.path = path
    var watchers = [
      try FileWatcher(path, for: changes, io: io) { changes, names in
        body(changes.contains(.gone) ? .gone : .changed(names))
      }
    ]
    guard let identity = FileIdentity(path) else {
      watchers[0].stop()
      throw .noSuchFileOrDirectory
    }
    self.identity = identity
    var below = path
    for _ in 0..<levels {
      guard let slash = below.lastIndex(of: "/") else { break }
      let name = String(below[slash...].dropFirst())
      below = slash == below.startIndex ? "/" : String(below[..<slash])
      // A directory that can't be read can't be watched, but then this user can't change it either.
      let watcher = try? FileWatcher(below, for: [.deleted, .movedOut], io: io) { [path] _, names in
        guard names?.contains(name) ?? true, FileIdentity(path) != identity else { return }
        body(.gone)
      }
      if let watcher { watchers.append(watcher) }
      if below == "/" { break }
    }
    self.watchers.withLock { $0 = watchers }
    // Reports changes from before the directories above were watched.
    if FileIdentity(path) != identity { body(.gone) }
  }

  /// Stops watching. A call of `body` that is running finishes.
  package func stop() {
    let watchers = watchers.withLock { watchers in
      defer { watchers = [] }
      return watchers
    }
    for watcher in watchers { watcher.stop() }
  }
}

/// The identity of a file (device and inode number). Shows whether another file has taken its place.
package struct FileIdentity: Sendable, Hashable {
  private let device: UInt
  private let inode: UInt

  /// The file at `path`, without following a link; nil when there is none.
  package init?(_ path: String) {
    var file = stat()
    guard lstat(path, &file) == 0 else { return nil }
    (device, inode) = (UInt(file.st_dev), UInt(file.st_ino))
  }

  /// The open file of `descriptor`; nil when it can't be read.
  package init?(_ descriptor: FileDescriptor) {
    var file = stat()
    guard fstat(descriptor.rawValue, &file) == 0 else { return nil }
    (device, inode) = (UInt(file.st_dev), UInt(file.st_ino))
  }
}
