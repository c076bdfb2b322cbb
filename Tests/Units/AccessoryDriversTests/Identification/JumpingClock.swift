// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Dispatch

/// A clock that jumps to whatever somebody waits for: nobody waits, and nothing depends on how busy the machine is.
final class JumpingClock: TimerClock {
  private struct State {
    var now = MonotonicTime(nanoseconds: 1_000_000_000)
    var lastToken: UInt64 = 0
    var pending: Set<UInt64> = []
  }

  private let state = Locked(State())
  private let queue = DispatchQueue(label: "test.clock")
  /// How late every timer is, as on a busy machine.
  private let lateness: Duration

  init(lateness: Duration = .zero) { self.lateness = lateness }

  var now: MonotonicTime { state.withLock { $0.now } }

  func schedule(at deadline: MonotonicTime, _ action: @escaping @Sendable () -> Void) -> TimerToken {
    let token = state.withLock { state in
      state.lastToken += 1
      state.pending.insert(state.lastToken)
      return state.lastToken
    }
    queue.async { [self] in
      let isPending = state.withLock { state in
        guard state.pending.remove(token) != nil else { return false }
        state.now = max(state.now, deadline + lateness)
        return true
      }
      if isPending { action() }
    }
    return TimerToken(rawValue: token)
  }

  func cancel(_ token: TimerToken) { state.withLock { _ = $0.pending.remove(token.rawValue) } }
}
