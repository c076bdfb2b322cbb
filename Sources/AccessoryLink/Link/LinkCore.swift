// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryProtocols
import Synchronization

/// The implementation of a link. The core and the session's queues retain each other until the session ends. `Link` is
/// the object that programs retain; releasing it closes the core. There are no weak references to the core, because
/// they make reference counting slower.
final class LinkCore<Rules: Exchange>: Sendable {
  let session: AccessorySession
  let state: Locked<LinkState<Rules>>
  private let input: InputQueue
  private let output: OutputQueue
  private let clock: any TimerClock
  private let queue: DispatchExecutor
  private let lastID = Atomic<UInt64>(0)
  /// Whether a thread is in `change`, with the lock.
  private let isChanging = Atomic<Bool>(false)

  /// The number of events that are buffered for a subscriber before the oldest is dropped.
  private static var eventBuffer: Int { 256 }

  init(_ session: AccessorySession, rules: Rules, clock: any TimerClock) {
    self.session = session
    self.clock = clock
    input = session.transport.input
    output = session.transport.output
    state = Locked(LinkState(rules: rules, timing: session.transport.timing, label: session.label))
    queue = DispatchExecutor(label: "accessory.link.\(session.label)")
  }

  func begin() async throws(AccessoryError) {
    output.onSpace { self.post { $0.change { _, _ in } } }
    input.onReadable { self.bytesArrived() }
    _ = try await complete { state, id, now in state.report { $0.begin(id, now: now, effects: &$1) } }
  }

  /// Runs `body` on the link's queue, in the order of the calls.
  private func post(_ body: @escaping @Sendable (LinkCore) -> Void) { queue.post { body(self) } }

  // MARK: - Requests

  func request(_ request: Rules.Request) async throws(AccessoryError) -> Rules.Reply {
    try await complete { state, id, now in state.report { $0.submit(id, request, now: now, effects: &$1) } }
  }

  func requestAndEvents(
    _ request: Rules.Request, for owner: Link<Rules>
  ) async throws(AccessoryError) -> (reply: Rules.Reply, events: EventStream<Rules.Event>) {
    let (stream, continuation) = AsyncThrowingStream<Rules.Event, any Error>.makeStream(
      bufferingPolicy: .bufferingNewest(Self.eventBuffer))
    let reply = try await complete { state, id, now in
      continuation.onTermination = { _ in withExtendedLifetime(owner) { self.forget(id) } }
      state.followers[id] = continuation
      state.report { $0.submit(id, request, now: now, effects: &$1) }
    }
    return (reply, EventStream(stream))
  }

  private func newID() -> RequestID { RequestID(rawValue: lastID.add(1, ordering: .relaxed).newValue) }

