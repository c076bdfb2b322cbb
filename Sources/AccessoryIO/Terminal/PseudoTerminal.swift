// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import CLinuxShims
import Glibc
import Synchronization
import SystemPackage

/// A pseudo-terminal: a terminal that other programs can open like a serial port, and a transport at its other end.
public struct PseudoTerminal: Sendable {
  /// The terminal's device node, "/dev/pts/N".
  public let path: String
  /// The other end. Closing it is like unplugging the device, for programs that have the terminal open.
  public let transport: DescriptorTransport

  /// The settings that whoever has the terminal open has made; nil when it is closed. Doesn't block.
  package let settings: @Sendable () -> LineStatus?

  /// Gives the terminal these settings, for who opens it next. Doesn't block.
  package let follow: @Sendable (LineStatus) -> Void

  /// Creates a pseudo-terminal in raw mode, so that nothing is echoed before a program opens it.
  ///
  /// Throws `ioFailure` when the system has none left.
  public static func open(io: IOThread = .shared) async throws(AccessoryError) -> PseudoTerminal {
    try await open(mode: nil, io: io, onUse: nil)
  }

  /// As above; its node gets this mode. `onUse` is told, on the I/O thread, when somebody opens it, and when nobody has it open
  /// any more: what wasn't read by then is thrown away, and the terminal is as it was at first.
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
    return PseudoTerminal(path: pair.path, transport: transport, settings: pair.settings, follow: pair.follow)
  }
}

/// The two descriptors of a pseudo-terminal.
///
/// The terminal's own end is kept open here, too. Otherwise the other end would read as hung up while no program has
/// the terminal open, and epoll would report that all the time.
private struct Pair: Sendable {
  let master: FileDescriptor
  let path: String
  private let terminal: TerminalEnd
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
      if let mode, chmod(path, mode_t(mode)) != 0 { throw Errno(rawValue: errno) }
      var settings = try LineSettings(of: terminal)
      settings.makeRaw()
      try settings.apply(to: terminal)
      let end = TerminalEnd(terminal, settings)
      // Because the terminal is kept open here, the exclusive mode that a killed program had set would stay.
      let changes: FileWatcher.Changes =
        onUse == nil ? .closedAfterWriting : [.opened, .closedAfterWriting, .closedAfterReading]
      watcher = try FileWatcher(path, for: changes, io: io) { changes in
        if changes.contains(.opened) {
          end.noteOpening()
          onUse?(true)
        }
        guard !changes.isDisjoint(with: [.closedAfterWriting, .closedAfterReading]) else { return }
        let seen = end.openings
        setup.post {
          guard end.isUnused else { return }
          end.endStaleExclusiveMode()
          guard let onUse else { return }
          io.post {
            // Unless somebody else has come meanwhile.
            guard end.openings == seen else { return }
            end.reset()
            onUse(false)
          }
        }
      }
      (self.master, self.path, self.terminal) = (master, path, end)
    } catch {
      opened.forEach(SystemCall.close)
      throw AccessoryError(watching: error, "making a pseudo-terminal")
    }
  }

  func settings() -> LineStatus? { terminal.status }

  func follow(_ status: LineStatus) { terminal.follow(status) }

  func release() {
    watcher.stop()
    SystemCall.close(master)
    terminal.close()
  }
}

/// The terminal's own end, for as long as it is open. Nothing here blocks, but for looking whether somebody has it open.
private final class TerminalEnd: Sendable {
  private let descriptor: FileDescriptor
  private let original: Locked<LineSettings>
  private let isOpen = Locked(true)
  private let openingCount = Atomic<Int>(0)

  /// How often others have opened it.
  var openings: Int { openingCount.load(ordering: .relaxed) }
  func noteOpening() { openingCount.add(1, ordering: .relaxed) }

  init(_ descriptor: FileDescriptor, _ original: LineSettings) {
    self.descriptor = descriptor
    self.original = Locked(original)
  }

  /// Whether nobody else has the terminal open, as far as one can see.
  var isUnused: Bool { isOpen.withLock { $0 } && !ProcessTable.isOpenElsewhere(descriptor) }

  /// Ends the exclusive mode, to be called when nobody else has the terminal open. Whoever still has it may be its owner.
  func endStaleExclusiveMode() {
    whileOpen {
      let isExclusive = (try? SystemCall.ioctl(TerminalRequest.IsExclusive(), on: descriptor)) ?? false
      if isExclusive { try? SystemCall.ioctl(TerminalRequest.SetExclusive(isExclusive: false), on: descriptor) }
    }
  }

  /// Throws away what nobody has read, and makes the settings those of the beginning.
  func reset() {
    whileOpen {
      try? SystemCall.ioctl(TerminalRequest.Flush(queue: TCIFLUSH), on: descriptor)
      try? original.withLock { $0 }.apply(to: descriptor)
    }
  }

  /// From now on the terminal begins with these settings.
  func follow(_ status: LineStatus) {
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
