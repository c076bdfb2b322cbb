// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import Console
import Glibc

/// A command's process, from its first thread to its exit.
package enum CommandProcess {
  /// Runs `work` and ends the process with its exit status. A signal cancels `work`. If there aren't enough descriptors or threads,
  /// the process ends with the status that `failure` returns. Call this first, on the main thread and before any task.
  @MainActor package static func run(
    failure: (AccessoryError) -> CInt, _ work: @escaping @Sendable () async -> CInt
  ) async {
    // Do this while the process has only one thread. With signals blocked, the process can close what it has open before a signal
    // ends it.
    Signals.block(Interruption.signals)
    Memory.shareOneArena()
    TerminalGuard.restoreOnSignals()
    // Dispatch traps if it finds no descriptor for the main queue, which it creates when this thread waits. The signals also need a
    // descriptor.
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
    // Don't exit on the main thread: to resume there, dispatch would start another thread, and would wait forever if the system
    // allows none.
    Task.detached {
      let status = await task.value
      Output.finish()
      Glibc.exit(status)
    }
    await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
  }
}
