// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDescriptions
import AccessoryIO
import AccessoryProtocols

/// Sends clients' requests in a described protocol unchanged, one at a time, and finds the frames that answer each request. It doesn't
/// repeat requests; the clients do.
///
/// A request that isn't in the description may be answered by any frame, except those that the accessory also sends unasked.
struct DescribedRelay: Exchange {
  /// A frame for the accessory.
  struct Request: Sendable, Hashable {
    /// The encoded frame. For Modbus, the form used on a serial line.
    var frame: [UInt8]
    /// The request's index in the description; nil if the description doesn't have the request.
    var index: Int?
    /// The unit that the request addresses; nil if the protocol has no units.
    var unit: Int?
    /// The numeric values of the frame's elements, by element index.
    var elements: [Int: Int] = [:]
    /// The request's name in error messages.
    var name = "a frame that the description doesn't have"

    init(frame: [UInt8]) { self.frame = frame }
  }

  private struct Attempt: Sendable {
    var id: RequestID
    var request: Request
    var deadline: MonotonicTime
    /// Whether a frame of the reply was received. More frames of the reply may follow.
    var isAnswered = false
  }

  private enum Phase: Sendable {
    case closed
    case waking(RequestID, until: MonotonicTime)
    case ready
    case ended(AccessoryError)
  }

  var codec: DescribedCodec
  private(set) var counters = LinkCounters()

  private let label: String
  private let description: ProtocolDescription
  private let decoder: MessageDecoder
  private var timing = LineTiming.instant
  private var phase = Phase.closed
  private var waiting: (id: RequestID, request: Request)?
  private var attempt: Attempt?
  private var nextSending = MonotonicTime(nanoseconds: .min)
  /// The last request that timed out. Its reply may still arrive until `end`.
  private var late: (request: Request, end: MonotonicTime)?

  init(_ codec: DescribedCodec, label: String) {
    self.codec = codec
    self.label = label
    description = codec.description
    decoder = MessageDecoder(codec)
  }

  mutating func setTiming(_ timing: LineTiming) { self.timing = timing }

  var deadline: MonotonicTime? {
    if case .waking(_, let time) = phase { return time }
    return attempt?.deadline ?? waiting.map { sendingTime(of: $0.request) }
  }

  /// Whether the request is about to be given up, without an answer.
  func isTimingOut(now: MonotonicTime) -> Bool {
    attempt.map { !$0.isAnswered && $0.deadline <= now } ?? false
  }

  mutating func begin(_ id: RequestID, now: MonotonicTime, effects: inout Effects<Bool, Bool>) {
    guard let wake = description.plan.wake else {
      phase = .ready
      return effects.completions.append((id, .success(true)))
    }
    effects.write(wake.bytes)
    phase = .waking(id, until: now + .nanoseconds(wake.pause) + timing.time(of: wake.bytes.count))
  }

  mutating func submit(_ id: RequestID, _ request: Request, now: MonotonicTime, effects: inout Effects<Bool, Bool>) {
    if case .ended(let error) = phase { return effects.completions.append((id, .failure(error))) }
    guard waiting == nil else {
      return effects.completions.append((id, .failure(AccessoryError(.busy, "a request to \(label) waits already"))))
    }
    waiting = (id, request)
    sendNext(now: now, effects: &effects)
  }

  mutating func cancel(_ id: RequestID, now: MonotonicTime, effects: inout Effects<Bool, Bool>) {
    // A request that was sent stays in progress: otherwise its reply could be taken for the reply to the next request.
    guard waiting?.id == id else { return }
    waiting = nil
    effects.completions.append((id, .failure(AccessoryError(.cancelled, "a request to \(label) was cancelled"))))
  }

  mutating func end(_ error: AccessoryError, effects: inout Effects<Bool, Bool>) {
    phase = .ended(error)
    for id in [attempt?.id, waiting?.id] { if let id { effects.completions.append((id, .failure(error))) } }
    (attempt, waiting) = (nil, nil)
  }

  // MARK: - Sending

  /// The earliest time at which a request may be sent: after the pause between requests, and not while a late reply to another request
  /// could be taken for the reply to this one.
  private func sendingTime(of request: Request) -> MonotonicTime {
    guard let late, late.request.frame != request.frame, !isReported(request) else { return nextSending }
    return max(nextSending, late.end)
  }

  /// Whether replies repeat elements of this request, so that they can't be taken for replies to another request.
  private func isReported(_ request: Request) -> Bool {
    request.index.map { !description.requests[$0].echoes.isEmpty } ?? false
  }

  private mutating func sendNext(now: MonotonicTime, effects: inout Effects<Bool, Bool>) {
    guard case .ready = phase, attempt == nil, !effects.isBlocked, let (id, request) = waiting,
      sendingTime(of: request) <= now
    else { return }
    waiting = nil
    counters.requests += 1
    effects.write(codec.begin(request.frame))
    if let index = request.index, description.requests[index].reply == nil {
      nextSending = now + timing.time(of: request.frame.count) + gap
      return effects.completions.append((id, .success(false)))
    }
    attempt = Attempt(id: id, request: request, deadline: now + patience(for: request))
  }

