// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import CLinuxShims
import Glibc
import SystemPackage

/// An open terminal that is locked and in raw mode, with the settings to restore when it is closed.
///
/// All methods may block, and run on the device's setup queue. `unsentCount` is the exception.
struct Terminal: Sendable {
  let descriptor: FileDescriptor
  /// The settings to restore on close.
  private let original: Original
  /// The settings as the driver accepted them.
  let settings: LineSettings
  /// The entry in `OpenLines`, which restores the settings when the process ends without a close.
  private let token: OpenLines.Token

  /// The state of a line before it was opened.
  struct Original: Sendable {
    var settings: LineSettings
    /// Nil when it wasn't changed.
    var isLowLatency: Bool?
    var rs485: serial_rs485?
  }

  /// Opens a terminal for the exclusive use of this process.
  ///
  /// The order is the same as in other programs that share ports: open, take the advisory lock, check whether another
  /// program has set the exclusive mode without the lock, set the exclusive mode. Some programs respect only the lock,
  /// some only the mode.
  init(_ configuration: TerminalConfiguration) throws(AccessoryError) {
    let label = configuration.label
    try LinkedTerminals.check(configuration)
    do throws(Errno) {
      descriptor = try SystemCall.open(configuration.path, O_RDWR | O_NOCTTY | O_NONBLOCK)
    } catch {
      throw PortDiagnosis.error(opening: configuration.path, label: label, error)
    }
    var original: Original?
    var token: OpenLines.Token?
    do throws(AccessoryError) {
      let found = try Self.readSettings(descriptor, label)
      try Self.lock(descriptor, configuration)
      let first = Original(settings: found)
      original = first  // from now on the settings must be restored
      token = OpenLines.add(descriptor, first)
      try Self.setDriver(descriptor, configuration, &original)
      settings = try Self.setLine(descriptor, configuration, &original)
      try Self.setModemLines(descriptor, configuration)
    } catch {
      if let original { Self.restore(descriptor, original) }
      token?.remove()
      SystemCall.close(descriptor)
      throw error
    }
    guard let original, let token else { throw AccessoryError(.ioFailure, "reading the settings of \(label)") }
    token.update(original)
    (self.original, self.token) = (original, token)
    LinkedTerminals.add(configuration, descriptor)
    // Discards bytes from before the open: they may answer another program's request, or be half a message.
    discardInput()
  }

  /// Begins or ends a break.
  func setBreak(_ isOn: Bool) throws(Errno) {
    token.note(isBreaking: true)  // set first, so that a process that ends now also ends the break
    do throws(Errno) {
      try descriptor.setBreak(isOn)
    } catch {
      if isOn { token.note(isBreaking: false) }
      throw error
    }
    token.note(isBreaking: isOn)
  }

  /// Changes settings and returns the settings in force then. When the driver can't have them, restores the previous
  /// settings and throws `unsupported`.
  func change(_ changes: LineChanges, label: String) throws(AccessoryError) -> LineSettings {
    let before: LineSettings
    do throws(Errno) {
      before = try LineSettings(of: descriptor)
    } catch {
      throw AccessoryError(device: error, "reading the settings of \(label)")
    }
    var wanted = before
    wanted.set(changes)
    do throws(AccessoryError) {
      return try Self.apply(wanted, to: descriptor, label)
    } catch {
      if error.kind != .disconnected { try? before.apply(to: descriptor) }
      throw error
    }
  }

  /// Discards bytes that the driver has buffered.
  func purge(_ buffers: LineBuffers) throws(Errno) {
    guard !buffers.isEmpty else { return }
    let queue = !buffers.contains(.unsent) ? TCIFLUSH : !buffers.contains(.received) ? TCOFLUSH : TCIOFLUSH
    try SystemCall.ioctl(TerminalRequest.Flush(queue: queue), on: descriptor)
  }

  /// Discards received bytes. Bytes that other programs have written may still be on their way, and stay.
  func discardInput() { Self.flush(descriptor, TCIFLUSH) }

  /// Bytes that the driver hasn't sent yet. Zero on a pseudo-terminal, where the kernel doesn't count them. Never
  /// blocks, and may be called on the I/O thread while the terminal is open.
  var unsentCount: Int { Self.unsentCount(descriptor) }

  private static func unsentCount(_ descriptor: FileDescriptor) -> Int {
    Int(max(0, (try? SystemCall.ioctl(TerminalRequest.GetOutputCount(), on: descriptor)) ?? 0))
  }

  /// Whether bytes take time on a line.
  var hasLine: Bool { !Self.isPseudoTerminal(descriptor) }

  /// Restores the settings and closes the terminal.
  func release() {
    Self.putBack(descriptor, original, isBreaking: token.isBreaking)
    token.remove()
    SystemCall.close(descriptor)
  }

  /// Restores the settings and ends a break. Discards the bytes that the driver hasn't sent, because close(2) would
  /// wait for them, possibly for ever.
  static func putBack(_ descriptor: FileDescriptor, _ original: Original, isBreaking: Bool) {
    if isBreaking { try? descriptor.setBreak(false) }
    flush(descriptor, unsentCount(descriptor) > 0 ? TCIOFLUSH : TCIFLUSH)
    restore(descriptor, original)
  }

  private static func flush(_ descriptor: FileDescriptor, _ queue: CInt) {
    try? SystemCall.ioctl(TerminalRequest.Flush(queue: queue), on: descriptor)
  }
}