  private func complete(
    _ submit: (inout LinkState<Rules>, RequestID, MonotonicTime) -> Void
  ) async throws(AccessoryError) -> Rules.Reply {
    let id = newID()
    let mayDecode = isOnPool()
    return try await withTaskCancellationHandler {
      var result = await withUnsafeContinuation { continuation in
        change { state, now in
          state.waiting[id] = continuation
          if !mayDecode { state.nonDecodingRequests.insert(id) }
          submit(&state, id, now)
          // The cancellation handler may have run before the request was submitted.
          if Task.isCancelled { state.cancel(id, now: now) }
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
        if state.isWaiting(id) { state.cancel(id, now: now) }
      }
    }.get()
  }

  /// Whether the calling task runs on the threads that serve all tasks, and not on an actor's executor or on a
  /// preferred task executor.
  private func isOnPool(_ isolation: (any Actor)? = #isolation) -> Bool {
    isolation == nil && withUnsafeCurrentTask { $0?.unownedTaskExecutor == nil }
  }

  /// The result of a request; nil when the task was resumed to decode bytes.
  private func outcome(of id: RequestID) async -> Result<Rules.Reply, AccessoryError>? {
    await withUnsafeContinuation { continuation in
      if let result = state.withLock({ $0.wait(id, continuation) }) { continuation.resume(returning: result) }
    }
  }

  // MARK: - Events

  /// The stream's continuation retains the link, until the stream ends or is released.
  func events(of owner: Link<Rules>) -> EventStream<Rules.Event> {
    let (stream, continuation) = AsyncThrowingStream<Rules.Event, any Error>.makeStream(
      bufferingPolicy: .bufferingNewest(Self.eventBuffer))
    let key = newID()
    continuation.onTermination = { _ in withExtendedLifetime(owner) { self.forget(key) } }
    let ended = state.withLock { state in
      if state.ended == nil { state.subscribers[key] = continuation }
      return state.ended
    }
    if let ended { continuation.finish(throwing: ended.error) }
    return EventStream(stream)
  }

  private func forget(_ key: RequestID) {
    let subscribers = state.withLock {
      ($0.subscribers.removeValue(forKey: key), $0.followers.removeValue(forKey: key))
    }
    _ = subscribers  // released outside the lock
  }

  // MARK: - Arrivals

  /// Called on the I/O thread. Lets the queue decode the bytes that have arrived, or the waiting task if there is
  /// exactly one. That task must be woken anyway, and waking a thread takes longer than everything else that a reply
  /// needs here.
  private func bytesArrived() {
    // If a transport answers at once, bytes may arrive within the call that queues the request and has the lock. Asking for a lock
    // that the same thread has ends the program with Swift 6.2.
    let task = isChanging.load(ordering: .relaxed) ? nil : state.withLockIfAvailable { $0.takeDecoder() } ?? nil
    if let task { task.resume(returning: nil) } else { post { $0.drain() } }
  }

  /// Decodes on the thread of the calling task, which belongs to a dispatch queue. It decodes one round at most, so
  /// that replies to other tasks don't delay this task. With subscribers, this must run on the link's queue, which
  /// keeps their events in order; without them, the lock suffices. When the queue is busy, the queue decodes these
  /// bytes as well, and no thread is blocked.
  private func decodeHere() {
    var hasMore = change { state, now in state.isUnattended ? state.receive(from: input, now: now) : nil }
    if hasMore == nil, !queue.runIfIdle({ hasMore = receive() }) { hasMore = true }
    if hasMore == true { post { $0.drain() } }
  }

  /// Decodes one round at a time: links share a few threads, and a device that sends without a pause must not keep one
  /// busy.
  private func drain() { if receive() { post { $0.drain() } } }

  private func receive() -> Bool {
    change { state, now in state.receive(from: input, now: now) }
  }

  /// Changes the state under the lock and carries out the effects. Bytes are queued and the timer is set while the lock
  /// is held; callers and subscribers are resumed after it is released.
  @discardableResult
  private func change<Result>(_ body: (inout LinkState<Rules>, MonotonicTime) -> Result) -> Result {
    let (result, news) = state.withLock { state in
      isChanging.store(true, ordering: .relaxed)
      defer { isChanging.store(false, ordering: .relaxed) }
      let now = clock.now
      state.follow(session.transport.timing)
      let result = body(&state, now)
      state.send(to: output, now: now)
      arm(&state)
      return (result, state.takeNotifications())
    }
    // Events are delivered first, so that a caller that has its reply also finds the events from before it.
    if !news.events.isEmpty || news.end != nil { report(news) }
    for (continuation, result) in news.completions { continuation.resume(returning: result) }
    return result
  }

  private func report(_ news: LinkState<Rules>.Notifications) {
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

  /// Makes sure that the timer fires no later than the next deadline. Firing too early costs one wake-up; moving the
  /// timer at every reply would cost more.
  private func arm(_ state: inout LinkState<Rules>) {
    guard let next = state.deadline else { return }
    if let timer = state.timer {
      if timer.deadline <= next { return }
      clock.cancel(timer.token)
    }
    let token = clock.schedule(at: next) {
      // Read here and not on the queue: whether the line was silent must not depend on how late the queue runs.
      let (now, isSilent) = (self.clock.now, !self.input.hasBytesAvailable)
      self.post { $0.timerFired(at: now, isSilent: isSilent) }
    }
    state.timer = (next, token)
  }

  /// Handles the timer, which fired at `moment`; `isSilent` is whether all received bytes had been decoded then. Bytes
  /// that have arrived are decoded before timeouts are checked: the task that should decode them may not have run yet,
  /// and a reply that has arrived isn't late.
  private func timerFired(at moment: MonotonicTime, isSilent: Bool) {
    let hasMore = change { state, now in
      state.timer = nil
      if isSilent { state.wasSilent(until: moment) }
      let hasMore = state.receive(from: input, now: now)
      state.timePassed(now: now)
      return hasMore
    }
    if hasMore { post { $0.drain() } }
  }

  // MARK: - Ending

  func close() async {
    await session.close()
    change { state, _ in state.end(nil) }
  }

  /// Closes the session without waiting. Only subscribers are left to notify.
  func abandon() {
    change { state, _ in state.end(nil) }
    let (timer, followers) = state.withLock { state in
      defer { (state.timer, state.followers) = (nil, [:]) }
      return (state.timer, state.followers)
    }
    if let timer { clock.cancel(timer.token) }
    for follower in followers.values { follower.finish() }
    session.transport.beginClose()
  }
}
