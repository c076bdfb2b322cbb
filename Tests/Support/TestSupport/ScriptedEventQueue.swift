// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import Dispatch
import SystemPackage

/// An event queue whose events come from the test.
package final class ScriptedEventQueue: EventQueue {
  /// What the loop has asked of the queue.
  package struct Record: Sendable {
    /// Descriptors that are watched.
    package var interests: [CInt: Interest] = [:]
    /// Their tokens.
    package var tokens: [CInt: EventToken] = [:]
    /// What `arm` was called with, in order.
    package var armed: [MonotonicTime?] = []
    /// Calls of `wake`.
    package var wakeCount = 0
    /// Calls of `wait` that may block.
    package var waitCount = 0
    /// True while the loop is blocked in `wait`.
    package var isAsleep = false
    fileprivate var isWoken = false
    fileprivate var batches: [[QueuedEvent]] = []
    fileprivate var waitFailures: [Errno] = []
    fileprivate var addFailures: [Errno] = []
  }

  private enum Step: Sendable {
    case events([QueuedEvent])
    case failure(Errno)
    case sleep
  }

  private let record = Watched(Record())
  private let semaphore = DispatchSemaphore(value: 0)
  private let onDeinit: @Sendable () -> Void

  /// An empty script. `onDeinit` tells that the loop let go of it.
  package init(onDeinit: @escaping @Sendable () -> Void = {}) { self.onDeinit = onDeinit }

  deinit { onDeinit() }

  // MARK: - The test's side

  /// What the loop has asked so far.
  package var asked: Record { record.value }

  /// Waits until the loop is blocked in `wait`, with nothing left to wake it.
  @discardableResult
  package func waitUntilAsleep() async throws -> Record {
    try await record.wait { $0.isAsleep && !$0.isWoken && $0.batches.isEmpty && $0.waitFailures.isEmpty }
  }

  /// The next `wait` returns these events, all at once.
  package func deliver(_ events: [QueuedEvent]) {
    record.update { $0.batches.append(events) }
    semaphore.signal()
  }

  /// The next `wait` fails.
  package func failWait(_ errno: Errno) {
    record.update { $0.waitFailures.append(errno) }
    semaphore.signal()
  }

  /// The next `add` fails.
  package func failAdd(_ errno: Errno) { record.update { $0.addFailures.append(errno) } }

  // MARK: - The loop's side

  /// Remembers the descriptor.
  package func add(_ descriptor: FileDescriptor, _ interest: Interest, token: EventToken) throws(Errno) {
    let failure = record.update { record -> Errno? in
      if !record.addFailures.isEmpty { return record.addFailures.removeFirst() }
      record.interests[descriptor.rawValue] = interest
      record.tokens[descriptor.rawValue] = token
      return nil
    }
    if let failure { throw failure }
  }

  /// Remembers the new interest.
  package func modify(_ descriptor: FileDescriptor, _ interest: Interest, token: EventToken) throws(Errno) {
    record.update { $0.interests[descriptor.rawValue] = interest }
  }

  /// Forgets the descriptor.
  package func remove(_ descriptor: FileDescriptor) {
    record.update { record in
      record.interests[descriptor.rawValue] = nil
      record.tokens[descriptor.rawValue] = nil
    }
  }

  /// Remembers the moment.
  package func arm(_ deadline: MonotonicTime?) { record.update { $0.armed.append(deadline) } }

  /// Returns what the test delivered; blocks until there is something, or a wake-up.
  package func wait(into events: inout [QueuedEvent], poll: Bool) throws(Errno) {
    events.removeAll(keepingCapacity: true)
    record.update { $0.waitCount += poll ? 0 : 1 }
    while true {
      let step = record.update { record -> Step in
        record.isAsleep = false
        if !record.waitFailures.isEmpty { return .failure(record.waitFailures.removeFirst()) }
        if !record.batches.isEmpty { return .events(record.batches.removeFirst()) }
        if poll || record.isWoken {
          record.isWoken = false
          return .events([])
        }
        record.isAsleep = true
        return .sleep
      }
      switch step {
      case .events(let batch): return events = batch
      case .failure(let errno): throw errno
      case .sleep: semaphore.wait()
      }
    }
  }

  /// Makes `wait` return.
  package func wake() {
    record.update { record in
      record.wakeCount += 1
      record.isWoken = true
    }
    semaphore.signal()
  }
}
