// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols

@testable import AccessoryLink

/// An exchange with the test in the place of the link, the clock and the accessory.
protocol ExchangeHarness {
  associatedtype Rules: Exchange
  /// The place of the link and the clock.
  var host: ExchangeHost<Rules> { get set }
}

/// What a link does for an exchange, one thing after another, at the test's word.
struct ExchangeHost<Rules: Exchange> {
  var exchange: Rules
  var now = MonotonicTime(nanoseconds: 1_000_000_000)
  /// Everything that is over, by id.
  var results: [UInt64: Result<Rules.Reply, AccessoryError>] = [:]
  /// What is over, in order: each request once.
  var completed: [UInt64] = []
  var events: [Rules.Event] = []
  /// The transport takes nothing.
  var isBlocked = false
  private var effects = Effects<Rules.Reply, Rules.Event>()
  private var written: [[UInt8]] = []
  private var nextID: UInt64 = 0

  init(_ exchange: Rules) { self.exchange = exchange }

  mutating func change(_ body: (inout Rules, MonotonicTime, inout Effects<Rules.Reply, Rules.Event>) -> Void) {
    effects.isBlocked = isBlocked
    body(&exchange, now, &effects)
    var start = 0
    for count in effects.messages {
      written.append(Array(effects.output[start..<(start + count)]))
      start += count
    }
    if start < effects.output.count { written.append(Array(effects.output[start...])) }
    for completion in effects.completions {
      results[completion.id.rawValue] = completion.result
      completed.append(completion.id.rawValue)
    }
    events += effects.events
    effects = Effects()
  }

  mutating func newID() -> RequestID {
    nextID += 1
    return RequestID(rawValue: nextID)
  }

  mutating func receive(_ batch: FrameBatch<Rules.Codec.Header>) {
    change { exchange, now, effects in
      for index in 0..<batch.count { exchange.receive(batch, at: index, now: now, effects: &effects) }
    }
  }

  /// What was written since the last call, a message each.
  mutating func takeWritten() -> [[UInt8]] {
    defer { written = [] }
    return written
  }
}

// MARK: - The host's side

extension ExchangeHarness {
  var exchange: Rules { host.exchange }
  var results: [UInt64: Result<Rules.Reply, AccessoryError>] { host.results }
  var completed: [UInt64] { host.completed }
  var events: [Rules.Event] { host.events }

  @discardableResult
  mutating func begin() -> UInt64 {
    let id = host.newID()
    host.change { $0.begin(id, now: $1, effects: &$2) }
    return id.rawValue
  }

  @discardableResult
  mutating func submit(_ request: Rules.Request) -> UInt64 {
    let id = host.newID()
    host.change { $0.submit(id, request, now: $1, effects: &$2) }
    return id.rawValue
  }

  mutating func cancel(_ id: UInt64) {
    host.change { $0.cancel(RequestID(rawValue: id), now: $1, effects: &$2) }
  }

  mutating func end(_ error: AccessoryError) { host.change { $0.end(error, effects: &$2) } }

  /// Moves time on, and calls at every deadline as a link would.
  mutating func advance(_ duration: Duration) {
    let end = host.now + duration
    while let deadline = host.exchange.deadline, deadline <= end {
      host.now = max(host.now, deadline)
      host.change { $0.timePassed(now: $1, effects: &$2) }
    }
    host.now = end
  }

  func error(_ id: UInt64) -> AccessoryError? {
    if case .failure(let error)? = results[id] { error } else { nil }
  }

  // MARK: - The accessory's side

  /// Bytes arrive, and nothing is silent behind them.
  mutating func deliver(_ bytes: [UInt8]) {
    var batch = FrameBatch<Rules.Codec.Header>()
    host.exchange.codec.decode(bytes.span.bytes, into: &batch)
    host.receive(batch)
  }
}
