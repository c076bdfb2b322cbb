// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryLink

/// An open line with several accessories on it.
public protocol AccessoryLine: Sendable {
  /// Whether the line was unplugged or closed.
  var hasEnded: Bool { get }
  /// Makes contact with a unit. The accessory ends `share` when it is closed, or when this fails. Requests to the units
  /// take turns on the line.
  func accessory(unit: Int, share: LineShare) async throws(AccessoryError) -> any Accessory
  /// Whether a unit answers. Sends one request, without retries, that changes nothing. Throws `disconnected`, and
  /// `misconfigured` when the protocol has no such request.
  func isThere(unit: Int) async throws(AccessoryError) -> Bool
  /// Closes the line. Returns when the device is free for others.
  func close() async
}

/// The units of a driver whose protocol allows several accessories on one line, each with a number.
public struct LineUnits: Sendable {
  /// The unit numbers that the protocol allows.
  public let range: ClosedRange<Int>
  /// The unit numbers that a search asks.
  public let scan: ClosedRange<Int>
  private let make: Maker

  /// Opens a line over a session. The line owns the session from then on, and closes it if this fails. Nothing is sent to a unit yet.
  /// With `isShared`, a unit's name is the session's label plus `@UNIT`; otherwise there is one unit, whose name is the label alone.
  public typealias Maker =
    @Sendable (
      _ session: AccessorySession, _ profile: Profile?, _ isShared: Bool, _ clock: any TimerClock
    ) async throws(AccessoryError) -> any AccessoryLine

  /// Units with these numbers. A search asks those in `scan`, or all when it is nil.
  public init(_ range: ClosedRange<Int>, scan: ClosedRange<Int>? = nil, make: @escaping Maker) {
    (self.range, self.scan, self.make) = (range, scan ?? range, make)
  }

  /// Opens a line over a session, as `Maker` describes.
  public func open(
    _ session: AccessorySession, profile: Profile?, isShared: Bool = true, clock: any TimerClock = IOThread.shared
  ) async throws(AccessoryError) -> any AccessoryLine {
    try await make(session, profile, isShared, clock)
  }
}

/// One accessory's share of a line. It is ended once, when the accessory is closed or released.
public final class LineShare: Sendable {
  private struct State: Sendable {
    var isEnded = false
    var streams: [Int: AsyncThrowingStream<AccessoryNews, any Error>.Continuation] = [:]
    var next = 0
  }

  private let state = Locked(State())
  private let body: @Sendable () async -> Void

  /// A share that calls `body` when it is ended. `body` returns when the share is given back.
  public init(_ body: @escaping @Sendable () async -> Void) { self.body = body }

  deinit {
    guard !isEnded else { return }
    let body = body
    Task { await body() }
  }

  /// Whether the share was ended.
  public var isEnded: Bool { state.withLock { $0.isEnded } }

  /// Ends the share. Does nothing if it was ended before. The streams that `ending` returned end normally.
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

  /// The same news, ending normally when this share is ended.
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

  /// The most news that a subscriber may be behind before it loses the oldest.
  private static let limit = 256
}
