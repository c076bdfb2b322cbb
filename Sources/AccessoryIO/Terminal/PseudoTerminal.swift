// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import CLinuxShims
import Glibc
import Synchronization
import SystemPackage

/// A pseudo-terminal: a terminal that other programs can open like a serial port, and a transport at its master end.
public struct PseudoTerminal: Sendable {
  /// The terminal's device node, "/dev/pts/N".
  public let path: String
  /// The master end. To programs that have the terminal open, closing it looks like unplugging the device.
  public let transport: DescriptorTransport

  /// The line settings that a program has set on the terminal; nil when the pseudo-terminal is closed. Doesn't block.
  package let settings: @Sendable () -> LineStatus?

  /// Gives the terminal these settings, for the next program that opens it. Doesn't block.
  package let applySettings: @Sendable (LineStatus) -> Void

  /// Creates a pseudo-terminal in raw mode, so that nothing is echoed before a program opens it.
  ///
  /// Throws `ioFailure` when the system has no pseudo-terminal or descriptor left.
  public static func open(io: IOThread = .shared) async throws(AccessoryError) -> PseudoTerminal {
    try await open(mode: nil, io: io, onUse: nil)
  }

  /// Like `open(io:)`; the terminal's node gets the permissions `mode`. `onUse` is called on the I/O thread: with true
  /// when a program opens the terminal, and with false when no program has it open any more. Then bytes that weren't
  /// read are discarded, and the first settings are restored.
  package static func open(
    mode: UInt16?, io: IOThread = .shared, onUse: (@Sendable (Bool) -> Void)?
  ) async throws(AccessoryError) -> PseudoTerminal {
    let setup = SetupQueue(label: "ptmx")
    let pair = try await setup.run { () throws(AccessoryError) in
      try Pair(mode: mode, io: io, setup: setup, onUse: onUse)
    }
    let transport = DescriptorTransport(
      descriptor: pair.master, label: pair.path, timing: .instant, io: io, setup: setup, closing: .atOnce, clock: io,
      release: { _ in pair.release() })
    return PseudoTerminal(
      path: pair.path, transport: transport, settings: pair.settings, applySettings: pair.applySettings)
  }
}

/// The two descriptors of a pseudo-terminal.
///
/// This process also keeps the slave end open. Otherwise the master end would read as hung up while no program has the
/// terminal open, and epoll would report that without end.
private struct Pair: Sendable {
  let master: FileDescriptor
  let path: String
  private let terminal: SlaveEnd
  private let watcher: FileWatcher

  init(
    mode: UInt16?, io: IOThread, setup: SetupQueue, onUse: (@Sendable (Bool) -> Void)?
  ) throws(AccessoryError) {
    var opened: [FileDescriptor] = []
    do throws(Errno) {
      let master = try SystemCall.open("/dev/ptmx", O_RDWR | O_NOCTTY | O_NONBLOCK)
      opened.append(master)
      try SystemCall.ioctl(TerminalRequest.SetLock(isLocked: false), on: master)
      let number = try SystemCall.ioctl(TerminalRequest.GetNumber(), on: master)
      let path = "/dev/pts/\(number)"
      let terminal = try SystemCall.open(path, O_RDWR | O_NOCTTY | O_NONBLOCK)
      opened.append(terminal)
      if let mode {
        guard chmod(path, mode_t(mode)) == 0 else { throw Errno(rawValue: errno) }
        // Gives the node to the group of this process. If that isn't permitted, the node keeps the system's group for
        // terminals.
        if mode & 0o070 != 0 { _ = chown(path, uid_t.max, getegid()) }
      }
      var settings = try LineSettings(of: terminal)
      settings.makeRaw()
      // The kernel begins with software flow control, which would swallow bytes of 0x11 and 0x13.
      settings.flowControl = .none
      try settings.apply(to: terminal)
      let end = SlaveEnd(terminal, settings)
      // Since this process keeps the slave end open, an exclusive mode that a killed program had set would stay on. So
      // the watcher turns it off.
      let changes: FileWatcher.Changes =
        onUse == nil ? .closedAfterWriting : [.opened, .closedAfterWriting, .closedAfterReading]
      let check = UseCheck(end: end, setup: setup, io: io, onUse: onUse)
      watcher = try FileWatcher(path, for: changes, io: io) { changes in
        if changes.contains(.opened) { check.opened() }
        guard !changes.isDisjoint(with: [.closedAfterWriting, .closedAfterReading, .overflow]) else { return }
        check.begin(isLost: changes.contains(.overflow))
      }
      (self.master, self.path, self.terminal) = (master, path, end)
    } catch {
      opened.forEach(SystemCall.close)
      throw AccessoryError(watching: error, "making a pseudo-terminal")
    }
  }

