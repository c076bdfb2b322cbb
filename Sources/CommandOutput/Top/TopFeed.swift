// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// The source of `top`'s accessories: this machine's services, or a fleet.
package protocol TopFeed: Sendable {
  /// Yields after changes, for one reader. One element may stand for several changes.
  var news: AsyncStream<Void> { get }
  /// Returns the changes since the last call, with about `limit` rows at most. `now` is the time on the screen's clock.
  func take(limit: Int, now: MonotonicTime) async -> TopChanges
  /// Asks for what isn't reported as a change: the ages of readings. Returns when `take` has them.
  func refresh() async
  /// The values of accessories whose rows don't contain values.
  func values(of keys: [UInt64]) async -> [UInt64: [AccessoryValue]]
  /// The readings of an accessory in the last hours; empty without a history.
  func history(of key: UInt64) async -> [ReadingSeries]
}

/// Changes of the accessories in `top`.
package struct TopChanges: Sendable {
  /// New and changed accessories.
  package var rows: [TopRow] = []
  /// The keys of accessories that are no longer there.
  package var removed: [UInt64] = []
  /// Notes about the sources; escaped.
  package var notes: [String] = []
  /// The text of an empty list.
  package var emptyText = "No accessory yet."
  /// Whether there are more changes than the limit.
  package var hasMore = false
  /// `refresh` is useful after this time, whatever ages are shown; nil: not before something changes.
  package var refreshAfter: Duration?

  /// No changes.
  package init() {}
}
