// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDescriptions
import AccessoryIO
import AccessoryLink
import AccessoryProtocols

/// Compares a description with a recording: counts the frames of each message and request, and collects bytes outside
/// any frame and frames that no message or request describes.
///
/// It checks the first MiB of each direction. Memory is bounded by the longest frame and by `findLimit`.
public struct RecordingCheck: Sendable {
  /// A run of bytes outside any frame.
  public struct UnframedBytes: Sendable, Hashable {
    /// The direction of the bytes.
    public var direction: ByteDirection
    /// How many bytes went in this direction before the run.
    public var offset: Int
    /// The time of the first byte, since the start of the trace.
    public var time: Duration
    /// The first 16 bytes of the run.
    public var bytes: [UInt8]
    /// The length of the run, in bytes.
    public var byteCount: Int
  }

  /// Frames with the same first three bytes that no message or request describes.
  public struct UnknownFrame: Sendable, Hashable {
    /// The direction of the frames.
    public var direction: ByteDirection
    /// How many bytes went in this direction up to the end of the first frame.
    public var offset: Int
    /// When the first frame was complete, since the start of the trace.
    public var time: Duration
    /// The first 16 bytes of the first frame.
    public var bytes: [UInt8]
    /// The number of frames.
    public var count: Int
  }

  /// The number of frames of each message and request, by name.
  public private(set) var counts: [ByteDirection: [String: Int]] = [:]
  /// The number of bytes checked in each direction.
  public private(set) var byteCounts: [ByteDirection: Int] = [:]
  /// The first runs of bytes outside any frame; at most `findLimit`.
  public private(set) var unframedRuns: [UnframedBytes] = []
  /// The number of all bytes outside any frame.
  public private(set) var unframedByteCount = 0
  /// The first kinds of frames that the description doesn't have; at most `findLimit`.
  public private(set) var unknownFrames: [UnknownFrame] = []
  /// The number of all frames that the description doesn't have.
  public private(set) var unknownFrameCount = 0
  /// Whether the recording was longer than `byteLimit`, so that a part wasn't checked.
  public private(set) var isCut = false

  /// The most entries in `unframedRuns`, and in `unknownFrames`.
  public static let findLimit = 20
  /// The most bytes that are checked in each direction.
  public static let byteLimit = 1 << 20

  /// Whether the whole recording matches the description.
  public var fits: Bool { unframedByteCount == 0 && unknownFrameCount == 0 }

  /// The most bytes that this check reads in each direction.
  let limit: Int
  private let words: DescribedWords
  private let fresh: [ByteDirection: DescribedCodec]
  private var sides: [ByteDirection: Side] = [:]
  private var silence: Duration = .milliseconds(50)
  private var known: [String: Int] = [:]
  /// The last request.
  private var asked: Int?

  private struct Side: Sendable {
    var codec: DescribedCodec
    var batch = FrameBatch<DescribedHeader>()
    /// Bytes, from `offset` on, that the codec still buffers because they may begin a frame; with their times.
    var pending: [UInt8] = []
    var times: [Duration] = []
    var offset = 0
    var skipped: UInt64 = 0
    var lastTime = Duration.zero
    var isIdle = true
  }

  /// A check with this description. Throws `FramingParameterError` when the description's frames aren't possible.
  public init(_ description: ProtocolDescription) throws(FramingParameterError) {
    try self.init(description, limit: Self.byteLimit)
  }

  init(_ description: ProtocolDescription, limit: Int) throws(FramingParameterError) {
    self.limit = limit
    let host = try DescribedCodec(description, wire: .either)
    let accessory = try DescribedCodec(description, side: .accessory, wire: .either)
    words = DescribedWords(host)
    fresh = [.fromDevice: host, .toDevice: accessory]
    begin(silence: silence)
  }

  /// Starts a trace. A recording may have several. `silence` is the pause that ends a frame.
  public mutating func begin(silence: Duration) {
    finish()
    self.silence = silence
    for direction in ByteDirection.allCases {
      guard let codec = fresh[direction] else { continue }
      var side = Side(codec: codec)
      side.offset = byteCounts[direction] ?? 0
      sides[direction] = side
    }
  }

