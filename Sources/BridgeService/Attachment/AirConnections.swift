// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// The connections of all Bluetooth adapters, and the tasks that wait for one. Used on the service's actor only.
struct AirConnections {
  /// Who has a connection, or waits for one.
  struct Holder {
    let adapter: String
    let key: Int
    /// Finishes with true when there is a connection.
    let given: OneShot<Bool>
  }

  private(set) var adapters: [String: AdapterConnections] = [:]
  private(set) var holders: [Int: Holder] = [:]
  /// The connections of lent accessories, by the attachment's key.
  var lent: [Int: Int] = [:]
  /// When the adapters are looked at again.
  var timers: [String: DeadlineTimer] = [:]
  /// The adapters of which the log has told that connections are made in turns.
  var told: Set<String> = []
  private var last = 0

  /// Asks for a connection.
  mutating func enter(
    _ key: Int, _ adapter: String, limit: Int, isAsked: Bool, now: MonotonicTime
  ) -> (ticket: Int, given: OneShot<Bool>) {
    last += 1
    let given = OneShot<Bool>()
    holders[last] = Holder(adapter: adapter, key: key, given: given)
    if adapters[adapter, default: AdapterConnections(limit: limit)].enter(last, isAsked: isAsked, now: now) {
      given.finish(true)
    }
    return (last, given)
  }

  /// Gives a connection back, or no longer waits for it. Returns the adapter.
  mutating func leave(_ ticket: Int) -> String? {
    guard let holder = holders.removeValue(forKey: ticket) else { return nil }
    for next in adapters[holder.adapter]?.leave(ticket) ?? [] { holders[next]?.given.finish(true) }
    holder.given.finish(false)
    return holder.adapter
  }

  /// Who gives connections of an adapter back, and when to ask again.
  mutating func dismiss(
    at adapter: String, _ use: (_ key: Int) -> AdapterConnections.Use, now: MonotonicTime
  ) -> (keys: [Int], again: MonotonicTime?) {
    let holders = holders
    let told = adapters[adapter]?.dismiss({ holders[$0].map { use($0.key) } ?? .kept }, now: now)
    return (told?.tickets.compactMap { holders[$0]?.key } ?? [], told?.again)
  }

  /// A client waits for an attachment that waits for a connection.
  mutating func ask(_ key: Int) {
    for (ticket, holder) in holders where holder.key == key { adapters[holder.adapter]?.ask(ticket) }
  }

  /// The adapter for whose connection an attachment waits.
  func isWaiting(_ key: Int) -> String? {
    holders.first { ticket, holder in
      holder.key == key && adapters[holder.adapter]?.isWaiting(ticket) == true
    }?.value.adapter
  }
}
