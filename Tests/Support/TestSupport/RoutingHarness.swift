// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryLink
import AccessoryProtocols

/// Routing rules in the place of a hub, which does one thing after another as the test says. Nothing waits.
package struct RoutingHarness {
  private var rules: any Routing
  private var now = MonotonicTime(nanoseconds: 1_000_000_000)
  private var sent: [[UInt8]] = []
  private var received: [Int: [[UInt8]]] = [:]
  private var clients: [Int] = []
  /// Told so far.
  package private(set) var news: [RoutingNews] = []
  /// Clients that were to be read on.
  package private(set) var resumed: [Int] = []
  /// The accessory takes nothing.
  package var isBlocked = false

  package var statistics: RoutingStatistics { rules.statistics }
  package var deadline: MonotonicTime? { rules.deadline }

  package init(_ routing: FrameRouting, clients: [Int] = [1, 2, 3]) {
    rules = routing.rules
    rules.setTiming(.instant)
    for client in clients { come(client) }
  }

  package mutating func come(_ client: Int) {
    clients.append(client)
    rules.add(client)
  }

  package mutating func leave(_ client: Int) {
    clients.removeAll { $0 == client }
    change { $0.remove(client, now: $1, effects: &$2) }
  }

  package mutating func send(_ bytes: [UInt8], from client: Int) {
    change { $0.take(bytes, from: client, now: $1, effects: &$2) }
  }

  package mutating func answer(_ bytes: [UInt8]) { change { $0.receive(bytes, messages: nil, now: $1, effects: &$2) } }

  package func mayTake(from client: Int) -> Bool { rules.mayTake(from: client) }

  /// Moves the clock, with a stop wherever something is due.
  package mutating func advance(_ duration: Duration) {
    let end = now + duration
    while let next = rules.deadline, next <= end {
      now = max(now, next)
      change { $0.timePassed(now: $1, effects: &$2) }
      // Nothing may stay due.
      if let after = rules.deadline, after <= now { now = now + .milliseconds(1) }
    }
    now = max(now, end)
  }

  /// What the accessory was sent since the last call, message by message.
  package mutating func takeSent() -> [[UInt8]] {
    defer { sent = [] }
    return sent
  }

  /// What a client was sent since the last call.
  package mutating func take(_ client: Int) -> [UInt8] { (received.removeValue(forKey: client) ?? []).flatMap { $0 } }

  private mutating func change(_ body: (inout any Routing, MonotonicTime, inout RoutingEffects) -> Void) {
    var effects = RoutingEffects(isBlocked: isBlocked)
    body(&rules, now, &effects)
    sent += effects.messages
    news += effects.news
    resumed += effects.resumed
    for (client, bytes) in effects.deliveries {
      for one in client.map({ [$0] }) ?? clients { received[one, default: []].append(bytes) }
    }
  }
}
