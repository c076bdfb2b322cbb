// SPDX-License-Identifier: Apache-2.0

/// A framing as a value: bytes go in and frames come out, and the other way round.
///
/// A codec does no input or output and has no clock. Its owner tells it when the line has been silent, and when a
/// request has timed out. However a stream is cut into spans, the same frames and counters come of it.
public protocol FrameCodec: Sendable {
  /// What a frame says besides its payload.
  associatedtype Header: Sendable

  /// Takes the next bytes of the stream and appends to `batch` every frame that they complete.
  ///
  /// Nothing already in `batch` is changed. Bytes of an unfinished frame are kept until more arrive.
  mutating func decode(_ bytes: RawSpan, into batch: inout FrameBatch<Header>)

  /// Tells that the line has been silent: frames that are finished but lie behind an unfinished one are delivered.
  ///
  /// The unfinished frame is kept, as a pause is not yet an error.
  mutating func idle(into batch: inout FrameBatch<Header>)

  /// Tells that the request which an unfinished frame might answer has timed out: that frame is given up.
  ///
  /// Bytes behind its start are looked at again, so another frame can be unfinished afterwards.
  mutating func expire(into batch: inout FrameBatch<Header>)

  /// Tells that the line was opened anew: everything but the counters is forgotten.
  mutating func reset()

  /// What has been seen since the codec was made.
  var counters: FrameCounters { get }

  /// Whether bytes are kept that may begin a frame, so that a timer for silence makes sense.
  var hasUnfinishedFrame: Bool { get }

  /// Appends one frame to `output`.
  ///
  /// - Throws: `FrameEncodingError` if the framing has no such frame, and leaves `output` as it was.
  func encode(_ header: Header, payload: RawSpan, into output: inout [UInt8]) throws(FrameEncodingError)
}

extension FrameCodec {
  /// Appends one frame to `output`, with its payload from an array.
  ///
  /// - Throws: `FrameEncodingError` if the framing has no such frame, and leaves `output` as it was.
  public func encode(
    _ header: Header, payload: [UInt8], into output: inout [UInt8]
  ) throws(FrameEncodingError) {
    try encode(header, payload: payload.span.bytes, into: &output)
  }
}
