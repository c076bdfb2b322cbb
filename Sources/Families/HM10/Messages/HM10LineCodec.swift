// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

/// The kind of a piece of an HM-10's line.
public enum HM10PieceKind: Sendable, Hashable {
  /// A reply of the module, for `HM10Reply` to read.
  case reply
  /// Bytes from the other side of a connection.
  case data
  /// The connection was lost; the payload is the module's message.
  case lost
}

/// The framing of an HM-10's line: replies while the module takes commands, and the other side's bytes while it is
/// connected.
///
/// `OK+CONN` begins a connection. From there on everything is data, delivered as it arrives, except `OK+LOST` followed
/// by silence, which ends the connection. So if the other side sends a text that ends with `OK+LOST` and then nothing,
/// the codec takes it for the end of the connection. Data that may be the beginning of `OK+LOST` is kept until the next
/// byte or silence, at most 20 bytes.
///
/// During a scan the line carries the names of other devices, which may contain anything. So during a scan no reply
/// begins a connection, noise ends where `OK+` begins, and the scan's end must be followed by silence, while a name is
/// followed by a line end.
///
/// However a stream is divided, the replies and the bytes of data are the same; only the division of data into pieces
/// differs.
public struct HM10LineCodec: FrameCodec {
  /// Which line ends the module uses. Set it before the first reply, or between two.
  public var dialect = HM10Dialect.genuine {
    didSet { if dialect != oldValue { changeReplies() } }
  }
  /// Whether the module is scanning. The owner sets it.
  public var isScanning = false {
    didSet { if !isScanning { (endsScan, matchedPrefixCount) = (false, 0) } }
  }
  /// Whether the module is connected, so that everything that arrives is data.
  public private(set) var isConnected = false

  private var replies = HM10Dialect.genuine.codec
  /// The replies that one step has found.
  private var found = FrameBatch<ReplyEnd>()
  /// Data that may be the beginning of the message that ends the connection.
  private var held: [UInt8] = []
  /// Whether the end of a scan has come, which counts only if nothing follows.
  private var endsScan = false
  /// How many bytes of `OK+` were the last bytes of noise.
  private var matchedPrefixCount = 0
  /// The counts of earlier codecs of replies, and of data.
  private var counted = FrameCounters()

  /// A codec for a genuine module that takes commands.
  public init() {}

  /// What has been counted since the codec was made. A piece of data counts as a frame.
  public var counters: FrameCounters {
    var sum = counted
    sum.frames += replies.counters.frames
    sum.tooLong += replies.counters.tooLong
    sum.skippedBytes += replies.counters.skippedBytes
    return sum
  }

  /// Whether bytes are kept until more bytes or silence come.
  public var hasUnfinishedFrame: Bool { isConnected ? !held.isEmpty : replies.hasUnfinishedFrame || endsScan }

  /// How many bytes are kept.
  public var unfinishedByteCount: Int { held.count + replies.unfinishedByteCount }

  /// Notes that the host has ended the connection: from now on replies come. Kept data is dropped.
  public mutating func disconnect() {
    isConnected = false
    held = []
  }

  /// Takes the next bytes of the stream and appends to `batch` every reply that is known to have ended, and all data.
  public mutating func decode(_ bytes: RawSpan, into batch: inout FrameBatch<HM10PieceKind>) {
    var offset = 0
    while offset < bytes.byteCount {
      if isConnected { return pass(bytes.extracting(offset..<bytes.byteCount), into: &batch) }
      // Bytes are passed one at a time, since everything behind the beginning of a connection is data.
      let byte = bytes.extracting(offset..<(offset + 1))
      endsScan = false
      if isScanning, isEndOfNoise(byte.byte(at: 0)) {
        replies.expire(into: &found)
        replies.reset()
        replies.decode(Self.beginning.span.bytes, into: &found)
      } else {
        replies.decode(byte, into: &found)
      }
      offset += 1
      take(into: &batch)
      if isConnected, replies.unfinishedByteCount > 0 {
        replies.reset()
        offset -= 1
      }
    }
  }

