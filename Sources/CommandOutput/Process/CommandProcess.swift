// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import Console
import Glibc

/// The process of a command, from its first thread to its exit.
package enum CommandProcess {
  /// Runs `work`, and ends the process with its exit status; a signal cancels it. Where there are too few descriptors or threads the
  /// process ends with the status that `failure` returns. Call this first, on the main thread and without a task before it.
  @MainActor package static func run(
    failure: (AccessoryError) -> CInt, _ work: @escaping @Sendable () async -> CInt
  ) async {
    // First of all, while the process has one thread: with signals blocked, what is open is closed properly before a signal
    // ends the process.
    Signals.block(Interruption.signals)
    Memory.shareOneArena()
    TerminalGuard.restoreOnSignals()
    // Dispatch traps when it finds no descriptor for the main queue, which it creates when this thread waits. The signals need a
    // descriptor, too.
    do throws(AccessoryError) {
      try IOThread.start(leaving: 4)
      try QuietTasks.begin()
    } catch {
      let status = failure(error)
      Output.finish()
      Glibc.exit(status)
    }
    let task = Task.detached { await work() }
    Interruption.cancel(task)
    // The exit isn't on the main thread: to resume there, dispatch would start another thread, and it would wait forever if the
    // system allows none.
    Task.detached {
      let status = await task.value
      Output.finish()
      Glibc.exit(status)
    }
    await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
  }
}
