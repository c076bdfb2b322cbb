// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Glibc
import Synchronization
import SystemPackage

/// The address of the first entry, 0 when there is none. A global, because signal handlers read it.
private let firstEntry = Atomic<UInt>(0)

/// The open lines of this process, whose settings are restored however the process ends, except by SIGKILL.
///
/// Closing a line restores its settings. `putBackAll` is for the cases in which a line isn't closed: exit(3) while it
/// is open, and signals in a program that has called `TerminalGuard.restoreOnSignals`.
enum OpenLines {
  /// An open line, or a free entry. Entries are never deallocated, because a signal handler may read them at any
  /// moment; the next line that opens reuses a free one.
  fileprivate struct Entry: ~Copyable {
    let isTaken = Atomic(true)
    /// True while a break is on.
    let isBreaking = Atomic(false)
    var descriptor: FileDescriptor
    var original: Terminal.Original
    /// The process that opened the line. A forked child has the descriptor as well, but must not restore the settings.
    var process: pid_t
    let next: UnsafeMutablePointer<Entry>?
  }

  /// Identifies an open line.
  struct Token: @unchecked Sendable {
    // Sendable: only the line's setup queue writes to the entry while the line is open.
    fileprivate let entry: UnsafeMutablePointer<Entry>

    /// Replaces the settings to restore, after more settings were changed.
    func update(_ original: Terminal.Original) { entry.pointee.original = original }

    /// Records that a break begins or has ended.
    func note(isBreaking: Bool) { entry.pointee.isBreaking.store(isBreaking, ordering: .releasing) }

    /// Whether a break is on.
    var isBreaking: Bool { entry.pointee.isBreaking.load(ordering: .acquiring) }

    /// Removes the line. Call this after its settings were restored and before its descriptor is closed, since the
    /// descriptor number may be reused.
    func remove() { entry.pointee.isTaken.store(false, ordering: .releasing) }
  }

  private static let adding = Locked(())
  private static let atExit: Void = { _ = atexit { OpenLines.putBackAll() } }()

  /// Registers an open line, whose settings are restored when the process ends.
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

  /// Restores the settings of all open lines. Takes no lock, allocates nothing, and blocks only if a driver does, so a
  /// signal handler may call it. It may be called more than once.
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
