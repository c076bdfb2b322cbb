// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import DequeModule

/// A bounded queue of trace records from the I/O thread to one reader. When it is full, records are dropped and
/// counted.
final class TraceQueue: Sendable {
  fileprivate struct State {
    var records: Deque<TraceRecord> = []
    var byteCount = 0
    /// Bytes that were dropped since the last record that was kept.
    var lostBytes = 0
    /// Set when the queue was full, until the reader has taken everything. So losses come in few large gaps.
    var isFull = false
    var hasEnded = false
  }

  /// The most records that may wait.
  static let recordLimit = 4_096
  /// The most bytes that may wait.
  static let byteLimit = 1 << 20

  private let state = Locked(State())
  private let signal = Signal()

  /// Adds a record, or counts its bytes as lost.
  func add(_ record: TraceRecord) {
    let isFirst = state.withLock { state -> Bool in
      guard !state.hasEnded else { return false }
      // An empty queue accepts a record of any length.
      let fits =
        state.records.count < Self.recordLimit
        && (state.records.isEmpty || record.bytes.count <= Self.byteLimit - state.byteCount)
      guard fits, !state.isFull || state.records.isEmpty else {
        state.isFull = true
        state.count(lost: record.bytes.count)
        return false
      }
      state.isFull = false
      var record = record
      (record.lostBytes, state.lostBytes) = (state.lostBytes, 0)
      state.records.append(record)
      state.byteCount += record.bytes.count
      return state.records.count == 1
    }
    if isFirst { signal.raise() }
  }

  /// Ends the queue. A last record without bytes reports the bytes that were lost at the end.
  func finish(at time: Duration) {
    state.withLock { state in
      guard !state.hasEnded else { return }
      state.hasEnded = true
      guard state.lostBytes > 0 else { return }
      state.records.append(
        TraceRecord(time: time, direction: .fromDevice, bytes: [], lostBytes: state.lostBytes))
    }
    signal.raise()
  }

  /// The next record; nil at the end, or when the task is cancelled.
  func next() async -> TraceRecord? {
    while !Task.isCancelled {
      let (record, hasEnded) = state.withLock { state -> (TraceRecord?, Bool) in
        guard let record = state.records.popFirst() else { return (nil, state.hasEnded) }
        state.byteCount -= record.bytes.count
        return (record, false)
      }
      if let record { return record }
      if hasEnded { return nil }
      await signal.wait()
    }
    return nil
  }
}

extension TraceQueue.State {
  fileprivate mutating func count(lost bytes: Int) {
    let (sum, isTooMuch) = lostBytes.addingReportingOverflow(bytes)
    lostBytes = isTooMuch ? .max : sum
  }
}

/// The traffic of a transport, as an asynchronous sequence for one reader: see `TraceTap.records`.
public struct TraceRecords: AsyncSequence, Sendable {
  /// Bytes that passed together.
  public typealias Element = TraceRecord
  /// The sequence doesn't throw.
  public typealias Failure = Never

  let queue: TraceQueue

  /// Starts to take records.
  public func makeAsyncIterator() -> Iterator { Iterator(queue: queue) }

  /// Takes the records one after another.
  public struct Iterator: AsyncIteratorProtocol {
    let queue: TraceQueue

    /// The next record; nil at the end, or when the task is cancelled.
    public mutating func next() async -> TraceRecord? { await queue.next() }

    /// The next record; nil at the end, or when the task is cancelled.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> TraceRecord? { await queue.next() }
  }
}
