// SPDX-License-Identifier: Apache-2.0

import AccessoryIO

/// An entry of a trace: a frame, or bytes that belong to none.
public struct TraceEntry: Sendable, Hashable {
  /// The kind of entry.
  public enum Content: Sendable, Hashable {
    /// A frame, decoded, or with a description of its defect.
    case frame(FrameWords)
    /// This many bytes were skipped, because they belong to no complete frame.
    case noise(byteCount: Int)
    /// This many bytes of both directions were dropped before they were decoded. They may have been parts of the frames
    /// before and after.
    case lost(byteCount: Int)
    /// Bytes of a line whose frames aren't decoded, as they passed.
    case bytes([UInt8])
    /// What happened on the way of the bytes, in a few words. It has no direction.
    case note(String)
  }

  /// When the last byte passed. For a frame that only silence completed, the time at which the line counted as silent,
  /// unless all frames of the protocol end with silence.
  public var time: Duration
  /// The direction in which it passed.
  public var direction: ByteDirection
  /// The frame or the bytes.
  public var content: Content

  /// An entry with these parts.
  public init(time: Duration, direction: ByteDirection, content: Content) {
    self.time = time
    self.direction = direction
    self.content = content
  }
}

/// Finds the frames in a trace. The same records give the same entries, whether live or from a recording.
public struct FrameTracer: Sendable {
  private struct Side: Sendable {
    var lastTime = Duration.zero
    /// The current silence was handled already.
    var isIdle = false
  }

  private let silence: Duration
  private var reader: (any FrameReader)?
  private var (fromDevice, toDevice) = (Side(), Side())

  /// A tracer for a line that counts as silent after `silence`. `reader` decodes the frames; without one, the bytes are
  /// passed on as they come.
  public init(silence: Duration, reader: (any FrameReader)?) {
    self.silence = silence
    self.reader = reader
  }

  private func side(_ direction: ByteDirection) -> Side { direction == .fromDevice ? fromDevice : toDevice }

  private func isWaiting(_ direction: ByteDirection) -> Bool {
    reader?.hasUnfinishedFrame(direction) == true && !side(direction).isIdle
  }

  /// When `timePassed` may find more, if nothing arrives before.
  public var deadline: Duration? {
    ByteDirection.allCases.filter(isWaiting).map { side($0).lastTime + silence }.min()
  }

  /// Takes a record. Records must be in the order of time.
  public mutating func add(_ record: TraceRecord) -> [TraceEntry] {
    // Frames that silence completes come first, so that it doesn't matter whether a timer fired in between.
    var entries = timePassed(record.time)
    if record.lostBytes > 0 {
      // Bytes after the gap can't complete a frame from before it.
      entries += expire(at: record.time)
      entries.append(
        TraceEntry(time: record.time, direction: record.direction, content: .lost(byteCount: record.lostBytes)))
    }
    if let note = record.note {
      entries.append(TraceEntry(time: record.time, direction: record.direction, content: .note(note)))
    }
    guard !record.bytes.isEmpty else { return entries }
    guard reader != nil else {
      return entries + [TraceEntry(time: record.time, direction: record.direction, content: .bytes(record.bytes))]
    }
    let side = Side(lastTime: record.time)
    if record.direction == .fromDevice { fromDevice = side } else { toDevice = side }
    return entries + self.entries(of: reader?.decode(record.bytes, record.direction) ?? []) { self.side($0).lastTime }
  }

  /// Finds the frames that silence up to `time` completes.
  public mutating func timePassed(_ time: Duration) -> [TraceEntry] {
    var entries: [TraceEntry] = []
    let order: [ByteDirection] =
      toDevice.lastTime < fromDevice.lastTime ? [.toDevice, .fromDevice] : [.fromDevice, .toDevice]
    for direction in order {
      let last = side(direction).lastTime
      guard isWaiting(direction), last + silence <= time, let isEnd = reader?.silenceEndsFrames else { continue }
      if direction == .fromDevice { fromDevice.isIdle = true } else { toDevice.isIdle = true }
      entries += self.entries(of: reader?.idle(direction) ?? []) { isEnd ? side($0).lastTime : last + silence }
    }
    return entries
  }

  /// Ends the trace and returns the remaining entries.
  public mutating func finish() -> [TraceEntry] {
    let entries = deadline.map { _ in timePassed(.seconds(1 << 40)) } ?? []
    return entries + expire(at: nil)
  }

  /// Discards unfinished frames. Their time is `time`, or when their line counted as silent.
  private mutating func expire(at time: Duration?) -> [TraceEntry] {
    var entries: [TraceEntry] = []
    for direction in ByteDirection.allCases {
      while reader?.hasUnfinishedFrame(direction) == true {
        let reads = reader?.expire(direction) ?? []
        entries += self.entries(of: reads) { time ?? side($0).lastTime + silence }
        if reads.isEmpty { break }
      }
    }
    return entries
  }

  private func entries(of reads: [FrameRead], at time: (ByteDirection) -> Duration) -> [TraceEntry] {
    reads.map { read in
      let content: TraceEntry.Content =
        switch read.content {
        case .frame(let words): .frame(words)
        case .noise(let count): .noise(byteCount: count)
        }
      return TraceEntry(time: time(read.direction), direction: read.direction, content: content)
    }
  }
}
