// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import AccessoryProtocols

@testable import AccessoryLink

/// An EV3 exchange with the test in the place of the link, the clock and the brick.
struct EV3Harness {
  static let firstNumber: UInt16 = 0x002A
  static let markerCode: UInt8 = 0x9D

  var exchange: EV3Exchange
  var now = MonotonicTime(nanoseconds: 1_000_000_000)
  /// Everything that is over, by id.
  var results: [UInt64: Result<EV3Message?, AccessoryError>] = [:]
  /// What is over, in order: each command once.
  var completed: [UInt64] = []
  /// The transport takes nothing.
  var isBlocked = false
  private var effects = Effects<EV3Message?, EV3Message>()
  private var sent: [EV3Message] = []
  private var nextID: UInt64 = 0

  init(options: EV3Exchange.Options = .init(), firstNumber: UInt16 = Self.firstNumber) {
    exchange = EV3Exchange(label: "brick", options: options, firstNumber: firstNumber)
  }

  /// An exchange that has made contact.
  static func opened(options: EV3Exchange.Options = .init()) -> EV3Harness {
    var harness = EV3Harness(options: options)
    harness.begin()
    harness.answerMarkers()
    return harness
  }

  // MARK: - The host's side

  @discardableResult
  mutating func begin() -> UInt64 { perform { $0.begin($1, now: $2, effects: &$3) } }

  @discardableResult
  mutating func submit(_ request: EV3Request) -> UInt64 { perform { $0.submit($1, request, now: $2, effects: &$3) } }

  /// A direct command of `count` NOPs.
  @discardableResult
  mutating func direct(_ count: Int = 1, wantsReply: Bool = true, timeout: Duration? = nil) -> UInt64 {
    let body = [0, 0] + [UInt8](repeating: 1, count: count)
    return submit(EV3Request(wantsReply ? .directCommand : .directCommandNoReply, body: body, timeout: timeout))
  }

  @discardableResult
  mutating func system(_ command: EV3SystemCommand) throws -> UInt64 { submit(try EV3Request(command)) }

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

  /// The transport takes something again.
  mutating func unblock() {
    isBlocked = false
    effects.isBlocked = false
    exchange.timePassed(now: now, effects: &effects)
    collect()
  }

  private mutating func perform(
    _ body: (inout EV3Exchange, RequestID, MonotonicTime, inout Effects<EV3Message?, EV3Message>) -> Void
  ) -> UInt64 {
    nextID += 1
    effects.isBlocked = isBlocked
    body(&exchange, RequestID(rawValue: nextID), now, &effects)
    collect()
    return nextID
  }

  private mutating func collect() {
    var codec = EV3Limits.codec
    var batch = FrameBatch<LengthPrefix>()
    let output = effects.output
    codec.decode(output.span.bytes, into: &batch)
    for index in 0..<batch.count {
      if let message = try? EV3Message(decoding: batch.payloadBytes(at: index)) { sent.append(message) }
    }
    for completion in effects.completions {
      results[completion.id.rawValue] = completion.result
      completed.append(completion.id.rawValue)
    }
    effects = Effects()
    effects.isBlocked = isBlocked
  }

  func error(_ id: UInt64) -> AccessoryError? {
    if case .failure(let error)? = results[id] { error } else { nil }
  }

  func reply(_ id: UInt64) -> EV3Message? { if case .success(let message)? = results[id] { message } else { nil } }

  // MARK: - The brick's side

  /// What was sent since the last call.
  mutating func takeSent() -> [EV3Message] {
    defer { sent = [] }
    return sent
  }

  mutating func deliver(_ bytes: [UInt8]) {
    var batch = FrameBatch<LengthPrefix>()
    exchange.codec.decode(bytes.span.bytes, into: &batch)
    for index in 0..<batch.count { exchange.receive(batch, at: index, now: now, effects: &effects) }
    collect()
  }

  /// A report of a HID interface.
  mutating func deliver(report: [UInt8]) {
    var batch = FrameBatch<LengthPrefix>()
    exchange.decode(message: report.span.bytes, into: &batch)
    for index in 0..<batch.count { exchange.receive(batch, at: index, now: now, effects: &effects) }
    collect()
  }

  mutating func answer(_ message: EV3Message, _ type: EV3MessageType, _ body: [UInt8] = []) {
    deliver((try? EV3Message(number: message.number, type: type, body: body).encoded()) ?? [])
  }

  /// Answers what asks for the open handles, and gives back the rest.
  @discardableResult
  mutating func answerMarkers() -> [EV3Message] {
    var rest: [EV3Message] = []
    var messages = takeSent()
    while !messages.isEmpty {
      for message in messages {
        if message.type == .systemCommand, message.body.first == Self.markerCode {
          answer(message, .systemReply, [Self.markerCode, 0, 0])
        } else {
          rest.append(message)
        }
      }
      messages = takeSent()
    }
    return rest
  }
}
