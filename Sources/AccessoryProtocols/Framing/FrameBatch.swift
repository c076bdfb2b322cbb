// SPDX-License-Identifier: Apache-2.0

/// Frames in the order of their arrival, with all their payloads in one run of bytes.
///
/// Meant to be kept and used again: after `removeAll()` its memory is still there, so that decoding into it allocates
/// nothing once it has grown to the traffic.
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

  /// The payloads of all entries in their order; `payloadRange(at:)` says which is whose.
  public internal(set) var payloadStore: [UInt8] = []

  /// An empty batch.
  public init() {}

  /// How many frames there are, of every outcome.
  @inlinable public var count: Int { entries.count }

  /// Whether there are no frames.
  @inlinable public var isEmpty: Bool { entries.isEmpty }

  /// What became of frame `index`, 0..<`count`.
  @inlinable public func outcome(at index: Int) -> FrameOutcome { entries[index].outcome }

  /// The header of frame `index`, 0..<`count`.
  @inlinable public func header(at index: Int) -> Header { entries[index].header }

  /// Where in `payloadStore` the payload of frame `index` lies; empty unless the frame is whole and has one.
  @inlinable public func payloadRange(at index: Int) -> Range<Int> {
    let entry = entries[index]
    return entry.start..<entry.end
  }

  /// Calls `body` with the payload of frame `index`, without copying it.
  ///
  /// Where a closure is in the way, `batch.payloadStore.span.bytes.extracting(batch.payloadRange(at: index))` is the same.
  @inlinable
  public func withPayload<Result: ~Copyable, Failure: Error>(
    at index: Int, _ body: (RawSpan) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try body(payloadStore.span.bytes.extracting(payloadRange(at: index)))
  }

  /// Replaces `bytes` by the payload of frame `index`, for who looks at one after another: its storage is used again, and
  /// nothing allocated once it has grown to the traffic.
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
    // Specialised by the caller for its header; the bytes need no specialising.
    entries.removeAll(keepingCapacity: true)
    removePayloads()
  }

  @usableFromInline
  mutating func removePayloads() { payloadStore.removeAll(keepingCapacity: true) }

  /// Appends a frame. `payload` is empty unless the outcome is `whole`.
  ///
  /// For codecs; an owner only reads.
  public mutating func append(_ outcome: FrameOutcome, _ header: Header, payload: RawSpan = RawSpan()) {
    let start = payloadStore.count
    payloadStore.append(contentsOf: payload)
    entries.append(Entry(outcome: outcome, header: header, start: start, end: payloadStore.count))
  }
  /// Takes the last `byteCount` bytes off the payload of frame `index`.
  mutating func shortenPayload(at index: Int, by byteCount: Int) {
    let entry = entries[index]
    entries[index] = Entry(
      outcome: entry.outcome, header: entry.header, start: entry.start, end: entry.end - byteCount)
  }

  /// Turns frame `index` into one with a damaged payload, which is dropped.
  mutating func markPayloadDamaged(at index: Int) {
    let entry = entries[index]
    entries[index] = Entry(outcome: .payloadDamaged, header: entry.header, start: entry.start, end: entry.start)
  }
}