  /// Handles silence on the line: it ends a reply, and decides whether kept data is the end of the connection.
  public mutating func idle(into batch: inout FrameBatch<HM10PieceKind>) {
    guard isConnected else {
      if endsScan {
        batch.append(.whole, .reply, payload: Self.scanEnd.span.bytes)
        endsScan = false
      }
      replies.idle(into: &found)
      return take(isSilent: true, into: &batch)
    }
    if held.isEmpty { return }
    let isEnd = held.count == Self.lost.count || held.count == Self.lost.count + 13
    counted.frames += 1
    batch.append(.whole, isEnd ? .lost : .data, payload: held.span.bytes)
    held = []
    if isEnd { isConnected = false }
  }

  /// Gives up an unfinished reply. Data is never given up.
  public mutating func expire(into batch: inout FrameBatch<HM10PieceKind>) {
    guard !isConnected else { return }
    replies.expire(into: &found)
    take(into: &batch)
  }

  /// Forgets everything but the counters and the dialect. The module is expected to take commands.
  public mutating func reset() {
    replies.reset()
    disconnect()
    isScanning = false
  }

  /// Appends a command or data to `output`, unchanged.
  ///
  /// - Throws: `FrameEncodingError` if it is empty, or if it is a command that is too long.
  public func encode(_ header: HM10PieceKind, payload: RawSpan, into output: inout [UInt8]) throws(FrameEncodingError) {
    if header == .reply { return try replies.encode(ReplyEnd(), payload: payload, into: &output) }
    if payload.isEmpty { throw .payloadTooShort(byteCount: 0, minimum: 1) }
    output.append(contentsOf: payload)
  }

  private mutating func changeReplies() {
    counted = counters
    replies = dialect.codec
  }

  private mutating func take(isSilent: Bool = false, into batch: inout FrameBatch<HM10PieceKind>) {
    for index in 0..<found.count {
      if isScanning, !isSilent, HM10Reply(decoding: found.payloadBytes(at: index)) == .discovery(.ended) {
        endsScan = true
        continue
      }
      batch.append(
        found.outcome(at: index), .reply,
        payload: found.payloadStore.span.bytes.extracting(found.payloadRange(at: index)))
      guard !isScanning, found.outcome(at: index) == .whole,
        case .connection(.made) = HM10Reply(decoding: found.payloadBytes(at: index))
      else { continue }
      isConnected = true
    }
    found.removeAll()
  }

  /// Passes data on, except bytes at its end that may be the beginning of the message that ends the connection.
  private mutating func pass(_ bytes: RawSpan, into batch: inout FrameBatch<HM10PieceKind>) {
    held.append(contentsOf: bytes)
    let most = min(held.count, Self.lost.count + 13)
    let kept = (1...max(1, most)).reversed().first { $0 <= most && Self.canBeEnd(held.suffix($0)) } ?? 0
    let passed = held.count - kept
    guard passed > 0 else { return }
    counted.frames += 1
    batch.append(.whole, .data, payload: held.span.bytes.extracting(0..<passed))
    held.removeFirst(passed)
  }

  private static let lost = Array("OK+LOST".utf8)
  private static let scanEnd = Array("OK+DISCE".utf8)
  private static let beginning = Array("OK+".utf8)

  /// Whether `byte` completes an `OK+` in noise.
  private mutating func isEndOfNoise(_ byte: UInt8) -> Bool {
    matchedPrefixCount =
      byte == Self.beginning[matchedPrefixCount] ? matchedPrefixCount + 1 : byte == Self.beginning[0] ? 1 : 0
    guard matchedPrefixCount == Self.beginning.count else { return false }
    matchedPrefixCount = 0
    return replies.isCollecting
  }

  /// Whether these bytes are a beginning of `OK+LOST`, or `OK+LOST` with a beginning of an address behind it.
  private static func canBeEnd(_ bytes: ArraySlice<UInt8>) -> Bool {
    guard zip(bytes, lost).allSatisfy({ $0 == $1 }) else { return false }
    let address = bytes.dropFirst(lost.count)
    return address.isEmpty
      || address.first == UInt8(ascii: ":") && address.dropFirst().allSatisfy(ReplyPattern.Element.hexDigit.matches)
  }
}
