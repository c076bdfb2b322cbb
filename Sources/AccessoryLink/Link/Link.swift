// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import AccessoryProtocols

/// Requests, replies and events over a session.
///
/// Bytes are decoded on the link's own serial dispatch queue; never on the I/O thread and never on the caller's run loop
/// or actor. A request is put together on the caller's thread, and its reply resumes the caller directly: what both sides
/// share is behind a lock. When the accessory goes, every request that waits fails with the same error, at once.
public final class Link<Rules: Exchange>: Sendable {
  /// The accessory's name for people.
  public let label: String

  let session: AccessorySession
  let clock: any TimerClock
  let state: Locked<LinkState<Rules>>
  private let queue: DispatchExecutor

  /// Events that a subscriber may be behind before it loses the oldest.
  private static var eventBuffer: Int { 256 }

  init(_ session: AccessorySession, rules: Rules, clock: any TimerClock) {
    self.session = session
    self.clock = clock
    label = session.label
    state = Locked(LinkState(rules: rules, timing: session.transport.timing, label: session.label))
    queue = DispatchExecutor(label: "accessory.link.\(session.label)")
  }

  /// Makes contact over a session, which belongs to the link from now on, and is closed if that fails.
  ///
  /// Throws `timedOut` when nobody answers, `disconnected`, `refused`, `unsupported` when it speaks another version.
  @specialized(where Rules == AF1Exchange)
  @specialized(where Rules == EV3Exchange)
  public static func open(
    _ session: AccessorySession, rules: Rules, clock: any TimerClock = IOThread.shared
  ) async throws(AccessoryError) -> Link {
    let link = Link(session, rules: rules, clock: clock)
    do throws(AccessoryError) {
      try await link.begin()
    } catch {
      await link.close()
      throw error
    }
    return link
  }

  deinit {
    let (timer, subscribers) = state.withLock {
      ($0.timer, Array($0.subscribers.values) + Array($0.followers.values))
    }
    if let timer { clock.cancel(timer.token) }
    for subscriber in subscribers { subscriber.finish() }
  }

  private func begin() async throws(AccessoryError) {
    session.transport.output.onSpace { [weak self] in self?.post { $0.change { _, _ in } } }
    session.transport.input.onReadable { [weak self] in self?.bytesArrived() }
    _ = try await complete { state, id, now in state.rules.begin(id, now: now, effects: &state.effects) }
  }

  /// Runs `body` on the link's queue, in the order of the calls.
  private func post(_ body: @escaping @Sendable (Link) -> Void) { queue.post { body(self) } }

  // MARK: - Requests

  /// Sends a request and waits for its reply.
  ///
  /// Throws `timedOut`, `refused`, `disconnected`, `cancelled` (the task was cancelled, or the link closed), `busy`
  /// when too many requests wait already.
  @specialized(where Rules == AF1Exchange)
  @specialized(where Rules == EV3Exchange)
  public func request(_ request: Rules.Request) async throws(AccessoryError) -> Rules.Reply {
    try await complete { state, id, now in state.rules.submit(id, request, now: now, effects: &state.effects) }
  }

  /// Sends a request, and gives with its reply the messages that come behind it: none that came before, and none is
  /// missing. Throws what `request` throws; the stream is as that of `events`.
  @specialized(where Rules == AF1Exchange)
  @specialized(where Rules == EV3Exchange)
  public func requestAndEvents(
    _ request: Rules.Request
  ) async throws(AccessoryError) -> (reply: Rules.Reply, events: AsyncThrowingStream<Rules.Event, any Error>) {
    let (stream, continuation) = AsyncThrowingStream<Rules.Event, any Error>.makeStream(
      bufferingPolicy: .bufferingNewest(Self.eventBuffer))
    let reply = try await complete { state, id, now in
      continuation.onTermination = { [weak self] _ in self?.forget(id) }
      state.followers[id] = continuation
      state.rules.submit(id, request, now: now, effects: &state.effects)
    }
    return (reply, stream)
  }

  private func complete(
    _ submit: (inout LinkState<Rules>, RequestID, MonotonicTime) -> Void
  ) async throws(AccessoryError) -> Rules.Reply {
    let id = state.withLock { $0.newID() }
    let mayDecode = isOnPool()
    return try await withTaskCancellationHandler {
      var result = await withCheckedContinuation { continuation in
        change { state, now in
          state.waiting[id] = continuation
          if !mayDecode { state.elsewhere.insert(id) }
          submit(&state, id, now)
          // The handler may have run before there was anything to cancel.
          if Task.isCancelled { state.rules.cancel(id, now: now, effects: &state.effects) }
        }
      }
      while result == nil {
        decodeHere()
        result = state.withLock { $0.takeResult(id) }
        if result == nil { result = await outcome(of: id) }
      }
      return result!
    } onCancel: {
      change { state, now in
        if state.isWaiting(id) { state.rules.cancel(id, now: now, effects: &state.effects) }
      }
    }.get()
  }

