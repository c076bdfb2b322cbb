// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// What the publisher knows about its broker.
struct BrokerState: Sendable {
  /// Whether the broker has accepted this client.
  private(set) var isConnected = false
  /// Whether the broker's retained messages have been read.
  private(set) var hasLooked = false
  /// Whether the broker has sent back a retained message of this gateway.
  private var seesWhatIsKept = false
  private var pendingFilters: Set<String> = []
  private var loggedRefusals: Set<String> = []
  private var lastError = ""
  /// Limits how often this gateway contradicts a message that it is offline.
  var onlineLimit = RateLimit(atOnce: 3, perSecond: 0.2)

  /// The most topics for which a refusal is logged.
  private static let refusalLimit = 256

  mutating func connected() { (isConnected, lastError, loggedRefusals) = (true, "", []) }

  /// Notes a lost connection. Returns whether to log it: only if the reason differs from the last one.
  mutating func disconnected(_ error: AccessoryError) -> Bool {
    isConnected = false
    defer { lastError = error.message }
    return error.message != lastError
  }

  // MARK: - What it has kept

  /// Starts waiting for the retained messages of these filters.
  mutating func look(for filters: [String]) { pendingFilters = Set(filters) }

  /// Notes a confirmed subscription. Returns whether it was the last one awaited.
  mutating func answered(_ filter: String) -> Bool {
    pendingFilters.remove(filter)
    return pendingFilters.isEmpty && !hasLooked
  }

  /// Notes a refused topic. Returns whether to log it: an ACL refuses every message of a topic, so only the first is logged.
  mutating func refused(_ topic: String) -> Bool {
    loggedRefusals.count < Self.refusalLimit && loggedRefusals.insert(topic).inserted
  }

  mutating func sawOwn(isRetained: Bool) { seesWhatIsKept = seesWhatIsKept || isRetained }

  /// The retained messages are known, or nobody waits for them any longer.
  mutating func looked() { hasLooked = true }

  /// Whether the broker doesn't send this gateway its own retained messages of `topic`.
  func hides(_ topic: String) -> Bool { !seesWhatIsKept && !loggedRefusals.contains(topic) }
}
