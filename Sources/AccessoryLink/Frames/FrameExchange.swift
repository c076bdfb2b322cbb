// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryProtocols
import DequeModule

/// Rules for requests and replies over any framing, for protocols without special rules.
///
/// A protocol says how frames are cut (`codec`) and, by a closure, which frame answers which request. Where frames carry
/// a number, a second closure writes it into a request; then several requests may be unanswered at a time. Where they
/// don't, each request waits for the end of the one before (stop and wait). A frame that answers nothing is an event.
///
///     let rules = FrameExchange(codec, label: session.label) { frame, request in
///       frame.header == request.header ? .reply : .unrelated
///     }
///     let link = try await Link.open(session, rules: rules)
///     let reply = try await link.ask(FrameRequest(Frame(header), name: "BATTERY", isIdempotent: true))
///
/// **Replies that come too late.** Replies to requests that were given up, and second replies to requests that were sent
/// again, are counted and dropped, for 10 s. Without numbers such a reply can't be told from that to a request of the same
/// kind which is on its way: give such protocols time limits that a reply never exceeds. For the same reason a request
/// without a number that is cancelled on its way keeps its place until its reply has come or its time is over.
public struct FrameExchange<Codec: FrameCodec>: Exchange {
  /// A frame of the codec.
  public typealias Message = Frame<Codec.Header>
  /// A request of the codec.
  public typealias Request = FrameRequest<Codec.Header>
  /// The reply; nil for a request that isn't answered.
  public typealias Reply = Message?
  /// A frame that answers nothing.
  public typealias Event = Message

  /// What can be set.
  public struct Options: Sendable, Hashable {
    /// Times that an idempotent request is sent before it fails as `timedOut`; any other is sent once. The default is
    /// 3.
    public var tries = 3
    /// Time for an answer, not counting the time on the wire. The default is 500 ms.
    public var timeout = Duration.milliseconds(500)
    /// Bytes of the largest reply, for the time on the wire. The default is 256.
    public var largestReply = 256
    /// When the next request may be sent. A window above 1 needs numbers. The default is `reply`.
    public var pacing = Pacing.reply
    /// Requests that may wait for their turn. The default is 64.
    public var queueLimit = 64
    /// Which request fails with `busy` when too many wait; the new one by default.
    public var overflow = Overflow.refuse

    /// Three tries of 500 ms, 64 waiting requests.
    public init() {}
  }

  /// Which frame answers which request: the frame that arrived, and the request's as it was sent.
  public typealias Matcher = @Sendable (_ arrived: Message, _ request: Message) -> FrameAnswer
  /// Writes a request's number into its frame.
  public typealias NumberWriter = @Sendable (_ frame: inout Message, _ number: UInt32) -> Void

  /// How frames are cut.
  public var codec: Codec
  /// The counters so far.
  public internal(set) var counters = LinkCounters()

  let label: String
  let options: Options
  let matcher: Matcher
  let numberer: NumberWriter?
  let numbers: ClosedRange<UInt32>
  private let opening: Request?
  var timing = LineTiming.instant
  var queue: RequestQueue<Request>
  /// What was sent and has neither been answered nor given up.
  var outstanding: [Attempt] = []
  /// Requests that are over and may still be answered, oldest first.
  var past: Deque<Past> = []
  var nextNumber: UInt32
  var lastSerial: UInt64 = 0
  /// When the next request may be sent, by the pacing's gap.
  var nextSending = MonotonicTime(nanoseconds: .min)
  /// Whether the next request only waits for space in the transport.
  var waitsForSpace = false
  var phase = Phase.closed
  var scratch = FrameBatch<Codec.Header>()
  /// The payload that is looked at: storage that is used again.
  var looked: [UInt8] = []

  enum Phase: Sendable {
    case closed
    case ready
    case ended(AccessoryError)
  }