  private var gap: Duration {
    guard description.modbus != nil else { return .nanoseconds(description.plan.gap) }
    let silence = Modbus.silence(nanosecondsPerByte: timing.perByte.inNanoseconds)
    return .nanoseconds(max(description.plan.gap, silence))
  }

  private func patience(for request: Request) -> Duration {
    let described = request.index.map { description.requests[$0] }
    let reply = described?.reply.map { description.longestFrame(of: $0) } ?? 256
    return .nanoseconds(described?.timeout ?? description.plan.timeout)
      + timing.time(of: request.frame.count + min(reply, 1_024))
  }

  // MARK: - Arrivals

  mutating func receive(
    _ batch: FrameBatch<DescribedHeader>, at index: Int, now: MonotonicTime, effects: inout Effects<Bool, Bool>
  ) {
    guard batch.outcome(at: index) == .whole else { return }
    let header = batch.header(at: index)
    let content = batch.payloadBytes(at: index)
    if !header.isStray, let attempt, isAnswer(header, content, to: attempt.request) {
      counters.replies += 1
      if hasMore(after: header, content, attempt.request) {
        let end = now + pause(of: attempt.request)
        self.attempt?.isAnswered = true
        self.attempt?.deadline = end
      } else {
        finish(.success(true), now: now, effects: &effects)
      }
    } else if let late, isAnswer(header, content, to: late.request) {
      self.late = nil
      counters.lateReplies += 1
      sendNext(now: now, effects: &effects)
    } else if !header.isStray, isPushed(header, content) {
      counters.events += 1
      effects.addEvent(true)
    } else {
      counters.unexpected += 1
    }
  }

  private func isPushed(_ header: DescribedHeader, _ content: [UInt8]) -> Bool {
    decoder.message(header, content.span.bytes).map { description.messages[$0].isPushed } ?? false
  }

  private func isAnswer(_ header: DescribedHeader, _ content: [UInt8], to request: Request) -> Bool {
    // For Modbus, the codec finds only frames that answer the request in progress.
    if description.modbus != nil { return true }
    if let unit = decoder.unit(header, content.span.bytes), let asked = request.unit, unit != asked { return false }
    guard let index = request.index, !description.requests[index].isEchoed else { return !isPushed(header, content) }
    guard isItsOwn(header, content, request) else { return false }
    return isReply(header, content, to: request) || isRefusal(header, content, of: description.requests[index])
  }

  /// Whether the frame repeats the elements of the request that its reply must repeat. True for a frame whose framing isn't the
  /// reply's.
  private func isItsOwn(_ header: DescribedHeader, _ content: [UInt8], _ request: Request) -> Bool {
    guard let described = request.index.map({ description.requests[$0] }), let reply = described.reply,
      description.messages[reply].hasFraming(header.framing)
    else { return true }
    return described.echoes.allSatisfy {
      decoder.number($0.reply, header, content.span.bytes) == request.elements[$0.request] ?? 0
    }
  }

  private func isReply(_ header: DescribedHeader, _ content: [UInt8], to request: Request) -> Bool {
    guard let reply = request.index.flatMap({ description.requests[$0].reply }) else { return false }
    return decoder.fits(reply, header, content.span.bytes)
  }

  private func isRefusal(
    _ header: DescribedHeader, _ content: [UInt8], of request: ProtocolDescription.Request
  ) -> Bool {
    let refusals =
      request.refusals.isEmpty
      ? description.messages.indices.filter { description.messages[$0].isRefusal } : request.refusals
    return refusals.contains { decoder.fits($0, header, content.span.bytes) }
  }

  /// Whether more frames of the reply may follow this frame. If so, the reply ends when the line is silent.
  private func hasMore(after header: DescribedHeader, _ content: [UInt8], _ request: Request) -> Bool {
    if description.modbus != nil { return false }
    guard let index = request.index else { return true }
    guard let reply = description.requests[index].reply, isReply(header, content, to: request) else { return false }
    return description.messages[reply].pieces != nil
  }

  /// How long the line must be silent before a reply of several frames is complete.
  private func pause(of request: Request) -> Duration {
    let pieces = request.index.flatMap { description.requests[$0].reply }.flatMap { description.messages[$0].pieces }
    return .nanoseconds(pieces?.silence ?? 0) + timing.silence
  }

  private mutating func finish(
    _ result: Result<Bool, AccessoryError>, now: MonotonicTime, effects: inout Effects<Bool, Bool>
  ) {
    guard let done = attempt else { return }
    attempt = nil
    nextSending = now + gap
    effects.completions.append((done.id, result))
    sendNext(now: now, effects: &effects)
  }

  // MARK: - Time

  mutating func timePassed(now: MonotonicTime, effects: inout Effects<Bool, Bool>) {
    if case .waking(let id, let time) = phase, time <= now {
      phase = .ready
      effects.completions.append((id, .success(true)))
    }
    if let late, late.end <= now { self.late = nil }
    if let over = attempt, over.deadline <= now {
      if over.isAnswered { return finish(.success(true), now: now, effects: &effects) }
      counters.timeouts += 1
      late = (over.request, now + patience(for: over.request))
      finish(
        .failure(AccessoryError(.timedOut, "\(label) does not answer \(over.request.name)")), now: now,
        effects: &effects)
    }
    sendNext(now: now, effects: &effects)
  }
}
