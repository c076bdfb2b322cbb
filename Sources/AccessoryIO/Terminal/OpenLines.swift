// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Glibc
import Synchronization
import SystemPackage

/// The first of the entries, as a number, 0 while there are none. Outside the type, for signal handlers' sake.
private let firstEntry = Atomic<UInt>(0)

/// The lines that this process has open: what every end of the process but SIGKILL puts back.
///
/// A close puts its line back, and needs none of this. Some ends come without one: exit(3) while a line is open, and,
/// where the program has called `TerminalGuard.restoreOnSignals`, a signal. Then `putBackAll` is called.
enum OpenLines {
  /// One line, or the place of one that was closed. Never freed, as a signal handler may look at any moment; the next
  /// line takes the place.
  fileprivate struct Entry: ~Copyable {
    let isTaken = Atomic(true)
    /// A break has been begun, and goes on.
    let isBreaking = Atomic(false)
    var descriptor: FileDescriptor
    var original: Terminal.Original
    /// Whoever opened it: a child that was forked has the descriptors, but not the duty.
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

    /// The line was put back. Before its descriptor is closed, whose number may be another file's then.
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

  /// Puts all lines back that are open. Never blocks but for what a sick driver does, takes no lock, allocates nothing:
  /// may be called by a signal handler, and more than once.
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
