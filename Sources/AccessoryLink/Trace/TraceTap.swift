// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

/// Listens to a transport and hands on what passes, with the time.
///
/// What the reader has not taken yet is bounded: see `records`.
public final class TraceTap: TransportTap {
  private let clock: any TimerClock
  private let start: MonotonicTime
  private let queue = TraceQueue()
  /// What passes, for one reader; ends after `finish`.
  ///
  /// A reader may be 4,096 records or 1 MiB behind. Then what passes is dropped until the reader has taken all that
  /// waits; the next record tells how many bytes these were.
  public var records: TraceRecords { TraceRecords(queue: queue) }

  /// A tap whose time begins now.
  public init(clock: any TimerClock = IOThread.shared) {
    self.clock = clock
    start = clock.now
  }

  /// A tap whose time began at `start`.
  package init(since start: MonotonicTime, clock: any TimerClock = IOThread.shared) {
    (self.start, self.clock) = (start, clock)
  }

  /// Called by the transport.
  public func passed(_ direction: ByteDirection, _ bytes: RawSpan) {
    queue.add(TraceRecord(time: clock.now - start, direction: direction, bytes: bytes.withUnsafeBytes(Array.init)))
  }

  /// Adds a record without bytes behind what waits: so the reader learns that nothing else passed up to now.
  package func mark() {
    queue.add(TraceRecord(time: clock.now - start, direction: .fromDevice, bytes: []))
  }

  /// No more will come.
  public func finish() { queue.finish(at: clock.now - start) }
}
