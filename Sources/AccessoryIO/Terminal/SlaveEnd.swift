// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Glibc
import Synchronization
import SystemPackage

/// The slave end of a pseudo-terminal, while it is open. Only `isUnused` may block.
final class SlaveEnd: Sendable {
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
    whileOpen { try? SystemCall.ioctl(TerminalRequest.SetExclusive(isExclusive: false), on: descriptor) }
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
