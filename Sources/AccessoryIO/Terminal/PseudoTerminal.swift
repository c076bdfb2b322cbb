// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import CLinuxShims
import Glibc
import SystemPackage

/// A pair of a terminal that others can open like a serial port, and the transport at its other end.
public struct PseudoTerminal: Sendable {
  /// The terminal's device node, "/dev/pts/N".
  public let path: String
  /// The other end. Closing it is, to who has the terminal open, as if the cable were pulled.
  public let transport: DescriptorTransport

  /// Makes a pseudo-terminal, raw from the start, so that nothing is echoed before somebody opens it.
  ///
  /// Throws `ioFailure` when the system has none left.
  public static func open(io: IOThread = .shared) async throws(AccessoryError) -> PseudoTerminal {
    let setup = SetupQueue(label: "ptmx")
    let pair = try await setup.run { () throws(AccessoryError) in try Pair(io: io, setup: setup) }
    let transport = DescriptorTransport(
      descriptor: pair.master, label: pair.path, timing: .instant, io: io, setup: setup, closing: .atOnce, clock: io,
      release: { _ in pair.release() })
    return PseudoTerminal(path: pair.path, transport: transport)
  }
}

/// The two descriptors of a pseudo-terminal.
///
/// The terminal's own end stays open here as well. Otherwise the other end would read as hung up whenever nobody has
/// the terminal open, and epoll would say so without end.
private struct Pair: Sendable {
  let master: FileDescriptor
  let path: String
  private let terminal: TerminalEnd
  private let watcher: FileWatcher

  init(io: IOThread, setup: SetupQueue) throws(AccessoryError) {
    var opened: [FileDescriptor] = []
    do throws(Errno) {
      let master = try SystemCall.open("/dev/ptmx", O_RDWR | O_NOCTTY | O_NONBLOCK)
      opened.append(master)
      try SystemCall.ioctl(TerminalRequest.SetLock(isLocked: false), on: master)
      let number = try SystemCall.ioctl(TerminalRequest.GetNumber(), on: master)
      let path = "/dev/pts/\(number)"
      let terminal = try SystemCall.open(path, O_RDWR | O_NOCTTY | O_NONBLOCK)
      opened.append(terminal)
      var settings = try LineSettings(of: terminal)
      settings.makeRaw()
      try settings.apply(to: terminal)
      // Since this end keeps the terminal alive, the exclusive mode of a program that was killed would outlive it.
      let end = TerminalEnd(terminal)
      watcher = try FileWatcher(path, for: .closedAfterWriting, io: io) { _ in
        setup.post { end.endStaleExclusiveMode() }
      }
      (self.master, self.path, self.terminal) = (master, path, end)
    } catch {
      opened.forEach(SystemCall.close)
      throw AccessoryError(watching: error, "making a pseudo-terminal")
    }
  }

  func release() {
    watcher.stop()
    SystemCall.close(master)
    terminal.close()
  }
}

/// The terminal's own end, for as long as it is open. Used on the setup queue.
private final class TerminalEnd: Sendable {
  private let descriptor: FileDescriptor
  private let isOpen = Locked(true)

  init(_ descriptor: FileDescriptor) { self.descriptor = descriptor }

  /// Ends the exclusive mode when nobody else has the terminal open. Whoever still has it may be its owner.
  func endStaleExclusiveMode() {
    isOpen.withLock { isOpen in
      guard isOpen else { return }
      let isExclusive = (try? SystemCall.ioctl(TerminalRequest.IsExclusive(), on: descriptor)) ?? false
      guard isExclusive, !ProcessTable.isOpenElsewhere(descriptor) else { return }
      try? SystemCall.ioctl(TerminalRequest.SetExclusive(isExclusive: false), on: descriptor)
    }
  }

  func close() {
    isOpen.withLock { $0 = false }
    SystemCall.close(descriptor)
  }
}
