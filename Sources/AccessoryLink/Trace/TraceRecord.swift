// SPDX-License-Identifier: Apache-2.0

import AccessoryIO

/// Bytes that passed a transport together, and when.
public struct TraceRecord: Sendable, Hashable {
  /// Time since the trace began.
  public var time: Duration
  /// Which way they went.
  public var direction: ByteDirection
  /// The bytes, at least one.
  public var bytes: [UInt8]

  /// A record of these parts.
  public init(time: Duration, direction: ByteDirection, bytes: [UInt8]) {
    self.time = time
    self.direction = direction
    self.bytes = bytes
  }
}

/// Listens to a transport and hands on what passes, with the time.
public final class TraceTap: TransportTap {
  private let clock: any TimerClock
  private let start: MonotonicTime
  private let continuation: AsyncStream<TraceRecord>.Continuation
  /// What passes, for one reader. One that is 100,000 records behind loses the newest: see `TraceRecord.time` for the
  /// gap. Ends with `finish`.
  public let records: AsyncStream<TraceRecord>

  /// A tap whose time begins now.
  public init(clock: any TimerClock = IOThread.shared) {
    self.clock = clock
    start = clock.now
    (records, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(100_000))
  }

  /// Called by the transport.
  public func passed(_ direction: ByteDirection, _ bytes: UnsafeRawBufferPointer) {
    continuation.yield(TraceRecord(time: clock.now - start, direction: direction, bytes: Array(bytes)))
  }

  /// No more will come.
  public func finish() { continuation.finish() }
}
