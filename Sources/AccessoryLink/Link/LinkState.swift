// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryProtocols

/// The state of a link that its lock protects.
struct LinkState<Rules: Exchange>: Sendable {
  /// A waiting task. When it is resumed with nil, it decodes the bytes that have arrived, and waits again. The code
  /// that removes it from `waiting` under the lock resumes it once. A checked continuation would cost an allocation for
  /// each request.
  typealias Continuation = UnsafeContinuation<Result<Rules.Reply, AccessoryError>?, Never>
  typealias Subscriber = AsyncThrowingStream<Rules.Event, any Error>.Continuation

  /// How a link ended.
  struct End: Sendable {
    /// Nil when this program closed the link.
    var error: AccessoryError?
  }

  /// Notifications to deliver after the lock is released.
  struct Notifications {
    var completions: [(Continuation, Result<Rules.Reply, AccessoryError>)] = []
    var events: [Rules.Event] = []
    /// Subscribers, each with the number of these events that came before it subscribed.
    var subscribers: [(subscriber: Subscriber, skipped: Int)] = []
    var end: End?
  }

  var rules: Rules
  var effects = Effects<Rules.Reply, Rules.Event>(wantsEvents: false)
  var waiting: [RequestID: Continuation] = [:]
  /// Requests whose tasks must not decode, because they run on an actor or on a preferred task executor.
  var nonDecodingRequests: Set<RequestID> = []
  /// The request whose task is decoding, and its result if it was completed meanwhile.
  private var decoder: (id: RequestID, result: Result<Rules.Reply, AccessoryError>?)?
  var subscribers: [RequestID: Subscriber] = [:] { didSet { effects.wantsEvents = !isUnattended } }
  /// Subscribers that start receiving events after the reply to their request, by that request.
  var followers: [RequestID: Subscriber] = [:] { didSet { effects.wantsEvents = !isUnattended } }
  var droppedEvents: UInt64 = 0
  var ended: End?
  var timer: (deadline: MonotonicTime, token: TimerToken)?

  private let label: String
  private var batch = FrameBatch<Rules.Codec.Header>()
  private var buffer: [UInt8] = []
  private var messages: [Int] = []
  /// When the line counts as silent, if an unfinished frame is waiting for more bytes.
  private var silence: MonotonicTime?
  private var timing: LineTiming
  private var mustTellEnd = false
  /// Set when the rules still returned a deadline in the past after `timePassed`: deadlines up to this time are
  /// ignored.
  private var lastIgnoredDeadline: MonotonicTime?
  /// When `timePassed` is called again nevertheless, because the rules acted the last time.
  private var nextCall: MonotonicTime?
  /// The number of this round's events that came before a subscriber was added.
  private var skipped: [RequestID: Int] = [:]

  init(rules: Rules, timing: LineTiming, label: String) {
    self.rules = rules
    self.label = label
    self.timing = timing
    self.rules.setTiming(timing)
  }

  /// Uses `timing` for everything that is sent from now on.
  mutating func follow(_ timing: LineTiming) {
    guard timing != self.timing else { return }
    self.timing = timing
    rules.setTiming(timing)
  }

  /// When `timePassed` must be called next.
  var deadline: MonotonicTime? {
    var own = rules.deadline
    if let named = own, let lastIgnoredDeadline, named <= lastIgnoredDeadline { own = nextCall }
    return switch (own, silence) {
    case (let deadline?, let silence?): min(deadline, silence)
    case (let deadline, let silence): deadline ?? silence
    }
  }

  /// Reports an event to the rules. After that, a deadline in the past counts again.
  mutating func report(_ body: (inout Rules, inout Effects<Rules.Reply, Rules.Event>) -> Void) {
    (lastIgnoredDeadline, nextCall) = (nil, nil)
    body(&rules, &effects)
  }

  /// Cancels a request. If the rules don't complete it, this does.
  mutating func cancel(_ id: RequestID, now: MonotonicTime) {
    report { $0.cancel(id, now: now, effects: &$1) }
    if !effects.completions.contains(where: { $0.id == id }) {
      effects.completions.append((id, .failure(AccessoryError(.cancelled, "a request to \(label) was cancelled"))))
    }
  }

  // MARK: - Waiting tasks

  /// Whether a request isn't complete.
  func isWaiting(_ id: RequestID) -> Bool {
    waiting[id] != nil || decoder.map { $0.id == id && $0.result == nil } ?? false
  }

  /// True if there are no subscribers, including those that wait for a reply.
  var isUnattended: Bool { subscribers.isEmpty && followers.isEmpty }

  /// Removes and returns the task that should decode the arriving bytes: the only waiting one, if it may decode. The
  /// caller must resume it with nil.
  mutating func takeDecoder() -> Continuation? {
    guard waiting.count == 1, decoder == nil, nonDecodingRequests.isEmpty, isUnattended,
      let (id, continuation) = waiting.popFirst()
    else { return nil }
    decoder = (id, nil)
    return continuation
  }

  /// The result of a request that was completed while its own task was decoding.
  mutating func takeResult(_ id: RequestID) -> Result<Rules.Reply, AccessoryError>? {
    guard decoder?.id == id, let result = decoder?.result else { return nil }
    decoder = nil
    return result
  }

  /// Lets the task that has decoded wait again. Returns the result instead if its request was completed meanwhile.
  mutating func wait(_ id: RequestID, _ continuation: Continuation) -> Result<Rules.Reply, AccessoryError>? {
    if let result = takeResult(id) { return result }
    decoder = nil
    waiting[id] = continuation
    return nil
  }

  // MARK: - Events

