// SPDX-License-Identifier: Apache-2.0

/// What a codec has seen since it was made. They only grow.
public struct FrameCounters: Sendable, Hashable {
  /// Whole frames delivered.
  public var frames: UInt64 = 0
  /// Starts of a frame whose header failed its checksum, among bytes that belonged to no frame.
  ///
  /// Sync bytes in noise count too, as nothing tells them from a damaged header.
  public var headerErrors: UInt64 = 0
  /// Frames whose payload failed its checksum.
  public var payloadErrors: UInt64 = 0
  /// Frames longer than the limit.
  public var tooLong: UInt64 = 0
  /// Frames of another version.
  public var otherVersions: UInt64 = 0
  /// Frames that break the rules of their framing.
  public var malformed: UInt64 = 0
  /// Bytes given up that were in no delivered frame: noise, and what was left of damaged frames.
  public var skippedBytes: UInt64 = 0

  /// Counters at zero.
  public init() {}
}

extension FrameCounters {
  /// Counts one frame of this outcome.
  mutating func count(_ outcome: FrameOutcome) {
    switch outcome {
    case .whole: frames += 1
    case .payloadDamaged: payloadErrors += 1
    case .tooLong: tooLong += 1
    case .otherVersion: otherVersions += 1
    case .malformed: malformed += 1
    }
  }
}
