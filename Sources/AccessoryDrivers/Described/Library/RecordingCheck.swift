// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryLink
import AccessoryProtocols

/// Holds a description against what was recorded: which frames it knows, which bytes are in none of its frames, and where,
/// and which frames no message or request of it describes.
///
/// It looks at the first MiB each way; memory is bounded by the longest frame and the number of finds that are told.
public struct RecordingCheck: Sendable {
  /// Bytes that are in no frame.
  public struct UnframedBytes: Sendable, Hashable {
    /// Which way they went.
    public var direction: ByteDirection
    /// The count of bytes that went this way before them.
    public var offset: Int
    /// When the first of them passed, since the trace began.
    public var time: Duration
    /// The first 16 of them.
    public var bytes: [UInt8]
    /// How many they are.
    public var byteCount: Int
  }

  /// Frames, alike in their first bytes, that the description has no message or request for.
  public struct UnknownFrame: Sendable, Hashable {
    /// Which way they went.
    public var direction: ByteDirection
    /// The count of bytes that went this way before the first one's end.
    public var offset: Int
    /// When the first one was complete.
    public var time: Duration
    /// The first 16 bytes of the first one.
    public var bytes: [UInt8]
    /// How many they are.
    public var count: Int
  }

  /// Frames by the names of their messages and requests.
  public private(set) var counts: [ByteDirection: [String: Int]] = [:]
  /// Bytes of each direction.
  public private(set) var byteCounts: [ByteDirection: Int] = [:]
  /// The first misfits; at most `findLimit`.
  public private(set) var misfits: [UnframedBytes] = []
  /// All bytes that are in no frame.
  public private(set) var misfitByteCount = 0
  /// The first kinds of frames that nobody describes; at most `findLimit`.
  public private(set) var strangers: [UnknownFrame] = []
  /// All frames that nobody describes.
  public private(set) var strangerCount = 0
  /// Whether there was more than is looked at.
  public private(set) var isCut = false

  /// Misfits and strangers that are told.
  public static let findLimit = 20
  /// Bytes of each direction that are looked at.
  public static let byteLimit = 1 << 20

  /// Whether all that was recorded is as the description says.
  public var fits: Bool { misfitByteCount == 0 && strangerCount == 0 }

  /// Bytes of each direction that this one looks at.
  let limit: Int
  private let words: DescribedWords
  private let fresh: [ByteDirection: DescribedCodec]
  private var sides: [ByteDirection: Side] = [:]
  private var silence: Duration = .milliseconds(50)
  private var known: [String: Int] = [:]
  /// The request that was sent last.
  private var asked: Int?

  private struct Side: Sendable {
    var codec: DescribedCodec
    var batch = FrameBatch<DescribedHeader>()
    /// Bytes that are kept, from `offset` on, with their times: those of the frame that may have begun.
    var pending: [UInt8] = []
    var times: [Duration] = []
    var offset = 0
    var skipped: UInt64 = 0
    var lastTime = Duration.zero
    var isIdle = true
  }

  /// A check by this description. Throws `FramingParameterError` if there can be no such frames.
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

  /// A trace begins; a recording may have several.
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

  /// Takes what passed; records come in the order of time.
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
    // Byte by byte, as only so it shows in front of which frame the bytes were that are in none.
    for byte in record.bytes.prefix(room) {
      side.pending.append(byte)
      side.times.append(record.time)
      side.codec.decode([byte].span.bytes, into: &side.batch)
      collect(record.direction, &side)
    }
    byteCounts[record.direction] = seen + min(room, record.bytes.count)
    sides[record.direction] = side
  }

  /// The recording is over.
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

  /// Sees what the codec has done with the bytes that it keeps no more.
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
    misfitByteCount += count
    if let last = misfits.indices.last(where: { misfits[$0].direction == direction }),
      misfits[last].offset + misfits[last].byteCount == side.offset
    {
      misfits[last].bytes += side.pending.prefix(min(count, 16 - misfits[last].bytes.count))
      misfits[last].byteCount += count
    } else if misfits.count < Self.findLimit {
      misfits.append(
        UnframedBytes(
          direction: direction, offset: side.offset, time: side.times.first ?? side.lastTime,
          bytes: Array(side.pending.prefix(min(count, 16))), byteCount: count))
    }
  }

  private mutating func takeStranger(_ content: [UInt8], _ direction: ByteDirection, _ offset: Int, _ time: Duration) {
    strangerCount += 1
    let start = content.prefix(3)
    if let place = strangers.firstIndex(where: { $0.direction == direction && $0.bytes.prefix(3) == start }) {
      strangers[place].count += 1
    } else if strangers.count < Self.findLimit {
      strangers.append(
        UnknownFrame(direction: direction, offset: offset, time: time, bytes: Array(content.prefix(16)), count: 1))
    }
  }
}
