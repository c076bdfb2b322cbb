// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryProtocols

/// Bytes for an accessory that speaks in lines, or doesn't speak at all.
public struct LineRequest: Sendable {
  /// What is sent, line end included.
  public var bytes: [UInt8]
  /// What it is, for people.
  public var name: String
  /// How long a line that answers it may take; nil when nothing answers.
  public var timeout: Duration?
  /// Whether a line is the answer; others are events.
  public var isAnswer: @Sendable ([UInt8]) -> Bool

  /// Bytes that nothing answers.
  public init(_ bytes: [UInt8], name: String) {
    self.bytes = bytes
    self.name = name
    isAnswer = { _ in false }
  }

  /// A question.
  public init(
    _ bytes: [UInt8], name: String, timeout: Duration, isAnswer: @escaping @Sendable ([UInt8]) -> Bool = { _ in true }
  ) {
    self.bytes = bytes
    self.name = name
    self.timeout = timeout
    self.isAnswer = isAnswer
  }
}

/// How bytes and lines are exchanged with an accessory of which nothing can be known before: contact is made at once.
///
/// What it says is cut at line feeds, or where it falls silent. One question at a time; what is to be sent behind one
/// waits for its answer.
public struct LineExchange: Exchange {
  /// The framing.
  public var codec = LineExchange.lines
  /// The counters so far.
  public private(set) var counters = LinkCounters()

  private let label: String
  private var timing = LineTiming.instant
  private var queue: RequestQueue<LineRequest>
  private var asked: (id: RequestID, request: LineRequest, deadline: MonotonicTime)?
  private var ended: AccessoryError?
  /// The line that is looked at: storage that is used again.
  private var looked: [UInt8] = []

  /// Bytes of a line; a longer one is passed over.
  public static let longestLine = 16_384

  /// The framing of lines, which silence ends, too.
  package static var lines: ReplyCodec {
    do {
      let line = ReplyPattern("", terminator: [UInt8(ascii: "\n")])
      return try ReplyCodec(patterns: [line], maximumPayload: longestLine)
    } catch {
      preconditionFailure("\(error)")  // these are constants within the codec's bounds
    }
  }

  /// Rules for a new opening. `queueLimit` messages may wait for their turn; `overflow` says which one fails with
  /// `busy` when too many wait.
  public init(label: String, queueLimit: Int = 256, overflow: Overflow = .refuse) {
    self.label = label
    queue = RequestQueue(limit: queueLimit, overflow: overflow)
  }

  /// Learns how long bytes take.
  public mutating func setTiming(_ timing: LineTiming) { self.timing = timing }

  /// Messages that wait for their turn.
  var waitingCount: Int { queue.count }

  /// When a question is given up.
  public var deadline: MonotonicTime? { asked?.deadline }

  /// There is nobody who could be asked.
  public mutating func begin(_ id: RequestID, now: MonotonicTime, effects: inout Effects<[UInt8]?, [UInt8]>) {
    effects.completions.append((id, .success(nil)))
  }

  /// Takes bytes, behind those that wait.
  public mutating func submit(
    _ id: RequestID, _ request: LineRequest, now: MonotonicTime, effects: inout Effects<[UInt8]?, [UInt8]>
  ) {
    if let ended { return effects.completions.append((id, .failure(ended))) }
    queue.admit(id, request, for: label, counters: &counters, effects: &effects)
    sendNext(now: now, effects: &effects)
  }

  private mutating func sendNext(now: MonotonicTime, effects: inout Effects<[UInt8]?, [UInt8]>) {
    while asked == nil, !effects.isBlocked, let (id, request) = queue.popFirst() {
      counters.requests += 1
      effects.write(request.bytes)
      if let timeout = request.timeout {
        asked = (id, request, now + timeout + timing.time(of: request.bytes.count + 64))
      } else {
        effects.completions.append((id, .success(nil)))
      }
    }
  }

  /// Gives up a waiting message, or an unanswered question.
  public mutating func cancel(_ id: RequestID, now: MonotonicTime, effects: inout Effects<[UInt8]?, [UInt8]>) {
    if asked?.id == id {
      asked = nil
    } else if !queue.remove(id) {
      return
    }
    effects.completions.append((id, .failure(AccessoryError(.cancelled, "a message to \(label) was cancelled"))))
    sendNext(now: now, effects: &effects)
  }

  /// Takes a line: the answer, or what it says by itself.
  public mutating func receive(
    _ batch: FrameBatch<ReplyEnd>, at index: Int, now: MonotonicTime, effects: inout Effects<[UInt8]?, [UInt8]>
  ) {
    guard batch.outcome(at: index) == .whole else { return }  // counted by the codec
    if let asked {
      batch.copyPayload(at: index, into: &looked)
      if asked.request.isAnswer(looked) {
        counters.replies += 1
        self.asked = nil
        effects.completions.append((asked.id, .success(batch.payloadBytes(at: index))))
        return sendNext(now: now, effects: &effects)
      }
    }
    counters.events += 1
    effects.tell(batch.payloadBytes(at: index))
  }

  /// Gives up unanswered commands, and sends those that may be sent now.
  public mutating func timePassed(now: MonotonicTime, effects: inout Effects<[UInt8]?, [UInt8]>) {
    if let asked, asked.deadline <= now {
      counters.timeouts += 1
      self.asked = nil
      let error = AccessoryError(.timedOut, "\(label) does not answer \(asked.request.name)")
      effects.completions.append((asked.id, .failure(error)))
    }
    sendNext(now: now, effects: &effects)
  }

  /// Fails everything that waits, and all that comes.
  public mutating func end(_ error: AccessoryError, effects: inout Effects<[UInt8]?, [UInt8]>) {
    guard ended == nil else { return }
    ended = error
    for id in queue.removeAll() + [asked?.id].compactMap({ $0 }) { effects.completions.append((id, .failure(error))) }
    asked = nil
    (effects.output, effects.messages) = ([], [])
  }
}
