// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryProtocols

/// Finds the frames of one protocol in the traffic of a line, in both directions, and decodes them.
///
/// A reader has no clock: its owner reports when the line has been silent. Its memory is bounded: it keeps at most the
/// longest frame, and what it needs to decode the next replies.
public protocol FrameReader: Sendable {
  /// Whether frames of this protocol end with a pause. Then the time of a frame is that of its last byte, not the end
  /// of the pause.
  var silenceEndsFrames: Bool { get }
  /// Whether the accessory sends text, which a console shows at once.
  var isText: Bool { get }
  /// Takes bytes that passed together, and returns the frames that they complete, which may belong to the other
  /// direction.
  mutating func decode(_ bytes: [UInt8], _ direction: ByteDirection) -> [FrameRead]
  /// Call this when nothing has passed in this direction for a while. Call it once for each pause.
  mutating func idle(_ direction: ByteDirection) -> [FrameRead]
  /// Discards the unfinished frame of this direction. Call it again until nothing is unfinished, or it returns nothing.
  mutating func expire(_ direction: ByteDirection) -> [FrameRead]
  /// Whether there is an unfinished frame in this direction, which silence would end.
  func hasUnfinishedFrame(_ direction: ByteDirection) -> Bool
}

extension FrameReader {
  /// False: pauses don't end frames.
  public var silenceEndsFrames: Bool { false }
  /// False: the accessory doesn't send text.
  public var isText: Bool { false }
}

/// A result of a reader.
public struct FrameRead: Sendable, Hashable {
  /// The kind of result.
  public enum Content: Sendable, Hashable {
    /// A frame.
    case frame(FrameWords)
    /// This many bytes were skipped, because they belong to no complete frame.
    case noise(byteCount: Int)
  }

  /// The direction in which it passed.
  public var direction: ByteDirection
  /// The frame or the noise.
  public var content: Content

  /// A result with these parts.
  public init(_ direction: ByteDirection, _ content: Content) { (self.direction, self.content) = (direction, content) }
}

/// One direction of a line, with the codec that finds its frames.
public struct FrameSide<Codec: FrameCodec>: Sendable {
  /// The direction of the bytes.
  public let direction: ByteDirection
  /// The codec that finds frames.
  public var codec: Codec
  private var batch = FrameBatch<Codec.Header>()
  private var skipped: UInt64

  /// Describes a frame; nil leaves the frame out.
  public typealias Words = (_ header: Codec.Header, _ outcome: FrameOutcome, _ payload: [UInt8]) -> FrameWords?

  /// A side at the start of a stream.
  public init(_ direction: ByteDirection, _ codec: Codec) {
    (self.direction, self.codec) = (direction, codec)
    skipped = codec.counters.skippedBytes
  }

  /// Takes bytes. Returns the frames that they complete, and then how many bytes were skipped. Frames for which `words`
  /// returns nil are left out.
  public mutating func decode(_ bytes: RawSpan, _ words: Words) -> [FrameRead] {
    codec.decode(bytes, into: &batch)
    return collect(words)
  }

  /// Handles silence on the line, and returns the frames that it completes.
  public mutating func idle(_ words: Words) -> [FrameRead] {
    codec.idle(into: &batch)
    return collect(words)
  }

  /// Discards an unfinished frame, and returns what was found in its bytes.
  public mutating func expire(_ words: Words) -> [FrameRead] {
    codec.expire(into: &batch)
    return collect(words)
  }

  private func add(_ frame: DamagedFrame<Codec.Header>, to reads: inout [FrameRead], _ words: Words) {
    guard var words = words(frame.header, .payloadDamaged, []) else { return }
    (words.outcome, words.bytes, words.mismatch) = (.payloadDamaged, frame.bytes, frame.mismatch)
    words.summary = frame.mismatch.description
    reads.append(FrameRead(direction, .frame(words)))
  }

  private mutating func collect(_ words: Words) -> [FrameRead] {
    var reads: [FrameRead] = []
    var damaged = codec.damaged[...]
    for index in 0..<batch.count {
      while let first = damaged.first, first.position <= index {
        damaged.removeFirst()
        add(first, to: &reads, words)
      }
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
    for frame in damaged { add(frame, to: &reads, words) }
    batch.removeAll()
    let now = codec.counters.skippedBytes
    if now > skipped {
      reads.append(FrameRead(direction, .noise(byteCount: Int(clamping: now - skipped))))
      skipped = now
    }
    return reads
  }
}

/// A reader for protocols that have the same framing in both directions, and whose frames can be decoded one by one.
public struct CodecFrameReader<Codec: FrameCodec>: FrameReader {
  /// Describes a frame.
  public typealias Words =
    @Sendable (
      _ header: Codec.Header, _ outcome: FrameOutcome, _ payload: [UInt8], _ direction: ByteDirection
    ) -> FrameWords

  private var fromDevice, toDevice: FrameSide<Codec>
  private let words: Words

  /// A reader of frames that `codec` finds and `words` describes.
  public init(_ codec: Codec, words: @escaping Words) {
    (fromDevice, toDevice) = (FrameSide(.fromDevice, codec), FrameSide(.toDevice, codec))
    self.words = words
  }

  /// A reader of frames that `codec` finds and about which nothing else is known: it shows their payloads. `name` is
  /// the protocol's name.
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

  /// Discards the unfinished frame of this direction.
  public mutating func expire(_ direction: ByteDirection) -> [FrameRead] {
    change(direction) { side, words in side.expire(words) }
  }

  /// Whether there is an unfinished frame in this direction.
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
