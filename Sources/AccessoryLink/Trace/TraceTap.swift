// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

/// Records the traffic of a transport, with the time of each piece.
///
/// The number of records that wait for the reader is bounded: see `records`.
public final class TraceTap: TransportTap {
  private let clock: any TimerClock
  private let start: MonotonicTime
  private let queue = TraceQueue()
  /// The traffic, for one reader; ends after `finish`.
  ///
  /// Up to 4,096 records or 1 MiB wait for the reader. When the reader is slower, traffic is dropped until it has taken
  /// all of them; the next record says how many bytes were lost.
  public var records: TraceRecords { TraceRecords(queue: queue) }

  /// A tap whose time starts now.
  public init(clock: any TimerClock = IOThread.shared) {
    self.clock = clock
    start = clock.now
  }

  /// A tap whose time started at `start`.
  package init(since start: MonotonicTime, clock: any TimerClock = IOThread.shared) {
    (self.start, self.clock) = (start, clock)
  }

  /// Records bytes that passed. The transport calls this on the I/O thread.
  public func passed(_ direction: ByteDirection, _ bytes: RawSpan) {
    queue.add(TraceRecord(time: clock.now - start, direction: direction, bytes: bytes.withUnsafeBytes(Array.init)))
  }

  /// Records what happened on the way of the bytes.
  public func noted(_ text: String) { queue.add(TraceRecord(time: clock.now - start, note: text)) }

  /// Adds a record without bytes, which shows the reader that nothing else passed until now.
  package func mark() {
    queue.add(TraceRecord(time: clock.now - start, direction: .fromDevice, bytes: []))
  }

  /// Ends the records.
  public func finish() { queue.finish(at: clock.now - start) }
}
