// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import AccessoryProtocols

@testable import AccessoryLink

/// An AF1 exchange with the test in the place of the link, the clock and the accessory.
struct ExchangeHarness {
  /// A request as the accessory sees it.
  struct Sent: Equatable {
    var command: AF1Command
    var number: UInt16
    var payload: [UInt8]
  }

  static let firstNumber: UInt16 = 0x2A17
  static let nonce: UInt32 = 0x1234_5678

  var exchange: AF1Exchange
  var now = MonotonicTime(nanoseconds: 1_000_000_000)
  /// Everything that is over, by id.
  var results: [UInt64: Result<AF1Message, AccessoryError>] = [:]
  /// How often something was completed: each request once.
  var completions = 0
  var events: [AF1Message] = []
  private var effects = Effects<AF1Message, AF1Message>()
  private var accessory = AF1Codec(maximumPayload: 65_535)
  private var sent: [Sent] = []
  private var nextID: UInt64 = 0

  init(options: AF1Exchange.Options = .init(), firstNumber: UInt16 = Self.firstNumber, timing: LineTiming = .instant) {
    exchange = AF1Exchange(label: "gadget", options: options, firstNumber: firstNumber, nonce: Self.nonce)
    exchange.setTiming(timing)
  }

  /// An exchange that has said HELLO and was greeted.
  static func opened(options: AF1Exchange.Options = .init(), timing: LineTiming = .instant) -> ExchangeHarness {
    var harness = ExchangeHarness(options: options, timing: timing)
    harness.begin()
    harness.greet()
    return harness
  }

  // MARK: - The host's side

  @discardableResult
  mutating func begin() -> UInt64 { perform { $0.begin($1, now: $2, effects: &$3) } }

  @discardableResult
  mutating func submit(_ request: AF1Request) -> UInt64 {
    perform { $0.submit($1, request, now: $2, effects: &$3) }
  }

  mutating func cancel(_ id: UInt64) {
    exchange.cancel(RequestID(rawValue: id), now: now, effects: &effects)
    collect()
  }

  mutating func end(_ error: AccessoryError) {
    exchange.end(error, effects: &effects)
    collect()
  }

  /// Moves time on, and calls at every deadline as a link would.
  mutating func advance(_ duration: Duration) {
    let end = now + duration
    while let deadline = exchange.deadline, deadline <= end {
      now = max(now, deadline)
      exchange.timePassed(now: now, effects: &effects)
      collect()
    }
    now = end
  }

  private mutating func perform(
    _ body: (inout AF1Exchange, RequestID, MonotonicTime, inout Effects<AF1Message, AF1Message>) -> Void
  ) -> UInt64 {
    nextID += 1
    body(&exchange, RequestID(rawValue: nextID), now, &effects)
    collect()
    return nextID
  }

  private mutating func collect() {
    var batch = FrameBatch<AF1Header>()
    let output = effects.output
    accessory.decode(output.span.bytes, into: &batch)
    for index in 0..<batch.count {
      let header = batch.header(at: index)
      sent.append(Sent(command: header.command, number: header.number, payload: batch.payloadBytes(at: index)))
    }
    for completion in effects.completions {
      results[completion.id.rawValue] = completion.result
      completions += 1
    }
    events += effects.events
    effects = Effects()
  }

  // MARK: - The accessory's side

  /// What was sent since the last call.
  mutating func takeSent() -> [Sent] {
    defer { sent = [] }
    return sent
  }

  mutating func deliver(_ bytes: [UInt8]) {
    var batch = FrameBatch<AF1Header>()
    exchange.codec.decode(bytes.span.bytes, into: &batch)
    for index in 0..<batch.count { exchange.receive(batch, at: index, now: now, effects: &effects) }
    collect()
  }

  static func frame(_ header: AF1Header, _ payload: [UInt8]) -> [UInt8] {
    var frame: [UInt8] = []
    try? AF1Codec(maximumPayload: 65_535).encode(header, payload: payload, into: &frame)
    return frame
  }

  mutating func reply(_ request: Sent, _ payload: [UInt8]) {
    deliver(Self.frame(AF1Header(flags: .reply, command: request.command, number: request.number), payload))
  }

  mutating func refuse(_ request: Sent, _ reason: AF1RefusalReason) {
    let header = AF1Header(flags: [.reply, .refused], command: request.command, number: request.number)
    deliver(Self.frame(header, [reason.rawValue]))
  }

  mutating func event(_ number: UInt16, _ payload: [UInt8] = [1]) {
    deliver(Self.frame(.event(.battery, number: number), payload))
  }

  /// Answers the HELLO that is outstanding.
  mutating func greet(bootID: UInt32 = 0xC0FF_EE01, largestPayload: UInt16 = 4_096, window: UInt8 = 1) {
    guard let hello = takeSent().last, hello.command == .hello else { return }
    var payload: [UInt8] = []
    AF1HelloReply(bootID: bootID, largestPayload: largestPayload, window: window).encode(into: &payload)
    reply(hello, payload)
  }
}
