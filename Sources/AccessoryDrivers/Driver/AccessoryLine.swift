// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryLink

/// A line that was opened once, for the several accessories on it.
public protocol AccessoryLine: Sendable {
  /// Whether the line is over: it was unplugged, or closed.
  var hasEnded: Bool { get }
  /// Makes contact with the unit of this number, which ends `share` when it is closed, and when this fails. Requests to
  /// all units go over the line in turn.
  func accessory(unit: Int, share: LineShare) async throws(AccessoryError) -> any Accessory
  /// Whether a unit of this number answers. Sends one request, once, which changes nothing. Throws `disconnected`, and
  /// `misconfigured` when there is no such request.
  func isThere(unit: Int) async throws(AccessoryError) -> Bool
  /// Closes the line; returns when the device is free for others.
  func close() async
}

/// The several accessories that may be on one line, each a unit with a number, where a driver's protocol has that.
public struct LineUnits: Sendable {
  /// The numbers that there may be.
  public let range: ClosedRange<Int>
  /// The numbers that a search asks.
  public let scan: ClosedRange<Int>
  private let make: Maker

  /// Begins to speak over a session, which belongs to the line from then on, and is closed if that fails. Nothing is sent to
  /// any unit yet. With `isShared` units are called by the session's label with `@UNIT` behind it; otherwise there is one,
  /// which is called by the label alone.
  public typealias Maker =
    @Sendable (
      _ session: AccessorySession, _ profile: Profile?, _ isShared: Bool, _ clock: any TimerClock
    ) async throws(AccessoryError) -> any AccessoryLine

  /// Units of these numbers.
  public init(_ range: ClosedRange<Int>, scan: ClosedRange<Int>? = nil, make: @escaping Maker) {
    (self.range, self.scan, self.make) = (range, scan ?? range, make)
  }

  /// Begins to speak over a session, as `Maker` says.
  public func open(
    _ session: AccessorySession, profile: Profile?, isShared: Bool = true, clock: any TimerClock = IOThread.shared
  ) async throws(AccessoryError) -> any AccessoryLine {
    try await make(session, profile, isShared, clock)
  }
}

/// The part that one accessory has of a shared line. It is ended once, when the accessory is closed or let go.
public final class LineShare: Sendable {
  private struct State: Sendable {
    var isEnded = false
    var streams: [Int: AsyncThrowingStream<AccessoryNews, any Error>.Continuation] = [:]
    var next = 0
  }

  private let state = Locked(State())
  private let body: @Sendable () async -> Void

  /// Calls `body` when it is ended, which returns when the part is given back.
  public init(_ body: @escaping @Sendable () async -> Void) { self.body = body }

  deinit {
    guard !isEnded else { return }
    let body = body
    Task { await body() }
  }

  /// Whether the accessory is closed.
  public var isEnded: Bool { state.withLock { $0.isEnded } }

  /// Ends it, unless that has happened. Streams of `ending` end normally.
  public func end() async {
    let streams = state.withLock { state -> [AsyncThrowingStream<AccessoryNews, any Error>.Continuation]? in
      guard !state.isEnded else { return nil }
      state.isEnded = true
      defer { state.streams = [:] }
      return Array(state.streams.values)
    }
    guard let streams else { return }
    for stream in streams { stream.finish() }
    await body()
  }

  /// The same events, until this is ended.
  public func ending(_ news: EventStream<AccessoryNews>) -> EventStream<AccessoryNews> {
    let (stream, continuation) = AsyncThrowingStream<AccessoryNews, any Error>.makeStream(
      bufferingPolicy: .bufferingNewest(Self.limit))
    let key = state.withLock { state -> Int? in
      guard !state.isEnded else { return nil }
      state.next += 1
      state.streams[state.next] = continuation
      return state.next
    }
    guard let key else {
      continuation.finish()
      return EventStream(stream)
    }
    let task = Task {
      do throws(AccessoryError) {
        for try await one in news { continuation.yield(one) }
        continuation.finish()
      } catch {
        continuation.finish(throwing: error)
      }
    }
    continuation.onTermination = { [weak self] _ in
      task.cancel()
      self?.state.withLock { _ = $0.streams.removeValue(forKey: key) }
    }
    return EventStream(stream)
  }

  /// Events that a reader may be behind before it loses the oldest.
  private static let limit = 256
}
