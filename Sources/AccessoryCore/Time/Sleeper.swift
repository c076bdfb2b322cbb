// SPDX-License-Identifier: Apache-2.0

/// Lets one task wait for one signal. The signal may come before the wait.
final class Sleeper: Sendable {
  private enum State {
    case idle
    case waiting(CheckedContinuation<Void, Never>)
    case finished
  }

  private let state = Locked(State.idle)

  func wait() async {
    await withCheckedContinuation { continuation in
      let resumeNow = state.withLock { state in
        if case .finished = state { return true }
        state = .waiting(continuation)
        return false
      }
      if resumeNow { continuation.resume() }
    }
  }

  func finish() {
    let waiting: CheckedContinuation<Void, Never>? = state.withLock { state in
      defer { state = .finished }
      if case .waiting(let continuation) = state { return continuation }
      return nil
    }
    waiting?.resume()
  }
}
