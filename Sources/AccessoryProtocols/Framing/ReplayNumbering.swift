// SPDX-License-Identifier: Apache-2.0

/// The message numbers of a protocol, which match replies with requests. A host chooses them anew in each conversation,
/// so they may differ from the recorded ones when a recording is replayed.
public struct ReplayNumbering: Sendable {
  /// Finds the frames in a recorded stream. Bytes that belong to no frame are skipped.
  public let frames: @Sendable (_ stream: [UInt8]) -> [NumberedFrame]
  /// Corrects the checksum of a frame whose number was replaced.
  private let correct: @Sendable (_ frame: inout [UInt8]) -> Void
  /// Whether the checksums of a frame that a host sent are correct.
  public let isSound: @Sendable (_ frame: [UInt8]) -> Bool

  /// The numbering of a protocol; the defaults are those of one without checksums. `correct` corrects the checksum of a frame
  /// whose number was replaced.
  public init(
    frames: @escaping @Sendable (_ stream: [UInt8]) -> [NumberedFrame],
    correct: @escaping @Sendable (_ frame: inout [UInt8]) -> Void = { _ in },
    isSound: @escaping @Sendable (_ frame: [UInt8]) -> Bool = { _ in true }
  ) {
    self.frames = frames
    self.correct = correct
    self.isSound = isSound
  }

  /// No numbers: the host must send exactly the recorded bytes.
  public static let none = ReplayNumbering { _ in [] }

  /// Returns the frame with another message number and a checksum to match.
  package func renumbered(_ frame: ArraySlice<UInt8>, _ found: NumberedFrame, to number: UInt16) -> [UInt8] {
    var bytes = Array(frame)
    let place = found.numberStart - found.range.lowerBound
    (bytes[place], bytes[place + 1]) = (UInt8(truncatingIfNeeded: number), UInt8(number >> 8))
    correct(&bytes)
    return bytes
  }
}

/// A frame in a recorded stream of bytes.
public struct NumberedFrame: Sendable, Hashable {
  /// The frame's offsets in the stream.
  public var range: Range<Int>
  /// The offset of its message number: two bytes in the frame, little-endian.
  public var numberStart: Int
  /// Its message number.
  public var number: UInt16
  /// The offsets of bytes that may differ: the number, checksums, and values that the sender chooses.
  public var free: [Range<Int>]
  /// Whether the frame is the reply to the request with the same number.
  public var isReply: Bool

  /// A frame of these parts.
  public init(range: Range<Int>, numberStart: Int, number: UInt16, free: [Range<Int>], isReply: Bool) {
    (self.range, self.numberStart, self.number) = (range, numberStart, number)
    (self.free, self.isReply) = (free, isReply)
  }

  package func isFree(_ place: Int) -> Bool { free.contains { $0.contains(place) } }
}
