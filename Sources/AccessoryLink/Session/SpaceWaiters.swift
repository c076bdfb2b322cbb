// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import Synchronization

/// Writers that wait for space in an output queue, in the order in which they came.
final class SpaceWaiters: Sendable {
  private struct State {
    /// Counts the calls of the `onSpace` handler, so that a call between an offer and the following wait isn't missed.
    var openings = 0
    var nextID = 0
    var waiting: [(id: Int, continuation: CheckedContinuation<Void, Never>)] = []
  }

  private let output: OutputQueue
  private let state = Locked(State())
  /// Set when a link takes over the writing and the notifications of space.
  private let isRetired = Atomic<Bool>(false)

  init(_ output: OutputQueue) {
    self.output = output
    output.onSpace { [weak self] in self?.opened() }
  }

  /// Fast path of a write: queues at most `limit` contiguous bytes if there is space, without copying them into an
  /// array first. Returns false if the slow path is needed. Throws the errors of `write`.
  func writeAtOnce(
    _ bytes: some Collection<UInt8>, limit: Int, label: String
  ) throws(AccessoryError) -> Bool {
    try checkRetired(label)
    return bytes.withContiguousStorageIfAvailable { bytes in
      bytes.count <= limit && output.offer(UnsafeRawBufferPointer(bytes).bytes) == .accepted
    } ?? false
  }

  func write(_ bytes: [UInt8], label: String) async throws(AccessoryError) {
    while true {
      let seen = state.withLock { $0.openings }
      try checkRetired(label)
      switch output.offer(bytes) {
      case .accepted: return
      case .closed(let error): throw error ?? .closed(label)
      case .full: await wait(since: seen)
      }
      if Task.isCancelled { throw AccessoryError(.cancelled, "writing to \(label) was cancelled") }
    }
  }

  /// Refuses further writes, and makes waiting writers fail.
  func retire() {
    isRetired.store(true, ordering: .sequentiallyConsistent)
    opened()
  }

  private func checkRetired(_ label: String) throws(AccessoryError) {
    guard isRetired.load(ordering: .sequentiallyConsistent) else { return }
    if case .closed(let error) = output.offer([]) { throw error ?? .closed(label) }
    throw .takenByLink(label)
  }

  private func wait(since seen: Int) async {
    let id = state.withLock { state in
      state.nextID += 1
      return state.nextID
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isOpen = state.withLock { state in
          if state.openings != seen || Task.isCancelled { return true }
          state.waiting.append((id, continuation))
          return false
        }
        if isOpen { continuation.resume() }
      }
    } onCancel: {
      let mine = state.withLock { state in
        state.waiting.firstIndex { $0.id == id }.map { state.waiting.remove(at: $0) }
      }
      mine?.continuation.resume()
    }
  }

  private func opened() {
    let waiting = state.withLock { state in
      state.openings += 1
      defer { state.waiting = [] }
      return state.waiting
    }
    for waiter in waiting { waiter.continuation.resume() }
  }
}
