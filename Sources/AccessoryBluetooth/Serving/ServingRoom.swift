// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// Counts the values that bluetoothd hasn't taken yet, so that no more wait than there should. Used on any thread.
final class ServingRoom: Sendable {
  private struct State {
    var waiting = 0
    /// Whether somebody was refused, and must be told when there is room.
    var isAwaited = false
  }

  private let state = Locked(State())

  /// The most values that wait, and how many are left when there is room again.
  static let limits = (most: 64, few: 16)

  /// Takes room for a value. Returns false when there is none.
  func take() -> Bool {
    state.withLock { state in
      state.isAwaited = state.waiting >= Self.limits.most
      if !state.isAwaited { state.waiting += 1 }
      return !state.isAwaited
    }
  }

  /// Gives back the room of so many values. Returns whether somebody must be told.
  func give(_ count: Int) -> Bool {
    state.withLock { state in
      state.waiting = max(0, state.waiting - count)
      guard state.isAwaited, state.waiting <= Self.limits.few else { return false }
      state.isAwaited = false
      return true
    }
  }
}