  func settings() -> LineStatus? { terminal.status }

  func applySettings(_ status: LineStatus) { terminal.applySettings(status) }

  func release() {
    watcher.stop()
    SystemCall.close(master)
    terminal.close()
  }
}

/// Finds out whether other programs have a terminal open, and reports it on the I/O thread.
private struct UseCheck: Sendable {
  let end: SlaveEnd
  let setup: SetupQueue
  let io: IOThread
  let onUse: (@Sendable (Bool) -> Void)?

  /// A program has opened the terminal. Called on the I/O thread.
  func opened() {
    end.noteOpening()
    onUse?(true)
  }

  /// A program has closed the terminal, or the kernel has lost what happened (`isLost`). Called on the I/O thread.
  func begin(isLost: Bool, isSecond: Bool = false) {
    let seen = end.openings
    setup.post {
      let isUnused = end.isUnused
      if isUnused { end.endStaleExclusiveMode() }
      io.post {
        // Another program may have opened the terminal meanwhile.
        guard end.openings == seen, end.isStillOpen else { return }
        if isUnused {
          guard onUse != nil else { return }
          end.reset()
          onUse?(false)
        } else if isLost {
          opened()
        } else if !isSecond {
          // A process that this one starts has all descriptors of this one for a moment, and no event tells of their end.
          _ = io.schedule(at: io.now + .seconds(1)) { begin(isLost: false, isSecond: true) }
        }
      }
    }
  }
}

/// The slave end, while it is open. Only `isUnused` may block.
private final class SlaveEnd: Sendable {
  private let descriptor: FileDescriptor
  private let original: Locked<LineSettings>
  private let isOpen = Locked(true)
  private let openingCount = Atomic<Int>(0)

  /// How often other programs have opened the terminal.
  var openings: Int { openingCount.load(ordering: .relaxed) }
  func noteOpening() { openingCount.add(1, ordering: .relaxed) }

  init(_ descriptor: FileDescriptor, _ original: LineSettings) {
    self.descriptor = descriptor
    self.original = Locked(original)
  }

  /// Whether `close` wasn't called yet.
  var isStillOpen: Bool { isOpen.withLock { $0 } }

  /// Whether no other program has the terminal open, as far as this user can see.
  var isUnused: Bool { isStillOpen && !ProcessTable.isOpenElsewhere(descriptor) }

  /// Turns the exclusive mode off. Call it when no other program has the terminal open, because a program that has it
  /// open may have set the mode itself.
  func endStaleExclusiveMode() {
    whileOpen {
      let isExclusive = (try? SystemCall.ioctl(TerminalRequest.IsExclusive(), on: descriptor)) ?? false
      if isExclusive { try? SystemCall.ioctl(TerminalRequest.SetExclusive(isExclusive: false), on: descriptor) }
    }
  }

  /// Discards bytes that weren't read, and restores the first settings.
  func reset() {
    whileOpen {
      try? SystemCall.ioctl(TerminalRequest.Flush(queue: TCIFLUSH), on: descriptor)
      try? original.withLock { $0 }.apply(to: descriptor)
    }
  }

  /// Changes the first settings, and applies them.
  func applySettings(_ status: LineStatus) {
    whileOpen {
      let wanted = original.withLock { original in
        original.set(
          LineChanges(
            baudRate: status.baudRate, dataBits: status.dataBits, parity: status.parity, stopBits: status.stopBits))
        return original
      }
      try? wanted.apply(to: descriptor)
    }
  }

  var status: LineStatus? {
    whileOpen {
      guard let settings = try? LineSettings(of: descriptor) else { return nil }
      return LineStatus(
        baudRate: settings.baudRate, dataBits: settings.dataBits, parity: settings.parity,
        stopBits: settings.stopBits, flowControl: settings.flowControl)
    } ?? nil
  }

  @discardableResult
  private func whileOpen<Value: Sendable>(_ body: () -> Value) -> Value? {
    isOpen.withLock { isOpen in isOpen ? body() : nil }
  }

  func close() {
    isOpen.withLock { isOpen in
      isOpen = false
      SystemCall.close(descriptor)
    }
  }
}
