// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryProtocols

/// Requests, replies and events over a session.
///
/// Bytes are decoded in order on dispatch queues: on the link's own queue, or by the waiting task on its thread. They
/// are never decoded on the I/O thread, the caller's run loop or the caller's actor. A request is encoded on the
/// caller's thread, and its reply resumes the caller directly; a lock protects the shared state. When the accessory is
/// unplugged, all waiting requests fail at once with the same error.
public final class Link<Rules: Exchange>: Sendable {
  /// The accessory's name for people.
  public let label: String

  let core: LinkCore<Rules>

  /// The link's clock.
  package let clock: any TimerClock
  /// Which requests of its driver the accessory answers, by their places in `requestNames`.
  package let memory = Locked(RequestMemory())
  package let requestNames = Locked<[String]>([])

  init(_ session: AccessorySession, rules: Rules, clock: any TimerClock) {
    label = session.label
    self.clock = clock
    core = LinkCore(session, rules: rules, clock: clock)
  }

  /// Makes contact with the accessory over a session. The link owns the session from now on, and closes it if this
  /// fails.
  ///
  /// Throws `timedOut` when there is no reply, `disconnected`, `refused`, and `unsupported` when the accessory uses
  /// another version of the protocol. Throws `busy` when another link uses the session or a task is reading its bytes;
  /// then the session isn't closed.
  #if compiler(>=6.3)
    @specialized(where Rules == DescribedExchange)
  #endif
  public static func open(
    _ session: AccessorySession, rules: Rules, clock: any TimerClock = IOThread.shared
  ) async throws(AccessoryError) -> Link {
    try session.takeForGood()
    let link = Link(session, rules: rules, clock: clock)
    try await attempt { () throws(AccessoryError) in
      try await link.core.begin()
    } onFailure: { _ in
      await link.close()
    }
    return link
  }

  deinit { core.abandon() }

  /// Sends a request and waits for its reply.
  ///
  /// Throws `timedOut`, `refused`, `disconnected`, `cancelled` (the task was cancelled, or the link closed), and `busy`
  /// when too many requests wait already.
  #if compiler(>=6.3)
    @specialized(where Rules == DescribedExchange)
  #endif
  public func request(_ request: Rules.Request) async throws(AccessoryError) -> Rules.Reply {
    try await core.request(request)
  }

  /// Sends a request. Returns its reply and a stream of exactly those events that come after the reply. Throws the
  /// errors of `request`. See `events` for the stream.
  #if compiler(>=6.3)
    @specialized(where Rules == DescribedExchange)
  #endif
  public func requestAndEvents(
    _ request: Rules.Request
  ) async throws(AccessoryError) -> (reply: Rules.Reply, events: EventStream<Rules.Event>) {
    try await core.requestAndEvents(request, for: self)
  }

  /// The accessory's unsolicited messages from now on. There may be any number of subscribers. Up to 256 events are
  /// buffered for each; beyond that, the oldest is dropped. The stream throws the link's error when the accessory goes,
  /// and ends normally when the link is closed. The stream retains the link: an otherwise unused link is closed when
  /// its last stream is released.
  #if compiler(>=6.3)
    @specialized(where Rules == DescribedExchange)
  #endif
  public func events() -> EventStream<Rules.Event> { core.events(of: self) }

  /// The counters so far.
  public var statistics: LinkStatistics {
    core.state.withLock { state in
      LinkStatistics(
        link: state.rules.counters, frames: state.rules.codec.counters, droppedEvents: state.droppedEvents)
    }
  }

  /// Whether the accessory is gone or the link was closed.
  public var hasEnded: Bool { core.state.withLock { $0.ended != nil } }

  /// The rules, including what they have learned about the accessory.
  public var exchange: Rules { core.state.withLock { $0.rules } }

  /// Closes the link and its session. Waiting requests fail with `cancelled`. Returns when other programs can open the
  /// device.
  #if compiler(>=6.3)
    @specialized(where Rules == DescribedExchange)
  #endif
  public func close() async { await core.close() }
}
