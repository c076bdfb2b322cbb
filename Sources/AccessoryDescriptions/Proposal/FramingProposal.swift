// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

/// A proposal for the layout of the frames in recorded bytes: a beginning for a person without a data sheet.
///
/// It is found by trying starts, lengths and sizes that divide the bytes into frames, and then the checksums that
/// descriptions can name. It is a guess from the recording; the counts below say how much of the recording supports it.
public struct FramingProposal: Sendable, Hashable {
  /// How the length of a frame is determined.
  public enum Extent: Sendable, Hashable {
    /// All frames have this many bytes.
    case fixed(Int)
    /// The number at the offset `place` plus `added` is the length of the frame in bytes.
    case length(place: Int, NumberFormat, added: Int)
    /// Lines of text, which end with the bytes in `end`.
    case line
  }

  /// A checksum in front of `end`. It covers all bytes from offset `from` up to itself.
  public struct FoundCheck: Sendable, Hashable {
    /// How the checksum is calculated.
    public var algorithm: ProtocolDescription.Check.Algorithm
    /// The order of its bytes.
    public var order: ByteOrder
    /// The offset of the first byte that it covers.
    public var from: Int
    /// A check of these parts.
    public init(algorithm: ProtocolDescription.Check.Algorithm, order: ByteOrder, from: Int) {
      (self.algorithm, self.order, self.from) = (algorithm, order, from)
    }
  }

  /// How a number is encoded in bytes.
  public typealias NumberFormat = ProtocolDescription.NumberFormat

  /// The bytes that every frame begins with; empty for lines.
  public var start: [UInt8]
  /// How the length of a frame is determined.
  public var extent: Extent
  /// The checksum; nil if none of the known ones fits.
  public var check: FoundCheck?
  /// The bytes that every frame ends with; may be empty.
  public var end: [UInt8]
  /// Different frames, as they were received; at most 32.
  public var samples: [[UInt8]]
  /// How many frames there are in the examined bytes.
  public var frameCount: Int
  /// How many of the examined bytes are in frames.
  public var framedByteCount: Int
  /// How many bytes were examined.
  public var byteCount: Int

  /// How many bytes of a recording are examined; the rest is ignored.
  public static let byteLimit = 4_096

  /// The proposal that fits these bytes best; nil if none fits most of them.
  ///
  /// - Parameter pieces: The bytes of one direction, in the pieces in which they arrived. A frame may begin where a
  ///   piece begins.
  public init?(pieces: [[UInt8]]) {
    var bytes: [UInt8] = []
    var begins: [UInt8] = []
    for piece in pieces {
      guard bytes.count < Self.byteLimit else { break }
      if let first = piece.first { begins.append(first) }
      bytes += piece.prefix(Self.byteLimit - bytes.count)
    }
    guard let found = LineSearch.proposal(of: bytes) ?? FrameSearch(bytes, begins).best else { return nil }
    self = found
  }

  /// A proposal that a person makes, without recorded frames.
  public init(start: [UInt8] = [], extent: Extent, check: FoundCheck? = nil, end: [UInt8]) {
    self.init(
      start: start, extent: extent, check: check, end: end, samples: [], frameCount: 0, framedByteCount: 0, byteCount: 0
    )
  }

  init(
    start: [UInt8], extent: Extent, check: FoundCheck?, end: [UInt8], samples: [[UInt8]], frameCount: Int,
    framedByteCount: Int, byteCount: Int
  ) {
    (self.start, self.extent, self.check, self.end) = (start, extent, check, end)
    (self.samples, self.frameCount) = (samples, frameCount)
    (self.framedByteCount, self.byteCount) = (framedByteCount, byteCount)
  }
}
