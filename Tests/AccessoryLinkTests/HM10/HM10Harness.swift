// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import AccessoryProtocols

@testable import AccessoryLink

/// An HM-10 exchange with the test in the place of the link, the clock and the module.
struct HM10Harness {
  var exchange: HM10Exchange
  var now = MonotonicTime(nanoseconds: 1_000_000_000)
  /// Everything that is over, by id.
  var results: [UInt64: Result<HM10Answer, AccessoryError>] = [:]
  /// What is over, in order: each request once.
  var completed: [UInt64] = []
  var events: [HM10Event] = []
  private var effects = Effects<HM10Answer, HM10Event>()
  private var sent: [String] = []
  private var nextID: UInt64 = 0

  init(options: HM10Exchange.Options = .init()) { exchange = HM10Exchange(label: "module", options: options) }

  /// An exchange that has made contact with a genuine module.
  static func opened(options: HM10Exchange.Options = .init()) -> HM10Harness {
    var harness = HM10Harness(options: options)
    harness.begin()
    harness.say("OK")
    harness.advance(.milliseconds(30))
    _ = harness.takeSent()
    return harness
  }

  // MARK: - The host's side

  @discardableResult
  mutating func begin() -> UInt64 { perform { $0.begin($1, now: $2, effects: &$3) } }

  @discardableResult
  mutating func submit(_ command: HM10Command) -> UInt64 {
    perform { $0.submit($1, .command(command), now: $2, effects: &$3) }
  }

  @discardableResult
  mutating func send(_ text: String) -> UInt64 {
    perform { $0.submit($1, .data(Array(text.utf8)), now: $2, effects: &$3) }
  }

  mutating func cancel(_ id: UInt64) {
    exchange.cancel(RequestID(rawValue: id), now: now, effects: &effects)
    collect()
  }

  mutating func end(_ error: AccessoryError) {
    exchange.end(error, effects: &effects)
    collect()
  }

  /// Lets time pass, and tells the exchange at each of its deadlines.
  mutating func advance(_ duration: Duration) {
    let end = now + duration
    while let next = exchange.deadline, next <= end {
      now = max(now, next)
      exchange.timePassed(now: now, effects: &effects)
      collect()
    }
    now = end
  }

  func reply(_ id: UInt64) -> HM10Reply? {
    if case .success(.reply(let reply))? = results[id] { reply } else { nil }
  }

  func error(_ id: UInt64) -> AccessoryError? {
    if case .failure(let error)? = results[id] { error } else { nil }
  }

  private mutating func perform(
    _ body: (inout HM10Exchange, RequestID, MonotonicTime, inout Effects<HM10Answer, HM10Event>) -> Void
  ) -> UInt64 {
    nextID += 1
    body(&exchange, RequestID(rawValue: nextID), now, &effects)
    collect()
    return nextID
  }

  private mutating func collect() {
    var start = 0
    for count in effects.messages {
      sent.append(String(decoding: effects.output[start..<(start + count)], as: UTF8.self))
      start += count
    }
    for completion in effects.completions {
      results[completion.id.rawValue] = completion.result
      completed.append(completion.id.rawValue)
    }
    events += effects.events
    effects = Effects()
  }

  // MARK: - The module's side

  /// What was sent since the last call, a piece each.
  mutating func takeSent() -> [String] {
    defer { sent = [] }
    return sent
  }

  /// Bytes arrive, and nothing is silent behind them.
  mutating func deliver(_ text: String) {
    var batch = FrameBatch<HM10Part>()
    exchange.codec.decode(Array(text.utf8).span.bytes, into: &batch)
    receive(batch)
  }

  mutating func silence() {
    var batch = FrameBatch<HM10Part>()
    exchange.codec.idle(into: &batch)
    receive(batch)
  }

  /// Bytes arrive with silence behind them.
  mutating func say(_ text: String) {
    deliver(text)
    silence()
  }

  private mutating func receive(_ batch: FrameBatch<HM10Part>) {
    for index in 0..<batch.count { exchange.receive(batch, at: index, now: now, effects: &effects) }
    collect()
  }
}
