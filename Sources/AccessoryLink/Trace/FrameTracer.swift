// SPDX-License-Identifier: Apache-2.0

import AccessoryIO

/// What a trace shows: a frame, or bytes that are none.
public struct TraceEntry: Sendable, Hashable {
  /// What it is.
  public enum Content: Sendable, Hashable {
    /// A frame, decoded, or with what is wrong with it.
    case frame(FrameWords)
    /// This many bytes were skipped, because they belong to no complete frame.
    case noise(byteCount: Int)
    /// This many bytes of both directions were dropped before they were decoded. They may have been parts of the frames
    /// around.
    case lost(byteCount: Int)
    /// Bytes of a line whose frames aren't looked for, as they came.
    case bytes([UInt8])
  }

  /// When its last byte passed; for what only silence completed, when the line had been silent long enough, unless that is
  /// how all frames of the protocol end.
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

/// Finds the frames in a trace. Live or from a recording, the same records give the same entries.
public struct FrameTracer: Sendable {
  private struct Side: Sendable {
    var lastTime = Duration.zero
    /// The present silence has been used already.
    var isIdle = false
  }

  private let silence: Duration
  private var reader: (any FrameReader)?
  private var (fromDevice, toDevice) = (Side(), Side())

  /// A tracer of a line that counts as silent after `silence`. `reader` knows its frames; without one the bytes are told
  /// as they come.
  public init(silence: Duration, reader: (any FrameReader)?) {
    self.silence = silence
    self.reader = reader
  }

  private func side(_ direction: ByteDirection) -> Side { direction == .fromDevice ? fromDevice : toDevice }

  private func isWaiting(_ direction: ByteDirection) -> Bool {
    reader?.hasUnfinishedFrame(direction) == true && !side(direction).isIdle
  }

  /// When `timePassed` can find more, if nothing arrives before.
  public var deadline: Duration? {
    ByteDirection.allCases.filter(isWaiting).map { side($0).lastTime + silence }.min()
  }

  /// Takes a record; records come in the order of time.
  public mutating func add(_ record: TraceRecord) -> [TraceEntry] {
    // First what silence alone completes; so it doesn't matter whether a timer fired in between.
    var entries = timePassed(record.time)
    if record.lostBytes > 0 {
      // Bytes after the gap can't complete a frame from before it.
      entries += expire(at: record.time)
      entries.append(
        TraceEntry(time: record.time, direction: record.direction, content: .lost(byteCount: record.lostBytes)))
    }
    guard !record.bytes.isEmpty else { return entries }
    guard reader != nil else {
      return entries + [TraceEntry(time: record.time, direction: record.direction, content: .bytes(record.bytes))]
    }
    let side = Side(lastTime: record.time)
    if record.direction == .fromDevice { fromDevice = side } else { toDevice = side }
    return entries + self.entries(of: reader?.decode(record.bytes, record.direction) ?? []) { self.side($0).lastTime }
  }

  /// Finds what silence up to `time` completes.
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

  /// The trace is over: gives what is left.
  public mutating func finish() -> [TraceEntry] {
    let entries = deadline.map { _ in timePassed(.seconds(1 << 40)) } ?? []
    return entries + expire(at: nil)
  }

  /// Gives up unfinished frames: at the given time, or each when its line had been silent long enough.
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
