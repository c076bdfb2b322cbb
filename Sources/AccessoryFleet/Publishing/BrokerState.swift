// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// What the publisher knows of its broker.
struct BrokerState: Sendable {
  /// Whether the broker has accepted this client.
  private(set) var isConnected = false
  /// Whether what it has kept from earlier is known.
  private(set) var hasLooked = false
  /// Whether it has sent back what this gateway had it keep.
  private var seesWhatIsKept = false
  private var pendingFilters: Set<String> = []
  private var loggedRefusals: Set<String> = []
  private var lastError = ""
  /// How often this gateway may say against others that it is online.
  var onlineLimit = RateLimit(atOnce: 3, perSecond: 0.2)

  /// The most topics whose refusal is logged.
  private static let refusalLimit = 256

  mutating func connected() { (isConnected, lastError, loggedRefusals) = (true, "", []) }

  /// The connection is lost. Returns whether that is worth a line in the log: the reason is another one.
  mutating func disconnected(_ error: AccessoryError) -> Bool {
    isConnected = false
    defer { lastError = error.message }
    return error.message != lastError
  }

  // MARK: - What it has kept

  /// Begins to wait for what it has kept for these filters.
  mutating func look(for filters: [String]) { pendingFilters = Set(filters) }

  /// It has answered a subscription. Returns whether that was the last that is waited for.
  mutating func answered(_ filter: String) -> Bool {
    pendingFilters.remove(filter)
    return pendingFilters.isEmpty && !hasLooked
  }

  /// It has refused a topic. Returns whether that is worth a line in the log: an ACL refuses each message of a topic.
  mutating func refused(_ topic: String) -> Bool {
    loggedRefusals.count < Self.refusalLimit && loggedRefusals.insert(topic).inserted
  }

  mutating func sawOwn(isRetained: Bool) { seesWhatIsKept = seesWhatIsKept || isRetained }

  /// What it has kept is known, or isn't looked at any longer.
  mutating func looked() { hasLooked = true }

  /// Whether the broker keeps back this gateway's own retained messages of `topic`.
  func hides(_ topic: String) -> Bool { !seesWhatIsKept && !loggedRefusals.contains(topic) }
}
