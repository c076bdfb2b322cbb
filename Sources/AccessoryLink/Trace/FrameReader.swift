// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryProtocols

/// Finds the frames of one protocol in the traffic of a line, in both directions, and decodes them.
///
/// It only reads, and has no clock: its owner tells it when the line has been silent. Its memory is bounded, whatever
/// passes: it keeps at most the longest frame and what it needs to decode the next replies.
public protocol FrameReader: Sendable {
  /// Whether a pause is how frames of this protocol end. Then a frame's time is that of its last byte, and not of the
  /// pause's end.
  var silenceEndsFrames: Bool { get }
  /// Whether the accessory sends text, which a console shows as it comes.
  var isText: Bool { get }
  /// Takes bytes that passed together and returns the frames that they complete, which may be of the other direction.
  mutating func decode(_ bytes: [UInt8], _ direction: ByteDirection) -> [FrameRead]
  /// Call this when nothing has passed in this direction for a while. Called once for each pause.
  mutating func idle(_ direction: ByteDirection) -> [FrameRead]
  /// Gives up the unfinished frame of this direction. Call it again until nothing is unfinished, or it returns nothing.
  mutating func expire(_ direction: ByteDirection) -> [FrameRead]
  /// Whether there is an unfinished frame in this direction, which silence would end.
  func hasUnfinishedFrame(_ direction: ByteDirection) -> Bool
}

extension FrameReader {
  /// A pause ends nothing.
  public var silenceEndsFrames: Bool { false }
  /// It isn't.
  public var isText: Bool { false }
}

/// What a reader has found.
public struct FrameRead: Sendable, Hashable {
  /// What it is.
  public enum Content: Sendable, Hashable {
    /// A frame.
    case frame(FrameWords)
    /// This many bytes were skipped, because they belong to no complete frame.
    case noise(byteCount: Int)
  }

  /// Which way it passed.
  public var direction: ByteDirection
  /// What it is.
  public var content: Content

  /// A find of these parts.
  public init(_ direction: ByteDirection, _ content: Content) { (self.direction, self.content) = (direction, content) }
}

/// One direction of a line, with the codec that finds its frames.
public struct FrameSide<Codec: FrameCodec>: Sendable {
  /// Which way the bytes go.
  public let direction: ByteDirection
  /// The framing.
  public var codec: Codec
  private var batch = FrameBatch<Codec.Header>()
  private var skipped: UInt64

  /// What gives the words of a frame.
  public typealias Words = (_ header: Codec.Header, _ outcome: FrameOutcome, _ payload: [UInt8]) -> FrameWords?

  /// A side at the start of a stream.
  public init(_ direction: ByteDirection, _ codec: Codec) {
    (self.direction, self.codec) = (direction, codec)
    skipped = codec.counters.skippedBytes
  }

  /// Takes bytes; gives the frames that they complete, and behind these how many bytes were given up. Frames without
  /// words are left out.
  public mutating func decode(_ bytes: RawSpan, _ words: Words) -> [FrameRead] {
    codec.decode(bytes, into: &batch)
    return collect(words)
  }

  /// Tells of silence.
  public mutating func idle(_ words: Words) -> [FrameRead] {
    codec.idle(into: &batch)
    return collect(words)
  }

  /// Gives up what has begun.
  public mutating func expire(_ words: Words) -> [FrameRead] {
    codec.expire(into: &batch)
    return collect(words)
  }

  private mutating func collect(_ words: Words) -> [FrameRead] {
    var reads: [FrameRead] = []
    for index in 0..<batch.count {
      let (header, outcome) = (batch.header(at: index), batch.outcome(at: index))
      let payload = batch.payloadBytes(at: index)
      guard var words = words(header, outcome, payload) else { continue }
      if outcome == .whole {
        if words.payload.isEmpty { words.payload = payload }
        if words.bytes.isEmpty { try? codec.encode(header, payload: payload, into: &words.bytes) }
      }
      words.outcome = outcome
      reads.append(FrameRead(direction, .frame(words)))
    }
    batch.removeAll()
    let now = codec.counters.skippedBytes
    if now > skipped {
      reads.append(FrameRead(direction, .noise(byteCount: Int(clamping: now - skipped))))
      skipped = now
    }
    return reads
  }
}

/// Reads a protocol that has the same framing both ways, and whose frames can each be understood by itself.
public struct CodecFrameReader<Codec: FrameCodec>: FrameReader {
  /// What gives the words of a frame.
  public typealias Words =
    @Sendable (
      _ header: Codec.Header, _ outcome: FrameOutcome, _ payload: [UInt8], _ direction: ByteDirection
    ) -> FrameWords

  private var fromDevice, toDevice: FrameSide<Codec>
  private let words: Words

  /// A reader of frames that `codec` finds, in these words.
  public init(_ codec: Codec, words: @escaping Words) {
    (fromDevice, toDevice) = (FrameSide(.fromDevice, codec), FrameSide(.toDevice, codec))
    self.words = words
  }

  /// A reader of frames that `codec` finds, of which nothing else is known: it shows their payloads. `name` is the
  /// protocol's.
  public init(_ codec: Codec, name: String) {
    self.init(codec) { _, outcome, payload, _ in FrameWords(name, outcome, payload: payload) }
  }

  /// Takes bytes that passed together.
  public mutating func decode(_ bytes: [UInt8], _ direction: ByteDirection) -> [FrameRead] {
    change(direction) { side, words in side.decode(bytes.span.bytes, words) }
  }

  /// Call this when nothing has passed in this direction for a while.
  public mutating func idle(_ direction: ByteDirection) -> [FrameRead] {
    change(direction) { side, words in side.idle(words) }
  }

  /// Gives up what has begun this way.
  public mutating func expire(_ direction: ByteDirection) -> [FrameRead] {
    change(direction) { side, words in side.expire(words) }
  }

  /// Whether a frame has begun this way.
  public func hasUnfinishedFrame(_ direction: ByteDirection) -> Bool {
    (direction == .fromDevice ? fromDevice : toDevice).codec.hasUnfinishedFrame
  }

  private mutating func change(
    _ direction: ByteDirection, _ body: (inout FrameSide<Codec>, FrameSide<Codec>.Words) -> [FrameRead]
  ) -> [FrameRead] {
    let words = words
    if direction == .fromDevice { return body(&fromDevice) { words($0, $1, $2, .fromDevice) } }
    return body(&toDevice) { words($0, $1, $2, .toDevice) }
  }
}
