// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryLink
import AccessoryProtocols

/// Tells whether an accessory of a described protocol is there: by its answer to the plan's `identify`, or by what it sends
/// by itself.
struct DescribedProbe: KindProbe {
  private(set) var outcome: ProbeOutcome?
  /// What is sent for it; empty where it listens.
  let request: [UInt8]
  /// How long an answer may take, without the time on the wire.
  let patience: Duration

  private let description: ProtocolDescription
  private let asked: DescribedRequest?
  private let fresh: DescribedExchange
  private var exchange: DescribedExchange
  private var batch = FrameBatch<DescribedHeader>()
  private var timing = LineTiming.instant
  private var silence: MonotonicTime?

  private typealias Told = Effects<DecodedMessage?, DecodedMessage>
  private static let id = RequestID(rawValue: 1)

  /// A probe that makes this request, by its place, or without one listens. `patience` is how long an answer may take, in
  /// place of what the description says. Throws `misconfigured` if there can be no such frames.
  init(
    _ description: ProtocolDescription, request place: Int?, wire: ModbusWire, patience: Duration?
  ) throws(AccessoryError) {
    var description = description
    // How often it is asked, and what is sent before, is the step's.
    description.plan.tries = 1
    description.plan.wake = nil
    if let place, let patience { description.requests[place].timeout = patience.inNanoseconds }
    self.patience = .nanoseconds(place.flatMap { description.requests[$0].timeout } ?? description.plan.timeout)
    self.description = description
    fresh = try DescribedExchange(description, label: "the port", wire: wire)
    exchange = fresh
    guard let place else {
      (asked, request) = (nil, [])
      return
    }
    let asked = try DescribedRequest(place, of: description, by: RequestWriter(fresh.codec))
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
    // The request's bytes are the step's, which are these.
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

  // MARK: - What it means

  private mutating func look(_ told: Told) {
    guard outcome == nil else { return }
    for message in told.events where isWorthIt(message) && outcome == nil { outcome = .fits(facts(message)) }
    guard asked != nil, outcome == nil else { return }
    for completion in told.completions where completion.id == Self.id {
      switch completion.result {
      case .success(let reply): outcome = judge(reply)
      case .failure(let error): outcome = error.kind == .refused ? .refused(error.message) : .nothing
      }
    }
  }

  private func judge(_ reply: DecodedMessage?) -> ProbeOutcome {
    guard let reply, isWorthIt(reply) else { return .nothing }
    let isExpected = description.plan.expected.allSatisfy { name, text in
      (reply[name]?.value ?? .nothing).asExampleText == text
    }
    return isExpected ? .fits(facts(reply)) : .nothing
  }

  /// Something must be read from it, if there is anything to be read; and where no check says that the frame is whole, all.
  private func isWorthIt(_ message: DecodedMessage) -> Bool {
    let isChecked = description.isChecked(description.messages[message.message].framing)
    let saysSomething = message.values.contains { $0.value != .nothing }
    return saysSomething ? isChecked || message.problems == 0 : isChecked && message.problems == 0
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
  /// Whether damage to a frame of this framing shows by a checksum.
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
