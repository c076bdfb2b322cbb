// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import CLinuxShims
import Glibc
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
