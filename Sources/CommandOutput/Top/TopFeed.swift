// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// Where `top` gets its accessories from: services of this machine, or a fleet.
package protocol TopFeed: Sendable {
  /// Yields after changes, for one reader; several changes may be one element.
  var news: AsyncStream<Void> { get }
  /// What has changed since the last call, with about `limit` rows at most. `now` is the time of the screen's clock.
  func take(limit: Int, now: MonotonicTime) async -> TopChanges
  /// Asks for what isn't news: how old readings are. Returns when `take` has it.
  func refresh() async
  /// The values of accessories whose rows came without them.
  func values(of keys: [String]) async -> [String: [AccessoryValue]]
  /// What was read of an accessory in the last hours; empty where nobody keeps it.
  func history(of key: String) async -> [ReadingSeries]
}

/// Changes of the accessories in `top`.
package struct TopChanges: Sendable {
  /// New and changed accessories.
  package var rows: [TopRow] = []
  /// The keys of accessories that are no longer there.
  package var removed: [String] = []
  /// What to know about the sources; escaped.
  package var notes: [String] = []
  /// The text of an empty list.
  package var emptyText = "No accessory yet."
  /// Whether there are more changes than the limit.
  package var hasMore = false
  /// After this time `refresh` is worth while, whatever ages are shown; nil: there is nothing to wait for.
  package var refreshAfter: Duration?

  /// No changes.
  package init() {}
}