  /// Checks a record. Call it in the order of the records' times.
  public mutating func add(_ record: TraceRecord) {
    for direction in ByteDirection.allCases { passSilence(direction, until: record.time) }
    if record.lostBytes > 0 { for direction in ByteDirection.allCases { expire(direction) } }
    let seen = byteCounts[record.direction] ?? 0
    let room = max(0, limit - seen)
    if record.bytes.count > room { isCut = true }
    guard var side = sides[record.direction] else { return }
    sides[record.direction] = nil
    side.lastTime = record.time
    side.isIdle = false
    // Byte by byte, because only then is it known which frame the skipped bytes came before.
    for byte in record.bytes.prefix(room) {
      side.pending.append(byte)
      side.times.append(record.time)
      side.codec.decode([byte].span.bytes, into: &side.batch)
      collect(record.direction, &side)
    }
    byteCounts[record.direction] = seen + min(room, record.bytes.count)
    sides[record.direction] = side
  }

  /// Checks what is still buffered. Call it after the last record.
  public mutating func finish() {
    for direction in ByteDirection.allCases {
      passSilence(direction, until: .seconds(1 << 40))
      expire(direction)
    }
  }

  private mutating func passSilence(_ direction: ByteDirection, until time: Duration) {
    guard var side = sides[direction], !side.isIdle, side.codec.hasUnfinishedFrame, side.lastTime + silence <= time
    else {
      return
    }
    side.isIdle = true
    side.codec.idle(into: &side.batch)
    collect(direction, &side)
    sides[direction] = side
  }

  private mutating func expire(_ direction: ByteDirection) {
    guard var side = sides[direction] else { return }
    while side.codec.hasUnfinishedFrame {
      let left = side.codec.unfinishedByteCount
      side.codec.expire(into: &side.batch)
      collect(direction, &side)
      if side.codec.unfinishedByteCount >= left { break }
    }
    sides[direction] = side
  }

  /// Collects frames and skipped bytes, and removes from `pending` what the codec no longer buffers.
  private mutating func collect(_ direction: ByteDirection, _ side: inout Side) {
    let gone = max(0, side.pending.count - side.codec.unfinishedByteCount)
    guard gone > 0 || side.batch.count > 0 else { return }
    let skipped = side.codec.counters.skippedBytes
    let noise = min(Int(clamping: skipped &- side.skipped), gone)
    side.skipped = skipped
    if noise > 0 { takeNoise(noise, direction, side) }
    side.offset += gone
    let time = side.times.last ?? side.lastTime
    side.pending.removeFirst(gone)
    side.times.removeFirst(gone)
    for index in 0..<side.batch.count {
      let content = side.batch.payloadBytes(at: index)
      guard
        let words = words.words(
          side.batch.header(at: index), side.batch.outcome(at: index), content, direction, known: known, asked: asked)
      else { continue }
      if let request = self.words.request(named: words) { asked = request }
      for field in words.fields { if case .whole(let number) = field.value { known[field.name] = number } }
      if let command = words.command {
        counts[direction, default: [:]][command, default: 0] += 1
      } else {
        takeStranger(content, direction, side.offset, time)
      }
    }
    side.batch.removeAll()
  }

  private mutating func takeNoise(_ count: Int, _ direction: ByteDirection, _ side: Side) {
    unframedByteCount += count
    if let last = unframedRuns.indices.last(where: { unframedRuns[$0].direction == direction }),
      unframedRuns[last].offset + unframedRuns[last].byteCount == side.offset
    {
      unframedRuns[last].bytes += side.pending.prefix(min(count, 16 - unframedRuns[last].bytes.count))
      unframedRuns[last].byteCount += count
    } else if unframedRuns.count < Self.findLimit {
      unframedRuns.append(
        UnframedBytes(
          direction: direction, offset: side.offset, time: side.times.first ?? side.lastTime,
          bytes: Array(side.pending.prefix(min(count, 16))), byteCount: count))
    }
  }

  private mutating func takeStranger(_ content: [UInt8], _ direction: ByteDirection, _ offset: Int, _ time: Duration) {
    unknownFrameCount += 1
    let start = content.prefix(3)
    if let place = unknownFrames.firstIndex(where: { $0.direction == direction && $0.bytes.prefix(3) == start }) {
      unknownFrames[place].count += 1
    } else if unknownFrames.count < Self.findLimit {
      unknownFrames.append(
        UnknownFrame(direction: direction, offset: offset, time: time, bytes: Array(content.prefix(16)), count: 1))
    }
  }
}
