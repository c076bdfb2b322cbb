// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

/// What a session has received, for the one consumer of a stream.
final class ReceivedInput {
  let lease: Result<SessionLease, AccessoryError>
  let queue: InputQueue
  let signal = Signal()
  private var hasThrown = false

  init(_ session: AccessorySession) {
    queue = session.transport.input
    do throws(AccessoryError) {
      lease = .success(try session.lease())
      queue.onReadable { [signal] in signal.raise() }
    } catch {
      lease = .failure(error)
    }
  }

  /// Takes from the queue, as soon as there is something. Returns whether something was taken: not at the end, nor when the task is
  /// cancelled.
  func next(_ take: (InputQueue) -> InputQueue.TakeResult) async throws(AccessoryError) -> Bool {
    if hasThrown { return false }
    let lease: SessionLease
    do throws(AccessoryError) {
      lease = try self.lease.get()
      try lease.beginTaking()
    } catch {
      hasThrown = true
      throw error
    }
    defer { lease.endTaking() }
    while !hasThrown && !Task.isCancelled {
      switch take(queue) {
      case .bytes: return true
      case .nothing: await signal.wait()
      case .end(nil): return false
      case .end(let error?):
        hasThrown = true
        throw error
      }
    }
    return false
  }
}

/// A signal that wakes one waiting task. A signal from before the wait isn't lost.
final class Signal: Sendable {
  private struct State {
    var isRaised = false
    /// Resumed once, by the code that removes it under the lock; a checked continuation would cost an allocation for
    /// each wait.
    var continuation: UnsafeContinuation<Void, Never>?
  }

  private let state = Locked(State())

  func raise() {
    let waiting = state.withLock { state in
      defer { state.continuation = nil }
      if state.continuation == nil { state.isRaised = true }
      return state.continuation
    }
    waiting?.resume()
  }

  func wait() async {
    await withTaskCancellationHandler {
      await withUnsafeContinuation { continuation in
        let isRaised = state.withLock { state in
          defer { state.isRaised = false }
          if !state.isRaised && !Task.isCancelled { state.continuation = continuation }
          return state.continuation == nil
        }
        if isRaised { continuation.resume() }
      }
    } onCancel: {
      raise()
    }
  }
}
