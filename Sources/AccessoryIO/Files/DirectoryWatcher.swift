// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Glibc
import SystemPackage

/// Tells of changes in a directory, and when its path doesn't lead to it any more: it, or one above it, was removed or
/// renamed.
///
/// The kernel tells of a directory's own end only when nobody has anything of it open any more, and of no renaming of one
/// above it. So those above are watched, too, for their part of the path.
package final class DirectoryWatcher: Sendable {
  /// What is told.
  package enum News: Sendable, Equatable {
    /// These names in it have changed; nil: they aren't known.
    case changed(Set<String>?)
    /// The path leads elsewhere, or nowhere. Stop this watcher, and begin with a new one.
    case gone
  }

  private let path: String
  private let identity: FileIdentity
  private let watchers = Locked<[FileWatcher]>([])

  /// Watches the directory at `path` for `changes`, and `levels` of the directories above it, and calls `body` on the
  /// I/O thread. Call `stop` in the end. Throws the errno of inotify_add_watch(2).
  package init(
    _ path: String, levels: Int, for changes: FileWatcher.Changes, io: IOThread = .shared,
    _ body: @escaping @Sendable (News) -> Void
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
      // One that can't be read can't be watched; nor can it be changed by this user.
      let watcher = try? FileWatcher(below, for: [.deleted, .movedOut], io: io) { [path] _, names in
        guard names?.contains(name) ?? true, FileIdentity(path) != identity else { return }
        body(.gone)
      }
      if let watcher { watchers.append(watcher) }
      if below == "/" { break }
    }
    self.watchers.withLock { $0 = watchers }
    // What happened before those above were watched.
    if FileIdentity(path) != identity { body(.gone) }
  }

  /// Ends the watch; a call that is under way finishes.
  package func stop() {
    let watchers = watchers.withLock { watchers in
      defer { watchers = [] }
      return watchers
    }
    for watcher in watchers { watcher.stop() }
  }
}

/// Which file is at a path; another one that comes there later is another.
package struct FileIdentity: Sendable, Hashable {
  private let device: UInt
  private let inode: UInt

  /// What is at `path`, be it a link; nil when nothing is.
  package init?(_ path: String) {
    var file = stat()
    guard lstat(path, &file) == 0 else { return nil }
    (device, inode) = (UInt(file.st_dev), UInt(file.st_ino))
  }

  /// What is open.
  package init?(_ descriptor: FileDescriptor) {
    var file = stat()
    guard fstat(descriptor.rawValue, &file) == 0 else { return nil }
    (device, inode) = (UInt(file.st_dev), UInt(file.st_ino))
  }
}
