// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// Counts the values that bluetoothd hasn't accepted yet, to limit how many wait. Used on any thread.
final class ServingRoom: Sendable {
  private struct State {
    var waiting = 0
    /// Whether a value was refused, so that new room must be reported.
    var isAwaited = false
  }

  private let state = Locked(State())

  /// The most waiting values, and the number at which there is room again.
  static let limits = (most: 64, few: 16)

  /// Takes room for a value. Returns false if there is none.
  func take() -> Bool {
    state.withLock { state in
      state.isAwaited = state.waiting >= Self.limits.most
      if !state.isAwaited { state.waiting += 1 }
      return !state.isAwaited
    }
  }

  /// Frees the room of this many values. Returns whether new room must be reported.
  func give(_ count: Int) -> Bool {
    state.withLock { state in
      state.waiting = max(0, state.waiting - count)
      guard state.isAwaited, state.waiting <= Self.limits.few else { return false }
      state.isAwaited = false
      return true
    }
  }
}
