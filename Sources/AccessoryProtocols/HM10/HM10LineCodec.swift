// SPDX-License-Identifier: Apache-2.0

/// What part of an HM-10's line something is.
public enum HM10Part: Sendable, Hashable {
  /// What the module says, to be read by `HM10Reply`.
  case reply
  /// Bytes from the other side of a connection.
  case data
  /// The connection is no more; the payload is what the module said.
  case lost
}

/// An HM-10's whole line: replies while it takes commands, and the other side's bytes while it is connected.
///
/// `OK+CONN` is where the one becomes the other. From there on all is data, in pieces as it comes, but for `OK+LOST` with
/// silence behind it: that ends the connection. So a text that the other side sends and that ends in just this, with
/// nothing behind it, is taken for the end. Data that could be its beginning is held back until the next byte or
/// silence, at most 20 bytes.
///
/// While a scan is under way, strangers have their names on the line, with anything in them. So nothing is a connection
/// then, noise ends where `OK+` begins, and the scan's end has silence behind it: a name has a line end.
///
/// However a stream is cut, the same replies and the same bytes of data come of it; how data is cut differs.
public struct HM10LineCodec: FrameCodec {
  /// How the module wants its commands ended; to be set before the first reply, or between two.
  public var dialect = HM10Dialect.genuine {
    didSet { if dialect != oldValue { changeReplies() } }
  }
  /// Whether a scan is under way.
  public var isScanning = false {
    didSet { if !isScanning { (endsScan, tail) = (false, 0) } }
  }
  /// Whether all that comes is data.
  public private(set) var isConnected = false

  private var replies = HM10Dialect.genuine.codec
  /// The replies of one step.
  private var found = FrameBatch<ReplyEnd>()
  /// Data that may be the beginning of the connection's end.
  private var held: [UInt8] = []
  /// A scan's end has come, unless something follows.
  private var endsScan = false
  /// How many bytes of `OK+` were the last in noise.
  private var tail = 0
  /// What earlier codecs of replies have counted, and data.
  private var counted = FrameCounters()

  /// A codec of a genuine module that takes commands.
  public init() {}

  /// What has been seen since the codec was made. A piece of data counts as a frame.
  public var counters: FrameCounters {
    var sum = counted
    sum.frames += replies.counters.frames
    sum.tooLong += replies.counters.tooLong
    sum.skippedBytes += replies.counters.skippedBytes
    return sum
  }

  /// Whether something waits for its end, be it silence.
  public var hasUnfinishedFrame: Bool { isConnected ? !held.isEmpty : replies.hasUnfinishedFrame || endsScan }

  /// How many bytes are kept.
  public var unfinishedByteCount: Int { held.count + replies.unfinishedByteCount }

  /// The host has ended the connection: what comes from now on are replies. What was held back is forgotten.
  public mutating func disconnect() {
    isConnected = false
    held = []
  }

  /// Takes the next bytes of the stream and appends to `batch` every reply of which they show the end, and all data.
  public mutating func decode(_ bytes: RawSpan, into batch: inout FrameBatch<HM10Part>) {
    var offset = 0
    while offset < bytes.byteCount {
      if isConnected { return pass(bytes.extracting(offset..<bytes.byteCount), into: &batch) }
      // One at a time: behind a connection's beginning all is data.
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

  /// Silence ends a reply, and decides whether what was held back is the connection's end.
  public mutating func idle(into batch: inout FrameBatch<HM10Part>) {
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

  /// Gives an unfinished reply up. Data is never given up.
  public mutating func expire(into batch: inout FrameBatch<HM10Part>) {
    guard !isConnected else { return }
    replies.expire(into: &found)
    take(into: &batch)
  }

  /// Forgets everything but the counters and the dialect; the module takes commands.
  public mutating func reset() {
    replies.reset()
    disconnect()
    isScanning = false
  }

  /// Appends a command or data to `output`, just as it is.
  ///
  /// - Throws: `FrameEncodingError` if it is empty, or a command that is too long.
  public func encode(_ header: HM10Part, payload: RawSpan, into output: inout [UInt8]) throws(FrameEncodingError) {
    if header == .reply { return try replies.encode(ReplyEnd(), payload: payload, into: &output) }
    if payload.isEmpty { throw .payloadTooShort(byteCount: 0, minimum: 1) }
    output.append(contentsOf: payload)
  }

  private mutating func changeReplies() {
    counted = counters
    replies = dialect.codec
  }

  private mutating func take(isSilent: Bool = false, into batch: inout FrameBatch<HM10Part>) {
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

  /// Passes data on, but for an end of it that can be the beginning of the connection's end.
  private mutating func pass(_ bytes: RawSpan, into batch: inout FrameBatch<HM10Part>) {
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

  /// Whether `byte` is the last of `OK+` in noise.
  private mutating func isEndOfNoise(_ byte: UInt8) -> Bool {
    tail = byte == Self.beginning[tail] ? tail + 1 : byte == Self.beginning[0] ? 1 : 0
    guard tail == Self.beginning.count else { return false }
    tail = 0
    return replies.isCollecting
  }

  /// Whether these bytes are a beginning of `OK+LOST`, or of that with an address behind it.
  private static func canBeEnd(_ bytes: ArraySlice<UInt8>) -> Bool {
    guard zip(bytes, lost).allSatisfy({ $0 == $1 }) else { return false }
    let address = bytes.dropFirst(lost.count)
    return address.isEmpty
      || address.first == UInt8(ascii: ":") && address.dropFirst().allSatisfy(ReplyPattern.Element.hexDigit.matches)
  }
}