  /// Rules for a new opening.
  ///
  /// - Parameters:
  ///   - codec: How frames are cut.
  ///   - label: The accessory's name in errors.
  ///   - opening: What is asked first, to see that the accessory is there; nil: contact is made at once.
  ///   - numbers: Which numbers requests may have; they are used one after another, and not while one is unanswered.
  ///   - firstNumber: Random by default, so that no late answer to an earlier program is taken for one to this program.
  ///   - number: Writes a request's number into its frame; nil where frames have none.
  ///   - answer: Which frame answers which request. It runs under the link's lock and must not wait.
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
    numberer = number
    matcher = answer
    let first = firstNumber ?? .random(in: numbers)
    nextNumber = numbers.contains(first) ? first : numbers.lowerBound
    queue = RequestQueue(limit: options.queueLimit, overflow: options.overflow)
  }

  /// Learns how long bytes take.
  public mutating func setTiming(_ timing: LineTiming) { self.timing = timing }

  /// When an outstanding request must be repeated or given up, or the next request may be sent.
  public var deadline: MonotonicTime? {
    var earliest = !queue.isEmpty && hasRoom && !waitsForSpace ? nextSending : nil
    for attempt in outstanding { earliest = min(earliest ?? attempt.deadline, attempt.deadline) }
    return earliest
  }

  /// Asks the opening request, if there is one.
  public mutating func begin(_ id: RequestID, now: MonotonicTime, effects: inout Effects<Reply, Event>) {
    if case .ended(let error) = phase { return effects.completions.append((id, .failure(error))) }
    if let opening { return start(opening, id, isOpening: true, now: now, effects: &effects) }
    phase = .ready
    effects.completions.append((id, .success(nil)))
  }

  /// Queues a request. It is completed with `busy` when too many wait, and when its turn comes with `misconfigured` if
  /// the framing has no such frame.
  public mutating func submit(
    _ id: RequestID, _ request: Request, now: MonotonicTime, effects: inout Effects<Reply, Event>
  ) {
    switch phase {
    case .ended(let error): return effects.completions.append((id, .failure(error)))
    case .closed:
      let error = AccessoryError(.ioFailure, "\(label) has not been asked for contact")
      return effects.completions.append((id, .failure(error)))
    case .ready: break
    }
    queue.admit(id, request, for: label, counters: &counters, effects: &effects)
    sendNext(now: now, effects: &effects)
  }

  /// Gives up a request. If it was sent, the accessory may have run it; its reply will be dropped.
  public mutating func cancel(_ id: RequestID, now: MonotonicTime, effects: inout Effects<Reply, Event>) {
    if let place = outstanding.firstIndex(where: { $0.id == id }) {
      if numberer == nil && !outstanding[place].isOpening {
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

  /// Fails everything that waits, and all that comes.
  public mutating func end(_ error: AccessoryError, effects: inout Effects<Reply, Event>) {
    if case .ended = phase { return }
    phase = .ended(error)
    for id in outstanding.compactMap(\.id) + queue.removeAll() { effects.completions.append((id, .failure(error))) }
    (outstanding, past) = ([], [])
    (effects.output, effects.messages) = ([], [])
  }
}

extension FrameExchange where Codec == HeaderCodec {
  /// Rules for frames of a `HeaderFormat` with payloads of at most `maximumPayload` bytes; the other parameters are those
  /// of the general initializer. Throws `misconfigured` if there can be no such frames.
  public init(
    _ format: HeaderFormat, maximumPayload: Int, label: String, options: Options = Options(), opening: Request? = nil,
    numbers: ClosedRange<UInt32> = 0 ... .max, firstNumber: UInt32? = nil, number: NumberWriter? = nil,
    answer: @escaping Matcher
  ) throws(AccessoryError) {
    let codec: HeaderCodec
    do throws(FramingParameterError) {
      codec = try HeaderCodec(format, maximumPayload: maximumPayload)
    } catch {
      throw AccessoryError(.misconfigured, "\(label) can't have such frames: \(error)")
    }
    self.init(
      codec, label: label, options: options, opening: opening, numbers: numbers, firstNumber: firstNumber,
      number: number, answer: answer)
  }
}
