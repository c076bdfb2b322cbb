// SPDX-License-Identifier: Apache-2.0

/// What a codec has counted since it was made. The counters only grow.
public struct FrameCounters: Sendable, Hashable {
  /// Whole frames delivered.
  public var frames: UInt64 = 0
  /// Starts of a frame with a wrong header checksum, among bytes that belong to no frame.
  ///
  /// Sync bytes in noise count, too, as they look like a damaged header.
  public var headerErrors: UInt64 = 0
  /// Frames whose payload has a wrong checksum.
  public var payloadErrors: UInt64 = 0
  /// Frames longer than the limit.
  public var tooLong: UInt64 = 0
  /// Frames of another version.
  public var otherVersions: UInt64 = 0
  /// Frames that break the rules of their framing.
  public var malformed: UInt64 = 0
  /// Bytes that were skipped because they are in no delivered frame: noise, and the bytes of damaged frames.
  public var skippedBytes: UInt64 = 0

  /// Counters at zero.
  public init() {}
}

extension FrameCounters {
  package mutating func count(_ outcome: FrameOutcome) {
    switch outcome {
    case .whole: frames += 1
    case .payloadDamaged: payloadErrors += 1
    case .tooLong: tooLong += 1
    case .otherVersion: otherVersions += 1
    case .malformed: malformed += 1
    }
  }
}
