// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import AccessoryProtocols

/// What a trace shows: a frame, or bytes that are none.
public struct TraceEntry: Sendable, Hashable {
  /// What it is.
  public enum Content: Sendable, Hashable {
    /// A frame, whole or with what is wrong with it; the payload is empty unless it is whole.
    case frame(AF1Header, FrameOutcome, payload: [UInt8])
    /// So many bytes that belong to no whole frame were given up.
    case noise(byteCount: Int)
    /// So many bytes, of both directions together, passed here and were dropped before anybody looked at them. They may
    /// have been parts of the frames around.
    case lost(byteCount: Int)
    /// Bytes of a line whose frames aren't looked for, as they came.
    case bytes([UInt8])
  }

  /// When its last byte passed, or, for what only silence completed, when the line had been silent long enough.
  public var time: Duration
  /// Which way it went.
  public var direction: ByteDirection
  /// What it is.
  public var content: Content

  /// An entry of these parts.
  public init(time: Duration, direction: ByteDirection, content: Content) {
    self.time = time
    self.direction = direction
    self.content = content
  }
}

/// Which frames a trace has.
public enum TraceFraming: String, Sendable, Hashable {
  /// AF1's.
  case af1
  /// None that are known: a trace shows the bytes.
  case none
}

/// Finds the frames in a trace. Live or from a recording, the same records give the same entries.
public struct FrameTracer: Sendable {
  private struct Side: Sendable {
    let direction: ByteDirection
    var codec = AF1Codec(maximumPayload: Int(UInt16.max))
    var lastTime = Duration.zero
    var skipped: UInt64 = 0
    /// The present silence has been used already.
    var isIdle = false

    init(_ direction: ByteDirection) { self.direction = direction }
  }

  private let silence: Duration
  private let framing: TraceFraming
  private var sides = [Side(.fromDevice), Side(.toDevice)]
  private var batch = FrameBatch<AF1Header>()

  /// A tracer of a line that counts as silent after `silence`, with these frames.
  public init(silence: Duration, framing: TraceFraming = .af1) {
    self.silence = silence
    self.framing = framing
  }

  /// When `timePassed` can find more, if nothing arrives before.
  public var deadline: Duration? {
    sides.filter { $0.codec.hasUnfinishedFrame && !$0.isIdle }.map { $0.lastTime + silence }.min()
  }

  /// Takes a record; records come in the order of time.
  public mutating func add(_ record: TraceRecord) -> [TraceEntry] {
    // First what silence alone completes; so it doesn't matter whether a timer fired in between.
    var entries = timePassed(record.time)
    if record.lostBytes > 0 {
      // What has begun can't be completed by what comes behind the gap.
      entries += expire(at: record.time)
      entries.append(
        TraceEntry(time: record.time, direction: record.direction, content: .lost(byteCount: record.lostBytes)))
    }
    guard !record.bytes.isEmpty else { return entries }
    if framing == .none {
      return entries + [TraceEntry(time: record.time, direction: record.direction, content: .bytes(record.bytes))]
    }
    let index = record.direction == .fromDevice ? 0 : 1
    sides[index].lastTime = record.time
    sides[index].isIdle = false
    sides[index].codec.decode(record.bytes.span.bytes, into: &batch)
    entries += collect(index, time: record.time)
    return entries
  }

  /// Finds what silence up to `time` completes.
  public mutating func timePassed(_ time: Duration) -> [TraceEntry] {
    var entries: [TraceEntry] = []
    for index in sides.indices.sorted(by: { sides[$0].lastTime < sides[$1].lastTime }) {
      let end = sides[index].lastTime + silence
      guard sides[index].codec.hasUnfinishedFrame, !sides[index].isIdle, end <= time else { continue }
      sides[index].isIdle = true
      sides[index].codec.idle(into: &batch)
      entries += collect(index, time: end)
    }
    return entries
  }

  /// The trace is over: gives what is left.
  public mutating func finish() -> [TraceEntry] {
    let entries = deadline.map { _ in timePassed(.seconds(1 << 40)) } ?? []
    return entries + expire(at: nil)
  }

  /// Gives up the frames that have begun; at a time, or each when its line had been silent long enough.
  private mutating func expire(at time: Duration?) -> [TraceEntry] {
    var entries: [TraceEntry] = []
    for index in sides.indices {
      while sides[index].codec.hasUnfinishedFrame {
        sides[index].codec.expire(into: &batch)
        entries += collect(index, time: time ?? sides[index].lastTime + silence)
      }
    }
    return entries
  }

  private mutating func collect(_ index: Int, time: Duration) -> [TraceEntry] {
    let direction = sides[index].direction
    var entries = (0..<batch.count).map { frame in
      TraceEntry(
        time: time, direction: direction,
        content: .frame(batch.header(at: frame), batch.outcome(at: frame), payload: batch.payloadBytes(at: frame)))
    }
    batch.removeAll()
    let skipped = sides[index].codec.counters.skippedBytes
    if skipped > sides[index].skipped {
      let noise = TraceEntry.Content.noise(byteCount: Int(skipped - sides[index].skipped))
      entries.append(TraceEntry(time: time, direction: direction, content: noise))
      sides[index].skipped = skipped
    }
    return entries
  }
}
