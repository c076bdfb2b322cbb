// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryLink
import AccessoryProtocols

/// Takes the place of a link with its clock and transport, to test the rules of an `Exchange` alone. It is a value that
/// performs one step after another as the test says. Nothing waits.
///
///     var host = ExchangeHost(rules)
///     host.begin()
///     let request = host.submit(myRequest)
///     #expect(host.takeWritten() == [[0x01, 0x02]])
///     host.advance(.milliseconds(500))
///     #expect(host.error(of: request)?.kind == .timedOut)
public struct ExchangeHost<Rules: Exchange>: Sendable {
  /// The rules, with their state.
  public var exchange: Rules
  /// The current time for the rules. `advance` changes it.
  public private(set) var now = MonotonicTime(nanoseconds: 1_000_000_000)
  /// The results of all completed requests. The test may empty this, as well as `completed` and `events`.
  public var results: [RequestID: Result<Rules.Reply, AccessoryError>] = [:]
  /// The ids of completed requests, in order. An id that occurs twice was completed twice, which is an error in the
  /// rules.
  public var completed: [RequestID] = []
  /// The events: messages that the accessory sent unasked.
  public var events: [Rules.Event] = []
  /// Whether the transport has no space; `block` and `unblock` change this.
  public private(set) var isBlocked = false

  private var written: [[UInt8]] = []
  private var lastID: UInt64 = 0

  /// A host for `exchange`, on a line with this timing.
  public init(_ exchange: Rules, timing: LineTiming = .instant) {
    self.exchange = exchange
    self.exchange.setTiming(timing)
  }

  // MARK: - The link's side

  /// Makes contact with the accessory. The outcome is added to `results`, like that of a request.
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

  /// Cancels a request.
  public mutating func cancel(_ id: RequestID) { change { $0.cancel(id, now: $1, effects: &$2) } }

  /// Ends the exchange with `error`: the accessory is gone, or the link was closed.
  public mutating func end(_ error: AccessoryError) { change { $0.end(error, effects: &$2) } }

  /// Moves time on by `duration`, and calls the rules at each of their deadlines, as a link does. If the rules do
  /// nothing at a deadline and leave it as it is, they are called once for it.
  public mutating func advance(_ duration: Duration) {
    let end = now + duration
    while let deadline = exchange.deadline, deadline <= end {
      now = max(now, deadline)
      let hasActed = change { $0.timePassed(now: $1, effects: &$2) }
      if !hasActed, exchange.deadline == deadline { break }
    }
    now = end
  }

  /// The transport has no space until `unblock` is called. The rules see it at their next call.
  public mutating func block() { isBlocked = true }

  /// The transport has space again; calls the rules, as a link does.
  public mutating func unblock() {
    isBlocked = false
    change { $0.timePassed(now: $1, effects: &$2) }
  }

  /// Changes the speed of the line.
  public mutating func setTiming(_ timing: LineTiming) { exchange.setTiming(timing) }

  // MARK: - The accessory's side

  /// Delivers bytes, as a piece of a stream.
  public mutating func deliver(_ bytes: [UInt8]) {
    var batch = FrameBatch<Rules.Codec.Header>()
    exchange.codec.decode(bytes.span.bytes, into: &batch)
    receive(batch)
  }

  /// Delivers one message, as from a transport that keeps messages apart.
  public mutating func deliver(message: [UInt8]) {
    var batch = FrameBatch<Rules.Codec.Header>()
    exchange.decode(message: message.span.bytes, into: &batch)
    receive(batch)
  }

  /// Reports silence on the line to the codec, as a link does when the rest of an unfinished frame doesn't come.
  public mutating func silence() {
    var batch = FrameBatch<Rules.Codec.Header>()
    exchange.codec.idle(into: &batch)
    receive(batch)
  }

  /// Delivers frames that the test has decoded.
  public mutating func receive(_ batch: FrameBatch<Rules.Codec.Header>) {
    change { exchange, now, effects in
      for index in 0..<batch.count { exchange.receive(batch, at: index, now: now, effects: &effects) }
    }
  }

  // MARK: - Results

  /// Returns the messages that were written since the last call.
  public mutating func takeWritten() -> [[UInt8]] {
    defer { written = [] }
    return written
  }

  /// The reply to a request; nil if the request isn't completed or has failed.
  public func reply(to id: RequestID) -> Rules.Reply? { try? results[id]?.get() }

  /// The error of a request; nil if the request isn't completed or has a reply.
  public func error(of id: RequestID) -> AccessoryError? {
    if case .failure(let error)? = results[id] { error } else { nil }
  }

  private mutating func newID() -> RequestID {
    lastID += 1
    return RequestID(rawValue: lastID)
  }

  /// Calls the rules and carries out their effects; returns false if there are none.
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
