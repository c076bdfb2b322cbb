// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import AccessoryProtocols

/// Requests, replies and events over a session.
///
/// Bytes are decoded on the link's own serial dispatch queue, on which this actor runs; never on the I/O thread and
/// never on the caller's. When the accessory goes, every request that waits fails with the same error, at once.
public actor Link<Rules: Exchange> {
  private nonisolated let executor: DispatchExecutor
  private let session: AccessorySession
  private let clock: any TimerClock

  private var rules: Rules
  private var effects = Effects<Rules.Reply, Rules.Event>()
  private var batch = FrameBatch<Rules.Codec.Header>()
  private var buffer: [UInt8] = []
  private var nextID: UInt64 = 0
  private var waiting: [RequestID: CheckedContinuation<Result<Rules.Reply, AccessoryError>, Never>] = [:]
  private var subscribers: [UInt64: AsyncThrowingStream<Rules.Event, any Error>.Continuation] = [:]
  private var droppedEvents: UInt64 = 0
  private var ended: Result<Void, AccessoryError>?
  /// When the line counts as silent, if an unfinished frame waits for it.
  private var silence: MonotonicTime?
  private var timer: (deadline: MonotonicTime, token: TimerToken)?

  /// The accessory's name for people.
  public nonisolated let label: String

  /// The link's dispatch queue.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// Events that a subscriber may be behind before it loses the oldest.
  private static var eventBuffer: Int { 256 }
  /// The shortest silence that ends an unfinished frame's hold on what follows it; on slow lines it is longer.
  private static var shortestSilence: Duration { .milliseconds(50) }
  private static var silentCharacters: Int { 20 }

  /// A link over `session`, which belongs to it from now on. Call `open` before the first request.
  init(_ session: AccessorySession, rules: Rules, clock: any TimerClock) {
    self.session = session
    self.rules = rules
    self.clock = clock
    label = session.label
    executor = DispatchExecutor(label: "accessory.link.\(session.label)")
  }

  /// Makes contact over a session, which belongs to the link from now on, and is closed if that fails.
  ///
  /// Throws `timedOut` when nobody answers, `disconnected`, `refused`, `unsupported` when it speaks another version.
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
    if let timer { clock.cancel(timer.token) }
    for subscriber in subscribers.values { subscriber.finish() }
  }

  private func begin() async throws(AccessoryError) {
    rules.setTiming(session.transport.timing)
    session.transport.output.onSpace { [weak self] in self?.post { $0.perform() } }
    session.transport.input.onReadable { [weak self] in self?.post { $0.drain() } }
    _ = try await complete { link, id in link.rules.begin(id, now: link.clock.now, effects: &link.effects) }
  }

  /// Runs `body` on the link's queue, in the order of the calls.
  private nonisolated func post(_ body: @escaping @Sendable (isolated Link) -> Void) {
    executor.post { self.assumeIsolated(body) }
  }

  // MARK: - Requests

  /// Sends a request and waits for its reply.
  ///
  /// Throws `timedOut`, `refused`, `disconnected`, `cancelled` (the task was cancelled, or the link closed), `busy`
  /// when too many requests wait already.
  public func request(_ request: Rules.Request) async throws(AccessoryError) -> Rules.Reply {
    try await complete { link, id in
      link.rules.submit(id, request, now: link.clock.now, effects: &link.effects)
    }
  }

  private func complete(
    _ submit: (isolated Link, RequestID) -> Void
  ) async throws(AccessoryError) -> Rules.Reply {
    let id = RequestID(rawValue: nextID)
    nextID += 1
    return try await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        waiting[id] = continuation
        submit(self, id)
        perform()
      }
    } onCancel: {
      post { $0.cancel(id) }
    }.get()
  }

  private func cancel(_ id: RequestID) {
    guard waiting[id] != nil else { return }
    rules.cancel(id, now: clock.now, effects: &effects)
    perform()
  }

  // MARK: - Events

  /// The accessory's unsolicited messages from now on. Any number of subscribers; each may be 256 events behind, then
  /// it loses the oldest. Throws the link's error when the accessory goes, and ends normally when the link is closed.
  public func events() -> AsyncThrowingStream<Rules.Event, any Error> {
    let (stream, continuation) = AsyncThrowingStream<Rules.Event, any Error>.makeStream(
      bufferingPolicy: .bufferingNewest(Self.eventBuffer))
    switch ended {
    case .success?: continuation.finish()
    case .failure(let error)?: continuation.finish(throwing: error)
    case nil:
      let key = nextID
      nextID += 1
      subscribers[key] = continuation
      continuation.onTermination = { [weak self] _ in
        self?.post { _ = $0.subscribers.removeValue(forKey: key) }
      }
    }
    return stream
  }

  /// What has been counted so far.
  public var statistics: LinkStatistics {
    LinkStatistics(link: rules.counters, frames: rules.codec.counters, droppedEvents: droppedEvents)
  }

  /// The rules with what they have learned of the accessory.
  public var exchange: Rules { rules }

  // MARK: - Arrivals

  private func drain() {
    while true {
      switch session.transport.input.take(into: &buffer) {
      case .nothing: return
      case .bytes:
        let bytes = buffer
        rules.codec.decode(bytes.span.bytes, into: &batch)
        silence = rules.codec.hasUnfinishedFrame ? clock.now + silenceLimit : nil
        deliver()
      case .end(let error): return end(error)
      }
    }
  }

  private var silenceLimit: Duration {
    max(Self.shortestSilence, session.transport.timing.time(of: Self.silentCharacters))
  }

  /// Hands the decoded frames to the rules.
  private func deliver() {
    let now = clock.now
    for index in 0..<batch.count { rules.receive(batch, at: index, now: now, effects: &effects) }
    batch.removeAll()
    perform()
  }

  private func end(_ error: AccessoryError?) {
    guard ended == nil else { return }
    ended = error.map { .failure($0) } ?? .success(())
    silence = nil
    rules.end(error ?? .closed(label), effects: &effects)
    perform()
    for subscriber in subscribers.values { subscriber.finish(throwing: error) }
    subscribers = [:]
  }

  // MARK: - Effects and time

  private func perform() {
    if !effects.output.isEmpty, session.transport.output.offer(effects.output) != .full {
      effects.output.removeAll(keepingCapacity: true)
    }
    // Taken out first: a caller that goes on may come back here.
    let (completions, events) = (effects.completions, effects.events)
    effects.completions.removeAll(keepingCapacity: true)
    effects.events.removeAll(keepingCapacity: true)
    arm()
    for completion in completions {
      waiting.removeValue(forKey: completion.id)?.resume(returning: completion.result)
    }
    for event in events {
      for subscriber in subscribers.values {
        if case .dropped = subscriber.yield(event) { droppedEvents += 1 }
      }
    }
  }

  /// Sees to it that the timer fires no later than the next deadline. One that fires too early costs one wake-up;
  /// moving it at every reply would cost more.
  private func arm() {
    let deadlines = [rules.deadline, silence].compactMap { $0 }
    guard let next = deadlines.min() else { return }
    if let timer {
      if timer.deadline <= next { return }
      clock.cancel(timer.token)
    }
    let token = clock.schedule(at: next) { [weak self] in self?.post { $0.timerFired() } }
    timer = (next, token)
  }

  private func timerFired() {
    timer = nil
    let now = clock.now
    if let silence, silence <= now {
      self.silence = nil
      rules.codec.idle(into: &batch)
      deliver()
    }
    rules.timePassed(now: now, effects: &effects)
    perform()
  }

  // MARK: - The end

  /// Closes the link and its session. Requests that wait fail with `cancelled`. Returns when the device is free.
  public func close() async {
    await session.close()
    end(nil)
  }
}
