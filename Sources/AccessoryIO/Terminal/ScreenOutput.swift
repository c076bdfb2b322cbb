// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Glibc
import SystemPackage

/// Writes to the terminal at standard output without ever waiting for it. What the terminal doesn't take at once is kept
/// and written when it does; the owner writes nothing more until then.
package actor ScreenOutput: IOActor, EventHandler {
  package nonisolated let io: IOThread
  private let file: FileDescriptor
  private let onDrained: @Sendable () -> Void
  private var pending: ArraySlice<UInt8> = []
  private var token: EventToken?

  /// The I/O thread.
  package nonisolated var unownedExecutor: UnownedSerialExecutor { io.asUnownedSerialExecutor() }

  /// The descriptor, for `TerminalGuard.screenBegins`.
  package nonisolated let descriptor: CInt

  /// Opens the terminal at `output` a second time, because other programs may share the open file description of standard
  /// output, and would not expect O_NONBLOCK. `onDrained` is called on the I/O thread when the terminal has taken what
  /// `write` couldn't write at once. Throws when the terminal can't be opened.
  package init(
    of output: CInt = STDOUT_FILENO, io: IOThread = .shared, onDrained: @escaping @Sendable () -> Void
  ) throws(AccessoryError) {
    self.io = io
    self.onDrained = onDrained
    do throws(Errno) {
      file = try Self.open(output)
    } catch {
      throw AccessoryError(.ioFailure, "the terminal can't be opened: \(error)")
    }
    descriptor = file.rawValue
  }

  private static func open(_ output: CInt) throws(Errno) -> FileDescriptor {
    let flags = O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC
    do throws(Errno) {
      return try SystemCall.open("/proc/self/fd/\(output)", flags)
    } catch {
      // After su(1) the terminal still belongs to another user; the controlling terminal can be opened all the same.
      return try SystemCall.open("/dev/tty", flags)
    }
  }

  /// Whether the terminal hasn't taken everything yet.
  package var isBusy: Bool { !pending.isEmpty }

  /// Writes the text, or begins to. Returns false when a part of it waits. Call it only while nothing waits.
  @discardableResult
  package func write(_ text: String) -> Bool {
    pending += Array(text.utf8)
    push()
    return pending.isEmpty
  }

  /// Discards what waits: the terminal's content is not what was written.
  package func discard() {
    pending = []
    stopWatching()
  }

  /// The terminal takes bytes again. Called on the I/O thread.
  package nonisolated func ready(_ readiness: Readiness) {
    enter { output in
      output.push()
      if output.pending.isEmpty { output.onDrained() }
    }
  }

  private func push() {
    while !pending.isEmpty {
      let result = pending.withUnsafeBytes { buffer -> Result<Int, Errno> in
        do throws(Errno) { return .success(try SystemCall.write(file, buffer)) } catch { return .failure(error) }
      }
      switch result {
      case .success(let count): pending = pending.dropFirst(count)
      case .failure(.interrupted): continue
      case .failure(.wouldBlock):
        if token == nil { token = try? io.watch(file, for: .write, handler: self) }
        if token != nil { return }
        pending = []
      // The terminal is gone; the owner notices the end of the input.
      case .failure: pending = []
      }
    }
    stopWatching()
  }

  private func stopWatching() {
    if let token { io.unwatch(file, token) }
    token = nil
  }
}
