// SPDX-License-Identifier: Apache-2.0

/// Frames in the order of their arrival, with all their payloads in one array of bytes.
///
/// A batch is meant to be reused: `removeAll()` keeps its memory, so decoding into it allocates nothing once it has
/// grown large enough for the traffic.
public struct FrameBatch<Header: Sendable>: Sendable {
  @usableFromInline
  struct Entry: Sendable {
    @usableFromInline let outcome: FrameOutcome
    @usableFromInline let header: Header
    @usableFromInline let start: Int
    @usableFromInline let end: Int

    @inlinable
    init(outcome: FrameOutcome, header: Header, start: Int, end: Int) {
      self.outcome = outcome
      self.header = header
      self.start = start
      self.end = end
    }
  }

  @usableFromInline var entries: [Entry] = []

  /// The payloads of all frames, one after another; `payloadRange(at:)` is the range of each.
  public internal(set) var payloadStore: [UInt8] = []

  /// An empty batch.
  public init() {}

  /// How many frames there are, of every outcome.
  @inlinable public var count: Int { entries.count }

  /// Whether there are no frames.
  @inlinable public var isEmpty: Bool { entries.isEmpty }

  /// The outcome of frame `index`, 0..<`count`.
  @inlinable public func outcome(at index: Int) -> FrameOutcome { entries[index].outcome }

  /// The header of frame `index`, 0..<`count`.
  @inlinable public func header(at index: Int) -> Header { entries[index].header }

  /// The range in `payloadStore` of the payload of frame `index`; empty unless the frame is whole and has a payload.
  @inlinable public func payloadRange(at index: Int) -> Range<Int> {
    let entry = entries[index]
    return entry.start..<entry.end
  }

  /// Calls `body` with the payload of frame `index`, without copying it.
  ///
  /// Where a closure is inconvenient, use `batch.payloadStore.span.bytes.extracting(batch.payloadRange(at: index))`.
  @inlinable
  public func withPayload<Result: ~Copyable, Failure: Error>(
    at index: Int, _ body: (RawSpan) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try body(payloadStore.span.bytes.extracting(payloadRange(at: index)))
  }

  /// Replaces the contents of `bytes` by the payload of frame `index`. It reuses the array's memory, so it allocates
  /// nothing once that is large enough for the traffic.
  @inlinable
  public func copyPayload(at index: Int, into bytes: inout [UInt8]) {
    bytes.removeAll(keepingCapacity: true)
    bytes.append(contentsOf: payloadStore[payloadRange(at: index)])
  }

  /// A copy of the payload of frame `index`.
  @inlinable public func payloadBytes(at index: Int) -> [UInt8] { Array(payloadStore[payloadRange(at: index)]) }

  /// Empties the batch and keeps its memory.
  @inlinable
  public mutating func removeAll() {
    // The caller specialises this line for its header; the bytes need no specialising.
    entries.removeAll(keepingCapacity: true)
    removePayloads()
  }

  @usableFromInline
  mutating func removePayloads() {
    // For an array that never had storage, `removeAll` would allocate some.
    if !payloadStore.isEmpty { payloadStore.removeAll(keepingCapacity: true) }
  }

  /// Appends a frame. `payload` is empty unless the outcome is `whole`.
  ///
  /// For codecs; the owner of a batch only reads.
  @inlinable
  public mutating func append(_ outcome: FrameOutcome, _ header: Header, payload: RawSpan = RawSpan()) {
    let start = payloadStore.count
    appendPayload(payload)
    // The caller specialises this line for its header.
    entries.append(Entry(outcome: outcome, header: header, start: start, end: payloadStore.count))
  }

  @usableFromInline
  mutating func appendPayload(_ payload: RawSpan) { payloadStore.append(contentsOf: payload) }

  /// Removes the last `byteCount` bytes from the payload of frame `index`.
  mutating func shortenPayload(at index: Int, by byteCount: Int) {
    let entry = entries[index]
    entries[index] = Entry(
      outcome: entry.outcome, header: entry.header, start: entry.start, end: entry.end - byteCount)
  }

  /// Marks frame `index` as one with a damaged payload, and drops the payload.
  mutating func markPayloadDamaged(at index: Int) {
    let entry = entries[index]
    entries[index] = Entry(outcome: .payloadDamaged, header: entry.header, start: entry.start, end: entry.start)
  }
}
