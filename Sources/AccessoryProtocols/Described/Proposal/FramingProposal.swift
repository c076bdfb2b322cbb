// SPDX-License-Identifier: Apache-2.0

/// How the frames in recorded bytes seem to look: what a person begins with who has no data sheet.
///
/// It is found by trying: starts, lengths and sizes that the bytes can be cut by, then the checksums that descriptions can
/// name. It is a guess, from what was recorded; who reads it is told on what it rests.
public struct FramingProposal: Sendable, Hashable {
  /// What tells how long a frame is.
  public enum Extent: Sendable, Hashable {
    /// All frames have so many bytes.
    case fixed(Int)
    /// The number at this place plus `added` is the count of the frame's bytes.
    case length(place: Int, NumberFormat, added: Int)
    /// Lines of text, up to these bytes.
    case line
  }

  /// A checksum in front of `end`, over all from the byte at `from` to itself.
  public struct FoundCheck: Sendable, Hashable {
    /// How it is worked out.
    public var algorithm: ProtocolDescription.Check.Algorithm
    /// The order of its bytes.
    public var order: ByteOrder
    /// The first byte that it covers.
    public var from: Int
    /// A check of these parts.
    public init(algorithm: ProtocolDescription.Check.Algorithm, order: ByteOrder, from: Int) {
      (self.algorithm, self.order, self.from) = (algorithm, order, from)
    }
  }

  /// How numbers stand in bytes.
  public typealias NumberFormat = ProtocolDescription.NumberFormat

  /// With what each frame begins; nothing for lines.
  public var start: [UInt8]
  /// What tells how long a frame is.
  public var extent: Extent
  /// What protects it; nil when nothing of the catalogue fits.
  public var check: FoundCheck?
  /// With what each frame ends; may be nothing.
  public var end: [UInt8]
  /// Frames that differ, as they came; at most 32.
  public var samples: [[UInt8]]
  /// How many frames there are in the bytes that were looked at.
  public var frameCount: Int
  /// How many of these bytes are in frames.
  public var framedByteCount: Int
  /// How many bytes were looked at.
  public var byteCount: Int

  /// Bytes of a recording that are looked at; those behind it are not.
  public static let byteLimit = 4_096

  /// What fits these bytes best; nil when nothing fits most of them.
  ///
  /// - Parameter pieces: What came together, in its order: bytes of one direction. Where a piece begins a frame may begin.
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

  /// What somebody says of frames, of which none were recorded.
  public init(start: [UInt8] = [], extent: Extent, check: FoundCheck? = nil, end: [UInt8]) {
    self.init(
      start: start, extent: extent, check: check, end: end, samples: [], frameCount: 0, framedByteCount: 0, byteCount: 0
    )
  }

  /// A proposal of these parts.
  init(
    start: [UInt8], extent: Extent, check: FoundCheck?, end: [UInt8], samples: [[UInt8]], frameCount: Int,
    framedByteCount: Int, byteCount: Int
  ) {
    (self.start, self.extent, self.check, self.end) = (start, extent, check, end)
    (self.samples, self.frameCount) = (samples, frameCount)
    (self.framedByteCount, self.byteCount) = (framedByteCount, byteCount)
  }
}
