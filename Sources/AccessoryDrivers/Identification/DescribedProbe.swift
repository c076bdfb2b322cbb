// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDescriptions
import AccessoryIO
import AccessoryLink
import AccessoryProtocols

/// Tests whether an accessory with a described protocol is there, by its reply to the plan's `identify` request or by
/// messages that it sends by itself.
struct DescribedProbe: KindProbe {
  private(set) var outcome: ProbeOutcome?
  /// The bytes to send; empty when the probe only listens.
  let request: [UInt8]
  /// The timeout of the reply, without the time on the wire.
  let timeout: Duration

  @Boxed private var description: ProtocolDescription
  private let asked: DescribedRequest?
  @Boxed private var fresh: DescribedExchange
  private var exchange: DescribedExchange
  private var batch = FrameBatch<DescribedHeader>()
  private var timing = LineTiming.instant
  private var silence: MonotonicTime?

  private typealias Told = Effects<DecodedMessage?, DecodedMessage>
  private static let id = RequestID(rawValue: 1)

  /// A probe that makes the request with this index; with nil it only listens. `timeout` replaces the description's
  /// timeout. Throws `misconfigured` when the description's frames aren't possible.
  init(
    _ description: ProtocolDescription, request place: Int?, wire: ModbusWire, timeout: Duration?
  ) throws(AccessoryError) {
    var description = description
    // Retries, and bytes that wake the accessory, are the identification step's task.
    description.plan.tries = 1
    description.plan.wake = nil
    if let place, let timeout { description.requests[place].timeout = timeout.inNanoseconds }
    self.timeout = .nanoseconds(place.flatMap { description.requests[$0].timeout } ?? description.plan.timeout)
    self.description = description
    let fresh = try DescribedExchange(description, label: "the port", wire: wire)
    (self.fresh, exchange) = (fresh, fresh)
    guard let place else {
      (asked, request) = (nil, [])
      return
    }
    let asked = try DescribedRequest(place, of: description, by: RequestEncoder(fresh.codec))
    self.asked = asked
    var codec = fresh.codec
    request = codec.begin(asked.bytes)
  }

  var deadline: MonotonicTime? {
    guard outcome == nil else { return nil }
    return [exchange.deadline, silence].compactMap { $0 }.min()
  }

  mutating func start(now: MonotonicTime, timing: LineTiming) {
    (outcome, exchange, silence, self.timing) = (nil, fresh, nil, timing)
    batch.removeAll()
    exchange.setTiming(timing)
    var told = Told()
    exchange.begin(RequestID(rawValue: 0), now: now, effects: &told)
    // The effects' output is ignored: the identification step sends the same bytes from `request`.
    if let asked { exchange.submit(Self.id, asked, now: now, effects: &told) }
    look(told)
  }

  mutating func take(_ bytes: [UInt8], now: MonotonicTime) {
    guard outcome == nil else { return }
    exchange.codec.decode(bytes.span.bytes, into: &batch)
    silence = exchange.codec.hasUnfinishedFrame ? now + timing.silence : nil
    receive(now: now)
  }

  mutating func timePassed(now: MonotonicTime) {
    guard outcome == nil else { return }
    if let silence, silence <= now {
      self.silence = nil
      exchange.codec.idle(into: &batch)
      receive(now: now)
    }
    var told = Told()
    if outcome == nil { exchange.timePassed(now: now, effects: &told) }
    look(told)
  }

  private mutating func receive(now: MonotonicTime) {
    var told = Told()
    for index in 0..<batch.count { exchange.receive(batch, at: index, now: now, effects: &told) }
    batch.removeAll()
    look(told)
  }

  // MARK: - Judging messages

  private mutating func look(_ told: Told) {
    guard outcome == nil else { return }
    for message in told.events where isEvidence(message) && outcome == nil { outcome = .fits(facts(message)) }
    guard asked != nil, outcome == nil else { return }
    for completion in told.completions where completion.id == Self.id {
      switch completion.result {
      case .success(let reply): outcome = judge(reply)
      case .failure(let error): outcome = error.kind == .refused ? .refused(error.message) : .nothing
      }
    }
  }

  private func judge(_ reply: DecodedMessage?) -> ProbeOutcome {
    guard let reply, isEvidence(reply) else { return .nothing }
    let isExpected = description.plan.expected.allSatisfy { name, text in
      (reply[name]?.value ?? .nothing).asExampleText == text
    }
    return isExpected ? .fits(facts(reply)) : .nothing
  }

  /// Whether a message is evidence: it must have a known value, if it has values at all, and without a checksum in its
  /// frame all values must be readable.
  private func isEvidence(_ message: DecodedMessage) -> Bool {
    guard message.plausibility.isBelievable else { return false }
    let isChecked = description.isChecked(description.messages[message.message].framing)
    let saysSomething = message.values.contains { $0.value != .nothing }
    return saysSomething ? isChecked || message.problemCount == 0 : isChecked && message.problemCount == 0
  }

  private func facts(_ message: DecodedMessage) -> [IdentificationFind.Fact] {
    let said = message.values.filter { !$0.isHidden && $0.value != .nothing && !$0.value.asExampleText.isEmpty }
    return said.prefix(Self.factLimit).map { value in
      .init(value.name, value.value.asExampleText + (value.unit.map { " " + $0 } ?? ""))
    }
  }

  private static let factLimit = 8
}

extension ProtocolDescription {
  /// Whether frames of this framing have a checksum.
  func isChecked(_ framing: Int) -> Bool {
    guard framings.indices.contains(framing) else { return false }
    switch framings[framing].form {
    case .layout(let elements), .hexadecimal(let elements, _):
      return elements.contains { if case .check = $0.kind { true } else { false } }
    case .pairs: return true
    case .window: return false
    }
  }
}
