// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryProtocols

/// What a link has behind its lock.
struct LinkState<Rules: Exchange>: Sendable {
  /// Resumed with nil, a task is to decode what has arrived, and then to wait again. Resumed once by whoever takes it
  /// out of `waiting`, under the lock; a checked one would cost an allocation for each request.
  typealias Continuation = UnsafeContinuation<Result<Rules.Reply, AccessoryError>?, Never>
  typealias Subscriber = AsyncThrowingStream<Rules.Event, any Error>.Continuation

  /// How a link ended.
  struct End: Sendable {
    /// Nil: it was closed here.
    var error: AccessoryError?
  }

  /// What others are to be told when the lock is free.
  struct News {
    var completions: [(Continuation, Result<Rules.Reply, AccessoryError>)] = []
    var events: [Rules.Event] = []
    /// Each with the number of these events that came before it was admitted.
    var subscribers: [(subscriber: Subscriber, skipped: Int)] = []
    var end: End?
  }

  var rules: Rules
  var effects = Effects<Rules.Reply, Rules.Event>(wantsEvents: false)
  var waiting: [RequestID: Continuation] = [:]
  /// Whose task runs where it would hold up others by decoding: on an actor, or on an executor of its own.
  var elsewhere: Set<RequestID> = []
  /// Whose task is decoding, and what has come of its request meanwhile.
  private var decoder: (id: RequestID, result: Result<Rules.Reply, AccessoryError>?)?
  var subscribers: [RequestID: Subscriber] = [:] { didSet { effects.wantsEvents = !isUnattended } }
  /// Who is to get the events behind the reply to a request, by that request.
  var followers: [RequestID: Subscriber] = [:] { didSet { effects.wantsEvents = !isUnattended } }
  var droppedEvents: UInt64 = 0
  var ended: End?
  var timer: (deadline: MonotonicTime, token: TimerToken)?

  private let label: String
  private var batch = FrameBatch<Rules.Codec.Header>()
  private var buffer: [UInt8] = []
  private var messages: [Int] = []
  /// When the line counts as silent, if an unfinished frame waits for it.
  private var silence: MonotonicTime?
  private var timing: LineTiming
  private var mustTellEnd = false
  /// Deadlines up to this moment are over: the rules were told, and named one of these again.
  private var over: MonotonicTime?
  /// When they are told once more all the same, since they did something the last time.
  private var again: MonotonicTime?
  /// Events of this round that came before a subscriber was admitted.
  private var skipped: [RequestID: Int] = [:]

  init(rules: Rules, timing: LineTiming, label: String) {
    self.rules = rules
    self.label = label
    self.timing = timing
    self.rules.setTiming(timing)
  }

  /// Has what is sent from now on go by `timing`.
  mutating func follow(_ timing: LineTiming) {
    guard timing != self.timing else { return }
    self.timing = timing
    rules.setTiming(timing)
  }

  /// When `timePassed` must be called next.
  var deadline: MonotonicTime? {
    var own = rules.deadline
    if let named = own, let over, named <= over { own = again }
    return switch (own, silence) {
    case (let deadline?, let silence?): min(deadline, silence)
    case (let deadline, let silence): deadline ?? silence
    }
  }

  /// The rules are told something: a deadline of theirs that has passed counts once more.
  mutating func tell(_ body: (inout Rules, inout Effects<Rules.Reply, Rules.Event>) -> Void) {
    (over, again) = (nil, nil)
    body(&rules, &effects)
  }

  /// Gives a request up; the link completes it where the rules don't.
  mutating func cancel(_ id: RequestID, now: MonotonicTime) {
    tell { $0.cancel(id, now: now, effects: &$1) }
    if !effects.completions.contains(where: { $0.id == id }) {
      effects.completions.append((id, .failure(AccessoryError(.cancelled, "a request to \(label) was cancelled"))))
    }
  }

  // MARK: - Who waits

  /// Whether a request is not over.
  func isWaiting(_ id: RequestID) -> Bool {
    waiting[id] != nil || decoder.map { $0.id == id && $0.result == nil } ?? false
  }