  /// Decodes the bytes that have arrived and passes their frames to the rules. Returns false when no more bytes have
  /// arrived. Returns true after a few pieces, even if more arrive, so that a device that sends without a pause doesn't
  /// keep the lock.
  mutating func receive(from input: InputQueue, now: MonotonicTime) -> Bool {
    for _ in 0..<Self.piecesAtATime {
      switch input.take(into: &buffer, messages: &messages) {
      case .nothing: return false
      case .bytes:
        decode(keepsMessages: input.keepsMessages)
        silence = rules.codec.hasUnfinishedFrame ? now + timing.silence : nil
        deliver(now: now)
      case .end(let error):
        end(error)
        return false
      }
    }
    return true
  }

  private static var piecesAtATime: Int { 4 }

  private mutating func decode(keepsMessages: Bool) {
    let bytes = buffer
    guard keepsMessages else { return rules.codec.decode(bytes.span.bytes, into: &batch) }
    var start = 0
    for count in messages {
      rules.decode(message: bytes.span.bytes.extracting(start..<(start + count)), into: &batch)
      start += count
    }
  }

  private mutating func deliver(now: MonotonicTime) {
    if batch.count > 0 { (lastIgnoredDeadline, nextCall) = (nil, nil) }
    for index in 0..<batch.count {
      rules.receive(batch, at: index, now: now, effects: &effects)
      if !followers.isEmpty { admitFollowers() }
    }
    batch.removeAll()
  }

  /// Reports that no bytes came until `moment`.
  mutating func wasSilent(until moment: MonotonicTime) {
    guard let silence, silence <= moment else { return }
    self.silence = nil
    rules.codec.idle(into: &batch)
    deliver(now: moment)
  }

  /// Reports to the rules that time has passed. A deadline in the past counts once: if the rules still return it, they
  /// are called again only after another event, or after a pause if they acted. So there is no endless loop.
  mutating func timePassed(now: MonotonicTime) {
    let before = effects.output.count + effects.completions.count
    report { $0.timePassed(now: now, effects: &$1) }
    guard let deadline = rules.deadline, deadline <= now else { return }
    lastIgnoredDeadline = now
    if effects.output.count + effects.completions.count != before { nextCall = now + Self.shortestPause }
  }

  private static var shortestPause: Duration { .milliseconds(1) }

  mutating func end(_ error: AccessoryError?) {
    guard ended == nil else { return }
    ended = End(error: error)
    mustTellEnd = true
    silence = nil
    rules.end(error ?? .closed(label), effects: &effects)
  }

  // MARK: - Output and results

  /// Queues the bytes to write. Bytes without space wait for the next call. When space returns after it was lacking,
  /// `timePassed` of the rules is called, because they may have waited for space.
  mutating func send(to output: OutputQueue, now: MonotonicTime) {
    while !effects.output.isEmpty {
      guard offer(to: output) else {
        effects.isBlocked = true
        return
      }
      guard effects.isBlocked else { return }
      effects.isBlocked = false
      timePassed(now: now)
    }
  }

  /// True if the transport accepted all bytes, or is closed.
  private mutating func offer(to output: OutputQueue) -> Bool {
    if !output.keepsMessages || effects.messages.isEmpty {
      guard output.offer(effects.output) != .full else { return false }
    } else {
      var (start, taken) = (0, 0)
      for count in effects.messages {
        let end = min(start + count, effects.output.count)
        let offered = output.offer(effects.output.span.bytes.extracting(start..<end))
        if offered == .full { break }
        (start, taken) = (end, taken + 1)
      }
      if taken < effects.messages.count {
        effects.output.removeFirst(start)
        effects.messages.removeFirst(taken)
        return false
      }
    }
    effects.output.removeAll(keepingCapacity: true)
    effects.messages.removeAll(keepingCapacity: true)
    return true
  }

  /// Turns followers whose request was answered into subscribers, which get the events from now on.
  private mutating func admitFollowers() {
    for completion in effects.completions {
      guard let follower = followers.removeValue(forKey: completion.id) else { continue }
      subscribers[completion.id] = follower
      skipped[completion.id] = effects.events.count
    }
  }

  /// Completes the requests that the rules haven't completed at the end, so that no caller waits for ever.
  private mutating func completeForgotten(_ error: AccessoryError, _ news: inout Notifications) {
    if let decoder, decoder.result == nil { self.decoder?.result = .failure(error) }
    guard !waiting.isEmpty else { return }
    for continuation in waiting.values { news.completions.append((continuation, .failure(error))) }
    (waiting, nonDecodingRequests) = ([:], [])
  }

  mutating func takeNotifications() -> Notifications {
    if !followers.isEmpty { admitFollowers() }
    defer { skipped.removeAll(keepingCapacity: true) }
    var news = Notifications()
    for completion in effects.completions {
      if let continuation = waiting.removeValue(forKey: completion.id) {
        if !nonDecodingRequests.isEmpty { nonDecodingRequests.remove(completion.id) }
        news.completions.append((continuation, completion.result))
      } else if let decoder, decoder.id == completion.id, decoder.result == nil {
        self.decoder?.result = completion.result
      }
    }
    effects.completions.removeAll(keepingCapacity: true)
    if let ended { completeForgotten(ended.error ?? .closed(label), &news) }
    guard !effects.events.isEmpty || mustTellEnd else { return news }
    swap(&news.events, &effects.events)
    news.subscribers = subscribers.map { ($0.value, skipped[$0.key] ?? 0) }
    if mustTellEnd {
      mustTellEnd = false
      news.end = ended
      subscribers = [:]
    }
    return news
  }
}
