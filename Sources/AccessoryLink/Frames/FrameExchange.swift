// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryProtocols
import DequeModule

/// Rules for requests and replies over any framing, for protocols without special rules.
///
/// A protocol provides a codec, which finds frames, and a closure that says which frame is the reply to which request.
/// If frames contain a number, a second closure writes the number into a request; then several requests may be
/// unanswered at a time. Otherwise, each request waits for the end of the previous one (stop and wait). A frame that
/// isn't a reply is an event.
///
///     let rules = FrameExchange(codec, label: session.label) { frame, request in
///       frame.header == request.header ? .reply : .unrelated
///     }
///     let link = try await Link.open(session, rules: rules)
///     let reply = try await link.ask(FrameRequest(Frame(header), name: "BATTERY", isIdempotent: true))
///
/// **Late replies.** Replies to requests that were cancelled or have timed out, and second replies to requests that
/// were repeated, are counted and dropped for 10 s. Without numbers, such a reply can't be distinguished from the reply
/// to an outstanding request of the same kind: give such protocols timeouts that a reply never exceeds. For the same
/// reason, an outstanding request without a number that is cancelled still blocks the next request until its reply has
/// come or it has timed out.
public struct FrameExchange<Codec: FrameCodec>: Exchange {
  /// A frame of the codec.
  public typealias Message = Frame<Codec.Header>
  /// A request of the codec.
  public typealias Request = FrameRequest<Codec.Header>
  /// The reply; nil for a request without a reply.
  public typealias Reply = Message?
  /// A frame that isn't a reply.
  public typealias Event = Message

  /// The settings of the exchange.
  public struct Options: Sendable, Hashable {
    /// How often an idempotent request is sent before it fails as `timedOut`; other requests are sent once. The default
    /// is 3.
    public var tries = 3
    /// Timeout for a reply, not counting the time on the wire. The default is 500 ms.
    public var timeout = Duration.milliseconds(500)
    /// The size of the largest reply in bytes, for the time on the wire. The default is 256.
    public var largestReply = 256
    /// When the next request may be sent. A window above 1 requires numbers. The default is `reply`.
    public var pacing = Pacing.reply
    /// The most requests that may wait to be sent. The default is 64.
    public var queueLimit = 64
    /// Which request fails with `busy` when the queue is full; the new one by default.
    public var overflow = Overflow.refuse

    /// Three tries of 500 ms, 64 waiting requests.
    public init() {}
  }

  /// Says how the frame that arrived relates to the frame of a request as it was sent.
  public typealias Matcher = @Sendable (_ arrived: Message, _ request: Message) -> FrameAnswer
  /// Writes a request's number into its frame.
  public typealias NumberWriter = @Sendable (_ frame: inout Message, _ number: UInt32) -> Void

  /// The codec that finds frames.
  public var codec: Codec
  /// The counters so far.
  public internal(set) var counters = LinkCounters()

  let label: String
  let options: Options
  let matcher: Matcher
  let numberWriter: NumberWriter?
  let numbers: ClosedRange<UInt32>
  private let opening: Request?
  var timing = LineTiming.instant
  var queue: RequestQueue<Request>
  /// Requests that were sent, aren't answered and haven't timed out.
  var outstanding: [Attempt] = []
  /// Requests that are over and may still be answered, oldest first.
  var finished: Deque<Finished> = []
  var nextNumber: UInt32
  var lastSerial: UInt64 = 0
  /// When the next request may be sent, by the pacing's gap.
  var nextSending = MonotonicTime(nanoseconds: .min)
  /// Whether the next request waits only for space in the transport.
  var waitsForSpace = false
  var phase = Phase.closed
  var scratch = FrameBatch<Codec.Header>()
  /// The payload that is being matched: a reused buffer.
  var reusedPayload: [UInt8] = []

  enum Phase: Sendable {
    case closed
    case ready
    case ended(AccessoryError)
  }

  /// Rules for a newly opened accessory.
  ///
  /// - Parameters:
  /// - codec: The codec that finds frames.
  ///   - label: The accessory's name in error messages.
  ///   - opening: The first request, which checks that the accessory is there; with nil, contact is made without one.
  ///   - numbers: The numbers that requests may have. They are used in turn; a number is skipped while its request is
  ///   unanswered.
  ///   - firstNumber: Random by default, so that a late reply to an earlier program isn't taken for a reply to this
  ///   one.
  ///   - number: Writes a request's number into its frame; nil when frames have no numbers.
  ///   - answer: Says how a frame relates to a request. It runs under the link's lock and must not wait.
  public init(
    _ codec: Codec, label: String, options: Options = Options(), opening: Request? = nil,
    numbers: ClosedRange<UInt32> = 0 ... .max, firstNumber: UInt32? = nil, number: NumberWriter? = nil,
    answer: @escaping Matcher
  ) {
    self.codec = codec
    self.label = label
    self.options = options
    self.opening = opening
    self.numbers = numbers
    numberWriter = number
    matcher = answer
    let first = firstNumber ?? .random(in: numbers)
    nextNumber = numbers.contains(first) ? first : numbers.lowerBound
    queue = RequestQueue(limit: options.queueLimit, overflow: options.overflow)
  }