  /// Nobody is subscribed, or will be with the next reply.
  var isUnattended: Bool { subscribers.isEmpty && followers.isEmpty }

  /// The task that is to decode what arrives: the only one that waits for anything, if its thread is fit for that. It is
  /// to be resumed with nil.
  mutating func takeDecoder() -> Continuation? {
    guard waiting.count == 1, decoder == nil, elsewhere.isEmpty, isUnattended,
      let (id, continuation) = waiting.popFirst()
    else { return nil }
    decoder = (id, nil)
    return continuation
  }

  /// What has come of a request while its task was decoding.
  mutating func takeResult(_ id: RequestID) -> Result<Rules.Reply, AccessoryError>? {
    guard decoder?.id == id, let result = decoder?.result else { return nil }
    decoder = nil
    return result
  }

  /// The task that has decoded waits again; unless its request is over.
  mutating func wait(_ id: RequestID, _ continuation: Continuation) -> Result<Rules.Reply, AccessoryError>? {
    if let result = takeResult(id) { return result }
    decoder = nil
    waiting[id] = continuation
    return nil
  }

  // MARK: - What happens

  /// Takes what has arrived and hands its frames to the rules; false when there is nothing more, so that whoever is
  /// resumed with a reply finds the lock free. A device that sends without a pause is left in between.
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
    if batch.count > 0 { (over, again) = (nil, nil) }
    for index in 0..<batch.count {
      rules.receive(batch, at: index, now: now, effects: &effects)
      if !followers.isEmpty { admitFollowers() }
    }
    batch.removeAll()
  }

  /// Nothing came until `moment`.
  mutating func wasSilent(until moment: MonotonicTime) {
    guard let silence, silence <= moment else { return }
    self.silence = nil
    rules.codec.idle(into: &batch)
    deliver(now: moment)
  }

  /// Tells the rules that time has passed. A deadline in the past counts once: rules that go on naming one are not told
  /// again at once, and without end, but when something else happens; or, where they did something, after a pause.
  mutating func timePassed(now: MonotonicTime) {
    let before = effects.output.count + effects.completions.count
    tell { $0.timePassed(now: now, effects: &$1) }
    guard let deadline = rules.deadline, deadline <= now else { return }
    over = now
    if effects.output.count + effects.completions.count != before { again = now + Self.shortestPause }
  }

  private static var shortestPause: Duration { .milliseconds(1) }

  mutating func end(_ error: AccessoryError?) {
    guard ended == nil else { return }
    ended = End(error: error)
    mustTellEnd = true
    silence = nil
    rules.end(error ?? .closed(label), effects: &effects)
  }

  // MARK: - What follows

  /// Queues what is to be written; what there is no space for waits until the next call. Rules that held back for want
  /// of space are told when there is some.
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

  /// True when all of it was taken, or there is nobody to take it.
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

  /// Makes subscribers of those whose request is answered: what comes from here on is for them.
  private mutating func admitFollowers() {
    for completion in effects.completions {
      guard let follower = followers.removeValue(forKey: completion.id) else { continue }
      subscribers[completion.id] = follower
      skipped[completion.id] = effects.events.count
    }
  }

  /// Completes what the rules have left out at the end: nobody waits for a link that is over.
  private mutating func completeForgotten(_ error: AccessoryError, _ news: inout News) {
    if let decoder, decoder.result == nil { self.decoder?.result = .failure(error) }
    guard !waiting.isEmpty else { return }
    for continuation in waiting.values { news.completions.append((continuation, .failure(error))) }
    (waiting, elsewhere) = ([:], [])
  }

  mutating func takeNews() -> News {
    if !followers.isEmpty { admitFollowers() }
    defer { skipped.removeAll(keepingCapacity: true) }
    var news = News()
    for completion in effects.completions {
      if let continuation = waiting.removeValue(forKey: completion.id) {
        if !elsewhere.isEmpty { elsewhere.remove(completion.id) }
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
