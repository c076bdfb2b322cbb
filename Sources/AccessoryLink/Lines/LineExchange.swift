// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryProtocols

/// Bytes for an accessory that sends lines of text, or nothing at all.
public struct LineRequest: Sendable {
  /// The bytes to send, including the line end.
  public var bytes: [UInt8]
  /// The request's name in error messages.
  public var name: String
  /// Timeout for the line that is the reply; nil when there is no reply.
  public var timeout: Duration?
  /// Whether a line is the reply; other lines are events.
  public var isAnswer: @Sendable ([UInt8]) -> Bool

  /// Bytes without a reply.
  public init(_ bytes: [UInt8], name: String) {
    self.bytes = bytes
    self.name = name
    isAnswer = { _ in false }
  }

  /// A request with a reply.
  public init(
    _ bytes: [UInt8], name: String, timeout: Duration, isAnswer: @escaping @Sendable ([UInt8]) -> Bool = { _ in true }
  ) {
    self.bytes = bytes
    self.name = name
    self.timeout = timeout
    self.isAnswer = isAnswer
  }
}

/// The rules for an accessory about whose protocol nothing is known. Contact is made at once.
///
/// Received bytes are split at line feeds and at pauses. One request with a reply is outstanding at a time; later
/// requests wait for its reply.
public struct LineExchange: Exchange {
  /// The codec that finds lines.
  public var codec = LineExchange.lines
  /// The counters so far.
  public private(set) var counters = LinkCounters()

  private let label: String
  private var timing = LineTiming.instant
  private var queue: RequestQueue<LineRequest>
  private var outstanding: (id: RequestID, request: LineRequest, deadline: MonotonicTime)?
  private var ended: AccessoryError?
  /// The line that is being checked: a reused buffer.
  private var reusedLine: [UInt8] = []

  /// The longest line in bytes; longer ones are skipped.
  public static let longestLine = 16_384

  /// The codec of lines, which a pause ends as well.
  package static var lines: ReplyCodec {
    do {
      let line = ReplyPattern("", terminator: [UInt8(ascii: "\n")])
      return try ReplyCodec(patterns: [line], maximumPayload: longestLine)
    } catch {
      preconditionFailure("\(error)")  // these are constants within the codec's bounds
    }
  }

  /// Rules for a newly opened accessory. `queueLimit` requests may wait to be sent; `overflow` says which one fails
  /// with `busy` when the queue is full.
  public init(label: String, queueLimit: Int = 256, overflow: Overflow = .refuse) {
    self.label = label
    queue = RequestQueue(limit: queueLimit, overflow: overflow)
  }

  /// Sets how long bytes take on the line.
  public mutating func setTiming(_ timing: LineTiming) { self.timing = timing }

  /// The number of requests that wait to be sent.
  var waitingCount: Int { queue.count }

  /// When the outstanding request times out.
  public var deadline: MonotonicTime? { outstanding?.deadline }

  /// Makes contact at once, because there is no protocol by which the accessory could be asked.
  public mutating func begin(_ id: RequestID, now: MonotonicTime, effects: inout Effects<[UInt8]?, [UInt8]>) {
    effects.completions.append((id, .success(nil)))
  }

  /// Queues a request.
  public mutating func submit(
    _ id: RequestID, _ request: LineRequest, now: MonotonicTime, effects: inout Effects<[UInt8]?, [UInt8]>
  ) {
    if let ended { return effects.completions.append((id, .failure(ended))) }
    queue.admit(id, request, for: label, counters: &counters, effects: &effects)
    sendNext(now: now, effects: &effects)
  }

  private mutating func sendNext(now: MonotonicTime, effects: inout Effects<[UInt8]?, [UInt8]>) {
    while outstanding == nil, !effects.isBlocked, let (id, request) = queue.popFirst() {
      counters.requests += 1
      effects.write(request.bytes)
      if let timeout = request.timeout {
        outstanding = (id, request, now + timeout + timing.time(of: request.bytes.count + 64))
      } else {
        effects.completions.append((id, .success(nil)))
      }
    }
  }

  /// Cancels a queued or outstanding request.
  public mutating func cancel(_ id: RequestID, now: MonotonicTime, effects: inout Effects<[UInt8]?, [UInt8]>) {
    if outstanding?.id == id {
      outstanding = nil
    } else if !queue.remove(id) {
      return
    }
    effects.completions.append((id, .failure(AccessoryError(.cancelled, "a message to \(label) was cancelled"))))
    sendNext(now: now, effects: &effects)
  }

  /// Handles a line: the reply, or an event.
  public mutating func receive(
    _ batch: FrameBatch<ReplyEnd>, at index: Int, now: MonotonicTime, effects: inout Effects<[UInt8]?, [UInt8]>
  ) {
    guard batch.outcome(at: index) == .whole else { return }  // counted by the codec
    if let outstanding {
      batch.copyPayload(at: index, into: &reusedLine)
      if outstanding.request.isAnswer(reusedLine) {
        counters.replies += 1
        self.outstanding = nil
        effects.completions.append((outstanding.id, .success(batch.payloadBytes(at: index))))
        return sendNext(now: now, effects: &effects)
      }
    }
    counters.events += 1
    effects.addEvent(batch.payloadBytes(at: index))
  }

  /// Fails a request whose reply is overdue, and sends the requests that may be sent now.
  public mutating func timePassed(now: MonotonicTime, effects: inout Effects<[UInt8]?, [UInt8]>) {
    if let outstanding, outstanding.deadline <= now {
      counters.timeouts += 1
      self.outstanding = nil
      let error = AccessoryError(.timedOut, "\(label) does not answer \(outstanding.request.name)")
      effects.completions.append((outstanding.id, .failure(error)))
    }
    sendNext(now: now, effects: &effects)
  }

  /// Fails all waiting requests, and every later one, with `error`.
  public mutating func end(_ error: AccessoryError, effects: inout Effects<[UInt8]?, [UInt8]>) {
    guard ended == nil else { return }
    ended = error
    for id in queue.removeAll() + [outstanding?.id].compactMap({ $0 }) {
      effects.completions.append((id, .failure(error)))
    }
    outstanding = nil
    (effects.output, effects.messages) = ([], [])
  }
}
