// SPDX-License-Identifier: Apache-2.0

/// What became of a frame of which at least the beginning could be trusted.
public enum FrameOutcome: UInt8, Sendable, Hashable {
  /// All of it arrived intact. Only then is there a payload.
  case whole
  /// The payload's checksum failed.
  case payloadDamaged
  /// The header announces a payload longer than the receiver's limit.
  case tooLong
  /// The header is of a version that the receiver does not speak.
  case otherVersion
  /// It breaks the rules of its framing: an unknown escape, a length that cannot be.
  case malformed
}
