// SPDX-License-Identifier: Apache-2.0

/// The outcome of a frame whose beginning, at least, could be trusted.
public enum FrameOutcome: UInt8, Sendable, Hashable {
  /// The whole frame arrived intact. Only then is there a payload.
  case whole
  /// The payload's checksum is wrong.
  case payloadDamaged
  /// The header announces a payload longer than the receiver's limit.
  case tooLong
  /// The header has a version that the receiver does not speak.
  case otherVersion
  /// The frame breaks the rules of its framing: an unknown escape, an impossible length.
  case malformed
}