  /// Whether a task runs on the threads that serve all tasks: not on an actor's executor, nor on one that it prefers.
  private func isOnPool(_ isolation: (any Actor)? = #isolation) -> Bool {
    isolation == nil && withUnsafeCurrentTask { $0?.unownedTaskExecutor == nil }
  }

  /// What comes of a request; nil when what has arrived is to be decoded first.
  private func outcome(of id: RequestID) async -> Result<Rules.Reply, AccessoryError>? {
    await withCheckedContinuation { continuation in
      if let result = state.withLock({ $0.wait(id, continuation) }) { continuation.resume(returning: result) }
    }
  }

  // MARK: - Events

  /// The accessory's unsolicited messages from now on. Any number of subscribers; each may be 256 events behind, then
  /// it loses the oldest. Throws the link's error when the accessory goes, and ends normally when the link is closed.
  @specialized(where Rules == AF1Exchange)
  @specialized(where Rules == EV3Exchange)
  public func events() -> AsyncThrowingStream<Rules.Event, any Error> {
    let (stream, continuation) = AsyncThrowingStream<Rules.Event, any Error>.makeStream(
      bufferingPolicy: .bufferingNewest(Self.eventBuffer))
    let key = state.withLock { $0.newID() }
    continuation.onTermination = { [weak self] _ in self?.forget(key) }
    let ended = state.withLock { state in
      if state.ended == nil { state.subscribers[key] = continuation }
      return state.ended
    }
    if let ended { continuation.finish(throwing: ended.error) }
    return stream
  }

  private func forget(_ key: RequestID) {
    let subscribers = state.withLock {
      ($0.subscribers.removeValue(forKey: key), $0.followers.removeValue(forKey: key))
    }
    _ = subscribers  // let go outside the lock
  }

  /// What has been counted so far.
  public var statistics: LinkStatistics {
    state.withLock { state in
      LinkStatistics(
        link: state.rules.counters, frames: state.rules.codec.counters, droppedEvents: state.droppedEvents)
    }
  }

  /// The rules with what they have learned of the accessory.
  public var exchange: Rules { state.withLock { $0.rules } }

  // MARK: - Arrivals

  /// Called on the I/O thread: has what arrived decoded on the queue, by the one task that waits for it if there is one:
  /// it has to be woken anyway, and to wake a thread takes longer than all else that happens to a reply here.
  private func bytesArrived() {
    // Bytes may arrive while a request is queued, in this very call, where a transport answers at once.
    let task = state.withLockIfAvailable { $0.takeDecoder() } ?? nil
    if let task { task.resume(returning: nil) } else { post { $0.drain() } }
  }

  /// Decodes on the queue, by the thread of a task; a round at most, so that the task is not held up by what others get.
  private func decodeHere() {
    var hasMore = false
    queue.run { hasMore = receive() }
    if hasMore { post { $0.drain() } }
  }

  private func drain() { while receive() {} }

  private func receive() -> Bool {
    change { state, now in state.receive(from: session.transport.input, now: now) }
  }

  /// Changes the state under the lock and does what follows: bytes are queued and the timer is set before anybody else
  /// can change it again; callers and subscribers go on when the lock is free.
  @discardableResult
  private func change<Result>(_ body: (inout LinkState<Rules>, MonotonicTime) -> Result) -> Result {
    let (result, news) = state.withLock { state in
      let now = clock.now
      let result = body(&state, now)
      state.send(to: session.transport.output, now: now)
      arm(&state)
      return (result, state.takeNews())
    }
    // Events first: who has the reply finds what came before it.
    if !news.events.isEmpty || news.end != nil { tell(news) }
    for (continuation, result) in news.completions { continuation.resume(returning: result) }
    return result
  }

  private func tell(_ news: LinkState<Rules>.News) {
    var dropped: UInt64 = 0
    for (subscriber, skipped) in news.subscribers {
      for event in news.events.dropFirst(skipped) {
        if case .dropped = subscriber.yield(event) { dropped += 1 }
      }
      if let end = news.end { subscriber.finish(throwing: end.error) }
    }
    if dropped > 0 { state.withLock { $0.droppedEvents += dropped } }
  }

  // MARK: - Time

  /// Sees to it that the timer fires no later than the next deadline. One that fires too early costs one wake-up;
  /// moving it at every reply would cost more.
  private func arm(_ state: inout LinkState<Rules>) {
    guard let next = state.deadline else { return }
    if let timer = state.timer {
      if timer.deadline <= next { return }
      clock.cancel(timer.token)
    }
    let token = clock.schedule(at: next) { [weak self] in self?.post { $0.timerFired() } }
    state.timer = (next, token)
  }

  private func timerFired() {
    change { state, now in
      state.timer = nil
      state.timePassed(now: now)
    }
  }

  // MARK: - The end

  /// Closes the link and its session. Requests that wait fail with `cancelled`. Returns when the device is free.
  @specialized(where Rules == AF1Exchange)
  @specialized(where Rules == EV3Exchange)
  public func close() async {
    await session.close()
    change { state, _ in state.end(nil) }
  }
}
