// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Glibc
import Synchronization
import SystemPackage

/// The address of the first entry, 0 while there is none. A global, because signal handlers read it.
private let firstEntry = Atomic<UInt>(0)

/// The open lines of this process, whose settings are restored however the process ends, except by SIGKILL.
///
/// Closing a line restores it. `putBackAll` is for ends without a close: exit(3) while a line is open, and signals,
/// where the program has called `TerminalGuard.restoreOnSignals`.
enum OpenLines {
  /// An open line, or a free entry. Entries are never freed, because a signal handler may read them at any moment; the
  /// next line reuses a free one.
  fileprivate struct Entry: ~Copyable {
    let isTaken = Atomic(true)
    /// A break has been begun, and goes on.
    let isBreaking = Atomic(false)
    var descriptor: FileDescriptor
    var original: Terminal.Original
    /// The process that opened it. A forked child has the descriptors, too, but must not restore the settings.
    var process: pid_t
    let next: UnsafeMutablePointer<Entry>?
  }

  /// A line that is open.
  struct Token: @unchecked Sendable {
    // Sendable: the entry is written to by the line's setup queue alone, while it is taken.
    fileprivate let entry: UnsafeMutablePointer<Entry>

    /// More was changed since.
    func update(_ original: Terminal.Original) { entry.pointee.original = original }

    /// A break begins, or has ended.
    func note(isBreaking: Bool) { entry.pointee.isBreaking.store(isBreaking, ordering: .releasing) }

    /// Whether a break goes on.
    var isBreaking: Bool { entry.pointee.isBreaking.load(ordering: .acquiring) }

    /// Call this when the line was restored and before its descriptor is closed, since its number may be reused.
    func remove() { entry.pointee.isTaken.store(false, ordering: .releasing) }
  }

  private static let adding = Locked(())
  private static let atExit: Void = { _ = atexit { OpenLines.putBackAll() } }()

  /// From now on this line has to be put back.
  static func add(_ descriptor: FileDescriptor, _ original: Terminal.Original) -> Token {
    atExit
    return adding.withLock { _ in
      let first = UnsafeMutablePointer<Entry>(bitPattern: firstEntry.load(ordering: .acquiring))
      var next = first
      while let entry = next {
        if !entry.pointee.isTaken.load(ordering: .acquiring) {
          (entry.pointee.descriptor, entry.pointee.original) = (descriptor, original)
          entry.pointee.process = getpid()
          entry.pointee.isBreaking.store(false, ordering: .releasing)
          entry.pointee.isTaken.store(true, ordering: .releasing)
          return Token(entry: entry)
        }
        next = entry.pointee.next
      }
      let entry = UnsafeMutablePointer<Entry>.allocate(capacity: 1)
      entry.initialize(to: Entry(descriptor: descriptor, original: original, process: getpid(), next: first))
      firstEntry.store(UInt(bitPattern: entry), ordering: .releasing)
      return Token(entry: entry)
    }
  }

  /// Restores the settings of all open lines. Takes no lock, allocates nothing and blocks only if a driver does: may be
  /// called by a signal handler, and more than once.
  static func putBackAll() {
    var next = UnsafeMutablePointer<Entry>(bitPattern: firstEntry.load(ordering: .acquiring))
    while let entry = next {
      if entry.pointee.isTaken.load(ordering: .acquiring), entry.pointee.process == getpid() {
        Terminal.putBack(
          entry.pointee.descriptor, entry.pointee.original,
          isBreaking: entry.pointee.isBreaking.load(ordering: .acquiring))
      }
      next = entry.pointee.next
    }
  }
}