  /// Sets how long bytes take on the line.
  public mutating func setTiming(_ timing: LineTiming) { self.timing = timing }

  /// When an outstanding request must be repeated or fail, or the next request may be sent.
  public var deadline: MonotonicTime? {
    var earliest = !queue.isEmpty && hasRoom && !waitsForSpace ? nextSending : nil
    for attempt in outstanding { earliest = min(earliest ?? attempt.deadline, attempt.deadline) }
    return earliest
  }

  /// Sends the opening request, if there is one.
  public mutating func begin(_ id: RequestID, now: MonotonicTime, effects: inout Effects<Reply, Event>) {
    if case .ended(let error) = phase { return effects.completions.append((id, .failure(error))) }
    if let opening { return start(opening, id, isOpening: true, now: now, effects: &effects) }
    phase = .ready
    effects.completions.append((id, .success(nil)))
  }

  /// Queues a request. It fails with `busy` when too many wait, or with `misconfigured` when it is sent and the codec
  /// can't encode its frame.
  public mutating func submit(
    _ id: RequestID, _ request: Request, now: MonotonicTime, effects: inout Effects<Reply, Event>
  ) {
    switch phase {
    case .ended(let error): return effects.completions.append((id, .failure(error)))
    case .closed:
      let error = AccessoryError(.ioFailure, "\(label) can't accept requests before its link is opened")
      return effects.completions.append((id, .failure(error)))
    case .ready: break
    }
    queue.admit(id, request, for: label, counters: &counters, effects: &effects)
    sendNext(now: now, effects: &effects)
  }

  /// Cancels a request. If it was sent, the accessory may have run it; its reply is dropped.
  public mutating func cancel(_ id: RequestID, now: MonotonicTime, effects: inout Effects<Reply, Event>) {
    if let place = outstanding.firstIndex(where: { $0.id == id }) {
      if numberWriter == nil && !outstanding[place].isOpening {
        outstanding[place].id = nil
      } else {
        remember(outstanding.remove(at: place), wasAnswered: false, now: now)
      }
    } else if !queue.remove(id) {
      return
    }
    effects.completions.append((id, .failure(AccessoryError(.cancelled, "a request to \(label) was cancelled"))))
    sendNext(now: now, effects: &effects)
  }

  /// Fails all waiting requests, and every later one, with `error`.
  public mutating func end(_ error: AccessoryError, effects: inout Effects<Reply, Event>) {
    if case .ended = phase { return }
    phase = .ended(error)
    for id in outstanding.compactMap(\.id) + queue.removeAll() { effects.completions.append((id, .failure(error))) }
    (outstanding, finished) = ([], [])
    (effects.output, effects.messages) = ([], [])
  }
}

extension FrameExchange where Codec == DelimitedCodec {
  /// Rules for lines, or other records with an end, of at most `maximumPayload` bytes. Records have no numbers, so each
  /// request waits for the end of the previous one. For the other parameters, see the general initializer. Throws
  /// `misconfigured` if such records are impossible.
  public init(
    _ format: DelimitedFormat, maximumPayload: Int, label: String, options: Options = Options(),
    opening: Request? = nil, answer: @escaping Matcher
  ) throws(AccessoryError) {
    let codec: DelimitedCodec
    do throws(FramingParameterError) {
      codec = try DelimitedCodec(format, maximumPayload: maximumPayload)
    } catch {
      throw AccessoryError(.misconfigured, "the framing for \(label) is invalid: \(error)")
    }
    self.init(codec, label: label, options: options, opening: opening, answer: answer)
  }
}

extension FrameExchange where Codec == HeaderCodec {
  /// Rules for frames of a `HeaderFormat` with payloads of at most `maximumPayload` bytes. For the other parameters,
  /// see the general initializer. Throws `misconfigured` if such a framing is impossible.
  public init(
    _ format: HeaderFormat, maximumPayload: Int, label: String, options: Options = Options(), opening: Request? = nil,
    numbers: ClosedRange<UInt32> = 0 ... .max, firstNumber: UInt32? = nil, number: NumberWriter? = nil,
    answer: @escaping Matcher
  ) throws(AccessoryError) {
    let codec: HeaderCodec
    do throws(FramingParameterError) {
      codec = try HeaderCodec(format, maximumPayload: maximumPayload)
    } catch {
      throw AccessoryError(.misconfigured, "the framing for \(label) is invalid: \(error)")
    }
    self.init(
      codec, label: label, options: options, opening: opening, numbers: numbers, firstNumber: firstNumber,
      number: number, answer: answer)
  }
}
