// SPDX-License-Identifier: Apache-2.0

/// A framing as a value, which turns bytes into frames and frames into bytes.
///
/// A codec does no input or output and has no clock. Its owner calls it when the line has been silent, and when a
/// request has timed out. The frames and counters don't depend on how a stream is divided into spans.
public protocol FrameCodec: Sendable {
  /// What a frame says besides its payload.
  associatedtype Header: Sendable

  /// Takes the next bytes of the stream and appends to `batch` every frame that they complete.
  ///
  /// Nothing already in `batch` is changed. Bytes of an unfinished frame are kept until more arrive.
  mutating func decode(_ bytes: RawSpan, into batch: inout FrameBatch<Header>)

  /// Handles silence on the line: delivers frames that are finished but lie behind an unfinished one.
  ///
  /// The unfinished frame is kept, as a pause is not yet an error.
  mutating func idle(into batch: inout FrameBatch<Header>)

  /// Gives up the unfinished frame, as the request that it might answer has timed out.
  ///
  /// The bytes behind its start are searched again, so another frame may be unfinished afterwards.
  mutating func expire(into batch: inout FrameBatch<Header>)

  /// Forgets everything but the counters, as the line was opened anew.
  mutating func reset()

  /// What has been counted since the codec was made.
  var counters: FrameCounters { get }

  /// The frames with a wrong check that the last call of `decode`, `idle` or `expire` found, at most 64. Codecs that tell of damage in
  /// other ways have none.
  var damaged: [DamagedFrame<Header>] { get }

  /// Whether bytes are kept that may begin a frame, so that a timer for silence makes sense.
  var hasUnfinishedFrame: Bool { get }

  /// Appends one frame to `output`.
  ///
  /// - Throws: `FrameEncodingError` if the framing has no such frame; `output` is unchanged then.
  func encode(_ header: Header, payload: RawSpan, into output: inout [UInt8]) throws(FrameEncodingError)
}

extension FrameCodec {
  /// Silence ends no frame.
  public mutating func idle(into batch: inout FrameBatch<Header>) {}

  /// None.
  public var damaged: [DamagedFrame<Header>] { [] }

  /// Appends one frame to `output`, with its payload from an array.
  ///
  /// - Throws: `FrameEncodingError` if the framing has no such frame; `output` is unchanged then.
  public func encode(
    _ header: Header, payload: [UInt8], into output: inout [UInt8]
  ) throws(FrameEncodingError) {
    try encode(header, payload: payload.span.bytes, into: &output)
  }
}
