// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryLink
import AccessoryProtocols

/// The place of a link, its clock and its transport, for testing the rules of an `Exchange` without any of them: a value,
/// which does one thing after another as the test says. Nothing waits.
///
///     var host = ExchangeHost(rules)
///     host.begin()
///     let request = host.submit(myRequest)
///     #expect(host.takeWritten() == [[0x01, 0x02]])
///     host.advance(.milliseconds(500))
///     #expect(host.error(of: request)?.kind == .timedOut)
public struct ExchangeHost<Rules: Exchange>: Sendable {
  /// The rules, with what they have learned.
  public var exchange: Rules
  /// The present, for the rules: moved by `advance`.
  public private(set) var now = MonotonicTime(nanoseconds: 1_000_000_000)
  /// All that is over: what became of each request. May be emptied, as `completed` and `events` may.
  public var results: [RequestID: Result<Rules.Reply, AccessoryError>] = [:]
  /// What is over, in order; an id that is in here twice was completed twice, which no rules may do.
  public var completed: [RequestID] = []
  /// What came unasked.
  public var events: [Rules.Event] = []
  /// The transport takes nothing; changed by `block` and `unblock`.
  public private(set) var isBlocked = false

  private var written: [[UInt8]] = []
  private var lastID: UInt64 = 0

  /// A host for `exchange`, on a line on which bytes take `timing`.
  public init(_ exchange: Rules, timing: LineTiming = .instant) {
    self.exchange = exchange
    self.exchange.setTiming(timing)
  }

  // MARK: - The link's side

  /// Makes contact; what comes of it is a result like that of a request.
  @discardableResult
  public mutating func begin() -> RequestID {
    let id = newID()
    change { $0.begin(id, now: $1, effects: &$2) }
    return id
  }

  /// Makes a request.
  @discardableResult
  public mutating func submit(_ request: Rules.Request) -> RequestID {
    let id = newID()
    change { $0.submit(id, request, now: $1, effects: &$2) }
    return id
  }

  /// Gives a request up.
  public mutating func cancel(_ id: RequestID) { change { $0.cancel(id, now: $1, effects: &$2) } }

  /// The accessory is gone, or the link closed.
  public mutating func end(_ error: AccessoryError) { change { $0.end(error, effects: &$2) } }

  /// Moves time on, and tells the rules at each of their deadlines, as a link does. Rules that do nothing at a deadline
  /// and go on naming it are told once.
  public mutating func advance(_ duration: Duration) {
    let end = now + duration
    while let deadline = exchange.deadline, deadline <= end {
      now = max(now, deadline)
      let hasActed = change { $0.timePassed(now: $1, effects: &$2) }
      if !hasActed, exchange.deadline == deadline { break }
    }
    now = end
  }

  /// From now on the transport takes nothing, and the rules are told so.
  public mutating func block() { isBlocked = true }

  /// The transport takes something again.
  public mutating func unblock() {
    isBlocked = false
    change { $0.timePassed(now: $1, effects: &$2) }
  }

  /// The line's speed was changed.
  public mutating func setTiming(_ timing: LineTiming) { exchange.setTiming(timing) }

  // MARK: - The accessory's side

  /// Bytes arrive, as a piece of a stream.
  public mutating func deliver(_ bytes: [UInt8]) {
    var batch = FrameBatch<Rules.Codec.Header>()
    exchange.codec.decode(bytes.span.bytes, into: &batch)
    receive(batch)
  }

  /// A message arrives by a transport that keeps messages apart.
  public mutating func deliver(message: [UInt8]) {
    var batch = FrameBatch<Rules.Codec.Header>()
    exchange.decode(message: message.span.bytes, into: &batch)
    receive(batch)
  }

  /// The line was silent for as long as an unfinished frame holds up what follows it.
  public mutating func silence() {
    var batch = FrameBatch<Rules.Codec.Header>()
    exchange.codec.idle(into: &batch)
    receive(batch)
  }

  /// Frames arrive that the test has decoded itself.
  public mutating func receive(_ batch: FrameBatch<Rules.Codec.Header>) {
    change { exchange, now, effects in
      for index in 0..<batch.count { exchange.receive(batch, at: index, now: now, effects: &effects) }
    }
  }

  // MARK: - What came of it

  /// What was written since the last call, message by message.
  public mutating func takeWritten() -> [[UInt8]] {
    defer { written = [] }
    return written
  }

  /// The reply to a request; nil when it isn't over or has failed.
  public func reply(to id: RequestID) -> Rules.Reply? { try? results[id]?.get() }

  /// What a request failed with; nil when it isn't over or has a reply.
  public func error(of id: RequestID) -> AccessoryError? {
    if case .failure(let error)? = results[id] { error } else { nil }
  }

  private mutating func newID() -> RequestID {
    lastID += 1
    return RequestID(rawValue: lastID)
  }

  /// Tells the rules something, and does what the effects say; false when that is nothing.
  @discardableResult
  private mutating func change(
    _ body: (inout Rules, MonotonicTime, inout Effects<Rules.Reply, Rules.Event>) -> Void
  ) -> Bool {
    var effects = Effects<Rules.Reply, Rules.Event>(isBlocked: isBlocked)
    body(&exchange, now, &effects)
    let messages = effects.takeMessages()
    written += messages
    for (id, result) in effects.completions {
      results[id] = result
      completed.append(id)
    }
    events += effects.events
    return !messages.isEmpty || !effects.completions.isEmpty || !effects.events.isEmpty
  }
}
