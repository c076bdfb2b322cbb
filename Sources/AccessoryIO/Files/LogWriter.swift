// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Dispatch
import Glibc

/// Writes lines to a descriptor and never blocks the caller, even if the output isn't read.
///
/// A separate thread writes and waits for the reader. A bounded number of lines is buffered; further lines are dropped
/// and counted, and the count is written when there is room again.
package final class LogWriter: Sendable {
  fileprivate struct State {
    /// The lines that wait, in order. Those before `first` were taken already.
    var lines: [[UInt8]] = []
    var first = 0
    var byteCount = 0
    /// The number of lines dropped since the last one that was kept.
    var dropped = 0
    var isWriting = false
    var waiting: [DispatchSemaphore] = []
  }

  private let descriptor: CInt
  /// Its own thread, which may block in a write. It isn't dispatch's: where the system allows no further thread, dispatch would have the
  /// caller sleep until there is one.
  private let queue = DispatchExecutor(
    on: WorkerThreads(name: "accessory-log", limit: 1) { QuietTasks.submit($0) })
  private let state = Locked(State())
  private let tellDropped: @Sendable (Int) -> String

  /// The limit of the buffer in bytes: about two thousand lines.
  package static let limit = 262_144

  /// A writer to `descriptor`, which it doesn't close. `tellDropped` returns the line that reports how many lines were
  /// dropped.
  package init(_ descriptor: CInt, tellDropped: @escaping @Sendable (Int) -> String) {
    self.descriptor = descriptor
    self.tellDropped = tellDropped
  }

  /// The number of lines that wait to be written.
  package var waitingCount: Int { state.withLock { $0.lines.count - $0.first } }

  /// Whether all lines were written.
  package var isIdle: Bool { state.withLock { !$0.isWriting } }

  /// Queues a line, or drops it when the buffer is full. Never blocks.
  package func write(_ line: String) {
    let begins = state.withLock { state in
      guard state.byteCount + line.utf8.count < Self.limit else {
        state.dropped += 1
        return false
      }
      if state.dropped > 0 {
        state.add(tellDropped(state.dropped))
        state.dropped = 0
      }
      state.add(line)
      defer { state.isWriting = true }
      return !state.isWriting
    }
    if begins { queue.post { self.work() } }
  }

  /// Waits until all lines are written, but no longer than `limit`. Blocks; for the end of a process.
  package func finish(within limit: Duration) {
    let done = DispatchSemaphore(value: 0)
    let isWriting = state.withLock { state in
      if state.isWriting { state.waiting.append(done) }
      return state.isWriting
    }
    if isWriting { _ = done.wait(timeout: .now() + .nanoseconds(Int(clamping: limit.inNanoseconds))) }
  }

  /// Writes the waiting lines, on the writer's thread.
  private func work() {
    while let line = state.withLock({ $0.next(tellDropped) }) { Self.write(line, to: descriptor) }
  }

  /// Lines are lost when the reader is gone (EPIPE); the service continues.
  private static func write(_ bytes: [UInt8], to descriptor: CInt) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count >= 0 {
        rest = rest.dropFirst(count)
      } else if errno == EAGAIN {
        var ready = pollfd(fd: descriptor, events: CShort(POLLOUT), revents: 0)
        poll(&ready, 1, -1)
      } else if errno != EINTR {
        return
      }
    }
  }
}

extension LogWriter.State {
  fileprivate mutating func add(_ line: String) {
    lines.append(Array(line.utf8) + [UInt8(ascii: "\n")])
    byteCount += line.utf8.count + 1
  }

  /// The next line; nil when no line waits. Then the writer's thread ends its work.
  fileprivate mutating func next(_ tellDropped: (Int) -> String) -> [UInt8]? {
    if first == lines.count, dropped > 0 {
      add(tellDropped(dropped))
      dropped = 0
    }
    guard first < lines.count else {
      (lines, first, isWriting) = ([], 0, false)
      for semaphore in waiting { semaphore.signal() }
      waiting = []
      return nil
    }
    let line = lines[first]
    lines[first] = []
    first += 1
    if first > 256, first > lines.count / 2 {
      lines.removeFirst(first)
      first = 0
    }
    byteCount -= line.count
    return line
  }
}