// MARK: - Steps

extension Terminal {
  private static func readSettings(_ descriptor: FileDescriptor, _ label: String) throws(AccessoryError) -> LineSettings
  {
    do throws(Errno) {
      return try LineSettings(of: descriptor)
    } catch .inappropriateIOCTLForDevice {
      throw AccessoryError(.unsupported, code: .errno(ENOTTY), "\(label) is not a serial port or another terminal")
    } catch {
      throw AccessoryError(device: error, "reading the settings of \(label)")
    }
  }

  /// How often, and after how many microseconds each, an exclusive mode is looked at again that may be a killed program's.
  private static let (staleTries, staleInterval) = (50, UInt32(10_000))

  private static func lock(
    _ descriptor: FileDescriptor, _ configuration: TerminalConfiguration
  ) throws(AccessoryError) {
    let label = configuration.label
    do throws(Errno) {
      try FileLock.take(descriptor)
    } catch .wouldBlock {
      throw PortDiagnosis.busy(configuration.path, label: label)
    } catch {
      throw AccessoryError(device: error, "locking \(label)")
    }
    // The exclusive mode of a program that was killed stays on at a pseudo-terminal until the other end turns it off, a moment later.
    var tries = isPseudoTerminal(descriptor) ? staleTries : 0
    while (try? SystemCall.ioctl(TerminalRequest.IsExclusive(), on: descriptor)) == true {
      guard tries > 0 else { throw PortDiagnosis.busy(configuration.path, label: label, hasLock: true) }
      tries -= 1
      usleep(staleInterval)
    }
    try? SystemCall.ioctl(TerminalRequest.SetExclusive(isExclusive: true), on: descriptor)
  }

  /// Applies the settings that only some drivers support. A failure is ignored for low latency and thrown for RS-485.
  private static func setDriver(
    _ descriptor: FileDescriptor, _ configuration: TerminalConfiguration, _ original: inout Original?
  ) throws(AccessoryError) {
    if configuration.lowLatency, descriptor.isLowLatency == false, descriptor.setLowLatency(true) {
      original?.isLowLatency = false
    }
    guard let rs485 = configuration.rs485 else { return }
    let before = descriptor.rawRS485
    do throws(Errno) {
      try descriptor.set(rs485.raw)
    } catch {
      throw AccessoryError(
        .unsupported, code: .errno(error.rawValue), "the driver of \(configuration.label) can't control RS-485")
    }
    original?.rs485 = before
  }

  private static func setLine(
    _ descriptor: FileDescriptor, _ configuration: TerminalConfiguration, _ original: inout Original?
  ) throws(AccessoryError) -> LineSettings {
    let label = configuration.label
    guard var wanted = original?.settings else { throw AccessoryError(.ioFailure, "no settings of \(label)") }
    wanted.set(configuration)
    let actual = try apply(wanted, to: descriptor, label)
    if configuration.dtr == .keep { original?.settings.lowersLinesOnClose = false }
    return actual
  }

  /// Applies `wanted` and returns the settings in force then. Throws `unsupported` if the driver didn't apply them.
  private static func apply(
    _ wanted: LineSettings, to descriptor: FileDescriptor, _ label: String
  ) throws(AccessoryError) -> LineSettings {
    let actual: LineSettings
    do throws(Errno) {
      try wanted.apply(to: descriptor)
      actual = try LineSettings(of: descriptor)
    } catch {
      throw AccessoryError(device: error, "setting \(label) to \(wanted.baudRate) baud")
    }
    // A driver may accept the call and yet apply other settings.
    guard actual.isRaw else {
      throw AccessoryError(.unsupported, "\(label) can't be set to raw mode: its driver would change bytes")
    }
    if let difference = actual.difference(from: wanted), !isPseudoTerminal(descriptor) {
      throw AccessoryError(.unsupported, "\(label) can't be set to \(difference)")
    }
    return actual
  }

  /// A pseudo-terminal has no line: it reports eight data bits and no parity, whatever was set.
  private static func isPseudoTerminal(_ descriptor: FileDescriptor) -> Bool {
    var file = stat()
    return fstat(descriptor.rawValue, &file) == 0 && ProcessTable.isPseudoTerminal(file)
  }

  private static func setModemLines(
    _ descriptor: FileDescriptor, _ configuration: TerminalConfiguration
  ) throws(AccessoryError) {
    for (line, name, state) in [(ModemLines.dtr, "DTR", configuration.dtr), (.rts, "RTS", configuration.rts)]
    where state != .keep {
      do throws(Errno) {
        try descriptor.set(line, state == .on)
      } catch .inappropriateIOCTLForDevice, .invalidArgument {
        throw AccessoryError(.unsupported, "\(configuration.label) has no \(name) line to turn \(state.rawValue)")
      } catch {
        throw AccessoryError(device: error, "turning \(name) of \(configuration.label) \(state.rawValue)")
      }
    }
  }

  /// Restores the settings. The calls fail when the device is gone; then there is nothing to restore.
  private static func restore(_ descriptor: FileDescriptor, _ original: Original) {
    try? original.settings.apply(to: descriptor)
    if let isLowLatency = original.isLowLatency { _ = descriptor.setLowLatency(isLowLatency) }
    if let rs485 = original.rs485 { try? descriptor.set(rs485) }
    try? SystemCall.ioctl(TerminalRequest.SetExclusive(isExclusive: false), on: descriptor)
    FileLock.release(descriptor)
  }
}
